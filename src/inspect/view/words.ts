/** A step in words: who speaks with whom, and why. */
import { arrowsOfCall, whyOfCall } from './call-words.js';
import {
  arrowsOfConversation,
  arrowsOfTransaction,
  whyOfConversation,
  whyOfTransaction,
} from './conversation-words.js';
import type { Arrow } from './frames.js';
import type { CallFacts, Move } from './move.js';
import { arrowsOfSession, whyOfSession } from './session-words.js';
import { whyOfSupervisor } from './supervisor-words.js';

export interface Words {
  readonly arrows: readonly Arrow[];
  readonly why: string | undefined;
}

/** `facts`: of a call; `end`: why its session has ended, where it has. `max`: how many characters a text has at most. */
export function wordsOf(move: Move, facts: CallFacts | undefined, end: string | undefined, max: number): Words {
  switch (move.kind) {
    case 'session':
      return { arrows: arrowsOfSession(move, max), why: whyOfSession(move, max) };
    case 'call':
      return { arrows: arrowsOfCall(move, facts), why: whyOfCall(move, facts, end) };
    case 'conversation':
      return { arrows: arrowsOfConversation(move), why: whyOfConversation(move) };
    case 'transaction':
      return { arrows: arrowsOfTransaction(move), why: whyOfTransaction(move) };
    case 'supervisor':
      return { arrows: [], why: whyOfSupervisor(move) };
  }
}
