/** What is kept of a conversation: versions, open transactions, phases, and effects that wait. */
import type { ConversationStart } from './conversation-steps.js';

/** A transaction that is open. */
export interface OpenLevel {
  readonly number: number;
  /** The version that its rollback brings back. */
  readonly base: number;
  readonly stream: number;
}

/** A stream of the conversation. */
export interface StreamFacts {
  phase: string;
  /** A finish of the request at hand was recorded. */
  hasFinish: boolean;
}

/** An effect of the host that waits for a commit. */
export interface HeldEffect {
  readonly place: string;
  /** How many transactions were open around it. */
  readonly level: number;
}

/** So many are kept before those that have ended go. */
const mostStreams = 256;
const finals: ReadonlySet<string> = new Set(['finished', 'failed', 'truncated', 'cancelled']);

/** Whether a phase ends a request. */
export function isFinalPhase(phase: string): boolean {
  return finals.has(phase);
}

export class ConversationFacts {
  version: number;
  lastVersion: number;
  lastTransaction: number;
  /** The outermost first. */
  levels: readonly OpenLevel[] = [];
  /** By their numbers. */
  readonly streams = new Map<number, StreamFacts>();
  held: readonly HeldEffect[] = [];
  /** Those that may run, in order. */
  released: readonly string[] = [];

  /** Whether a new version is the one after the last that was given, as in a journal: one that is missing shows. */
  readonly versionsFollow: boolean;

  constructor({ phase, version, lastVersion, lastTransaction, versionsFollow = false }: ConversationStart) {
    this.versionsFollow = versionsFollow;
    this.version = version;
    this.lastVersion = Math.max(version, lastVersion);
    this.lastTransaction = lastTransaction;
    this.streams.set(0, { phase, hasFinish: false });
  }

  /** A stream; one that was not read from before awaits its init, one that was forgotten stands where it says. */
  stream(number: number, from = 'awaiting_init'): StreamFacts {
    let stream = this.streams.get(number);
    if (stream === undefined) {
      stream = { phase: isFinalPhase(from) ? from : 'awaiting_init', hasFinish: false };
      if (this.streams.size >= mostStreams) this.#forgetEnded();
      this.streams.set(number, stream);
    }
    return stream;
  }

  /** Nobody records that a further stream was closed: of many, those that have ended are let go. */
  #forgetEnded(): void {
    for (const [number, { phase }] of this.streams) {
      if (number !== 0 && isFinalPhase(phase)) this.streams.delete(number);
    }
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    if (this.levels.length + this.held.length + this.released.length > 0) return false;
    for (const { phase } of this.streams.values()) if (!isFinalPhase(phase)) return false;
    return true;
  }

  clone(): ConversationFacts {
    const { version, lastVersion, lastTransaction, versionsFollow } = this;
    const copy = new ConversationFacts({ phase: '', version, lastVersion, lastTransaction, versionsFollow });
    copy.levels = this.levels;
    copy.held = this.held;
    copy.released = this.released;
    for (const [number, { phase, hasFinish }] of this.streams) copy.streams.set(number, { phase, hasFinish });
    return copy;
  }

  /** What is known, in a word. Versions and places count by which of them are the same, numbers of transactions not at all. */
  key(): string {
    const versions = new Map<number, number>();
    const places = new Map<string, number>();
    let key = '';
    for (const [number, { phase, hasFinish }] of this.streams) key += `${number}${phase}${hasFinish ? 'f' : ''} `;
    for (const { base, stream } of this.levels) key += `(${rank(versions, base)}.${stream}`;
    key += `=${rank(versions, this.version)}`;
    for (const { place, level } of this.held) key += ` h${rank(places, place)}.${level}`;
    for (const place of this.released) key += ` r${rank(places, place)}`;
    return key;
  }
}

function rank<Value>(ranks: Map<Value, number>, value: Value): number {
  let known = ranks.get(value);
  if (known === undefined) {
    known = ranks.size;
    ranks.set(value, known);
  }
  return known;
}
