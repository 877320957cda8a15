/**
 * Writes what a supervisor does into a journal: one record of the kind
 * `supervisor` for each step, under the supervisor's id. There is no `data`;
 * what tells one effect from another of its name is its `detail`: words with
 * single spaces between them, of which ids have none.
 *
 * - The life begins: `event` and `from` are empty, `to` is `running`, and `did`
 *   holds the limits, each with its number: `maxSessions`, `maxConversations`,
 *   `maxConcurrentTools`.
 * - Each step after it: `event`, `from` and `to` as the machine has them, `did`
 *   what the machine asked for, in order. `cause` is 0.
 *
 * | effect | detail |
 * |---|---|
 * | `openIncarnation` | CHILD SESSION |
 * | `announceIncarnation` | CHILD SESSION, then `resumed` or `fresh` |
 * | `armRestart` | CHILD SESSION REASON: the incarnation that ended, and why |
 * | `reportFailure` | CHILD SESSION REASON |
 * | `releaseChild`, of a session | CHILD SESSION REASON: the last incarnation, and why the whole ended |
 * | `openConversation`, `releaseChild` of a conversation | CHILD |
 * | `refuseStart` | `session` or `conversation` |
 * | `armDeadline` | milliseconds from the record's `at` |
 * | others | absent |
 *
 * CHILD is the child's id, SESSION the `sessionId` of an incarnation, which is
 * the `actor` of that session's own records. A conversation's CHILD is the
 * `actor` of its records. Where an incarnation could not be begun at all (the
 * host's `provider` or `connect` threw, or the buffer is full) SESSION has no
 * records of its own.
 *
 * Invariants kept here:
 *
 * J1. A step's record is appended before anybody sees its state, and before any
 *     of its effects is performed: an observer may make a conversation, which
 *     is a step of its own, and behind this one.
 * J2. A journal that takes no more is reported once, and asked for nothing more.
 */
import type { Effect, SupervisorEventType } from '../../../machines/index.js';
import type { Journal, RecordedEffect } from '../../contract/journal.js';
import type { CloseReason } from '../../contract/lifecycle.js';
import { placeBehind } from '../../journal/place.js';
import type { Child } from './child.js';
import type { SupervisorSettings } from './options.js';

/** What a step is about. */
export interface Subject {
  readonly child?: Child;
  readonly reason?: CloseReason;
  readonly deadlineMs?: number;
}

export class SupervisorRecorder {
  readonly #journal: Journal;
  readonly #settings: SupervisorSettings;
  readonly #failed: () => void;
  #isFailed = false;
  #lastSeq = 0;

  constructor(journal: Journal, settings: SupervisorSettings, failed: () => void) {
    this.#journal = journal;
    this.#settings = settings;
    this.#failed = failed;
  }

  begin(to: string): void {
    const { maxSessions, maxConversations, maxConcurrentTools } = this.#settings;
    this.#append('', '', to, [
      { effect: 'maxSessions', detail: String(maxSessions) },
      { effect: 'maxConversations', detail: String(maxConversations) },
      { effect: 'maxConcurrentTools', detail: String(maxConcurrentTools) },
    ]);
  }

  step(event: SupervisorEventType, from: string, to: string, effects: readonly Effect[], subject: Subject): void {
    this.#append(
      event,
      from,
      to,
      effects.map(({ type }) => recorded(type, detailOf(type, subject))),
    );
  }

  #append(event: string, from: string, to: string, did: readonly RecordedEffect[]): void {
    if (this.#isFailed) return;
    const { id, clock } = this.#settings;
    try {
      const at = clock.now();
      const given = this.#journal.append({ at, actor: id, kind: 'supervisor', event, from, to, cause: 0, did });
      this.#lastSeq = placeBehind(this.#lastSeq, given, `supervisor ${id}`);
    } catch {
      this.#isFailed = true;
      this.#failed();
    }
  }
}

function recorded(effect: string, detail: string | undefined): RecordedEffect {
  return detail === undefined ? { effect } : { effect, detail };
}

function detailOf(effect: string, { child, reason, deadlineMs }: Subject): string | undefined {
  if (effect === 'armDeadline') return String(deadlineMs);
  if (child === undefined) return undefined;
  if (effect === 'refuseStart') return child.kind;
  if (child.kind === 'conversation') return child.id;
  const incarnation = `${child.id} ${child.sessionId}`;
  switch (effect) {
    case 'openIncarnation':
      return incarnation;
    case 'announceIncarnation':
      return `${incarnation} ${child.isResumed ? 'resumed' : 'fresh'}`;
    default:
      return `${incarnation} ${reason ?? 'none'}`;
  }
}
