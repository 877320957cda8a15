/**
 * Which records of a journal may go: those of sessions that have ended, with
 * their calls. Pure; the stores bring the records, in two passes, and do the
 * rest.
 *
 * Invariants kept here:
 *
 * O1. A session goes as a whole, or stays as a whole: from the beginning of its
 *     life to its last record. So a group of records is never torn.
 * O2. It goes only when it is `closed` and the end of all code that its calls
 *     started is recorded. One that a recovery has found goes only where the
 *     host says so.
 * O3. Records of conversations, transactions and supervisors stay: what was
 *     committed is in them.
 * O4. The last record stays, with its session, so that `seq` goes on behind it in
 *     a store that knows of it by its records alone. Of a session that ended
 *     before it, it stays alone.
 * O5. What cannot be understood stays. Of a session that is not known, which an
 *     earlier compaction took away, only what the host was refused after the end
 *     goes.
 * O6. Memory is bounded by the sessions that have not ended.
 */
import type { JournalRecord } from '../contract/journal.js';

/** What a `compact()` takes. */
export interface CompactOptions {
  /**
   * Whether sessions go that a recovery has found without an end, and calls of which it has told `onLate`. Say so when the host has
   * dealt with what `recover` said of them: it is not said again. Default `false`.
   */
  readonly recovered?: boolean;
}

/** What a `compact()` has done. */
export interface Compaction {
  /** Records. */
  readonly kept: number;
  readonly dropped: number;
  /** Of the file. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** A session, from a beginning on. */
interface Life {
  readonly id: string;
  /** The `seq` of the first record that belongs to it. */
  readonly from: number;
  /** Calls whose code was started, and has no end that is recorded. */
  running: Set<string> | undefined;
  isClosed: boolean;
  isFound: boolean;
  /** It is not understood. */
  isKept: boolean;
}

/** See the head of the file. Both passes bring all records, in order. */
export class CompactionRule {
  readonly #dropsRecovered: boolean;
  /** The sessions that stay, as far as is known. */
  readonly #lives = new Map<string, Life>();
  #latest: Life | undefined;
  /** It has ended, as far as its group has come. */
  #ended: Life | undefined;
  /** The last `seq` that was looked at. */
  #lookedTo = 0;

  constructor({ recovered = false }: CompactOptions = {}) {
    this.#dropsRecovered = recovered;
  }

  /** The first pass: looks at the next record. */
  look(record: JournalRecord): void {
    this.#lookedTo = record.seq;
    const id = sessionOf(record);
    this.#letGo(record.cause === 0 ? undefined : id);
    if (id === undefined) {
      this.#latest = undefined;
      return;
    }
    const life = this.#lifeOf(id, record);
    this.#latest = life;
    if (record.kind === 'call') this.#takeCall(life, record);
    else if (record.event === 'recovered') life.isFound = true;
    else if (record.to === 'closed') life.isClosed = true;
    // of one that a recovery has found, notices about its calls are still to come
    if (!life.isFound && this.#hasEnded(life)) this.#ended = life;
  }

  /** A life that had ended goes, unless this is of the session whose step has ended it: its calls come behind it. */
  #letGo(goesOn: string | undefined): void {
    const ended = this.#ended;
    if (ended === undefined || ended.id === goesOn) return;
    if (this.#hasEnded(ended)) this.#lives.delete(ended.id);
    this.#ended = undefined;
  }

  /** Between the passes. */
  looked(): void {
    for (const [id, life] of this.#lives) if (this.#hasEnded(life)) this.#lives.delete(id);
    const latest = this.#latest;
    // a life of the same id that came after it would stand here, and would be the latest
    if (latest !== undefined) this.#lives.set(latest.id, latest);
  }

  /** The second pass: whether the next record stays. It may bring records that came after the first. */
  keeps(record: JournalRecord): boolean {
    const id = sessionOf(record);
    if (id === undefined) return true;
    const life = this.#lives.get(id);
    if (life !== undefined) return record.seq >= life.from;
    if (record.seq <= this.#lookedTo || !isBeginning(record)) return false;
    this.#lives.set(id, lifeFrom(id, record.seq));
    return true;
  }

  #lifeOf(id: string, record: JournalRecord): Life {
    let known = this.#lives.get(id);
    if (isBeginning(record)) {
      if (known !== undefined && this.#hasEnded(known)) known = undefined;
      const life = lifeFrom(id, known?.from ?? record.seq);
      // another one has its id and its process is gone: both stay
      life.isKept = known !== undefined;
      this.#lives.set(id, life);
      return life;
    }
    if (known !== undefined) return known;
    const life = lifeFrom(id, record.seq);
    // of a life that has ended, by an earlier compaction or just now
    if (record.kind === 'session' && record.from === 'closed' && record.to === 'closed') return life;
    life.isKept = true;
    this.#lives.set(id, life);
    return life;
  }

  #takeCall(life: Life, { actor, event, to }: JournalRecord): void {
    if (event === 'code_resolved' || event === 'code_rejected') life.running?.delete(actor);
    else if (event === 'recovered') {
      if (this.#dropsRecovered) life.running?.delete(actor);
    } else if (to === 'executing') {
      life.running ??= new Set();
      life.running.add(actor);
    }
  }

  #hasEnded({ running, isClosed, isFound, isKept }: Life): boolean {
    if (isKept) return false;
    if (this.#dropsRecovered && isFound) return true;
    return isClosed && !isFound && (running === undefined || running.size === 0);
  }
}

function lifeFrom(id: string, from: number): Life {
  return { id, from, running: undefined, isClosed: false, isFound: false, isKept: false };
}

function isBeginning({ kind, event, from }: JournalRecord): boolean {
  return kind === 'session' && event === '' && from === '';
}

/** The session that a record belongs to; `undefined` for one of another kind. */
function sessionOf({ kind, actor }: JournalRecord): string | undefined {
  if (kind === 'session') return actor;
  if (kind !== 'call') return undefined;
  const slash = actor.indexOf('/');
  return slash < 0 ? actor : actor.slice(0, slash);
}
