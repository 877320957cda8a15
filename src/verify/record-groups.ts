/**
 * Records, put together into the groups that one event from outside led to.
 *
 * G1. A group is given out when the next one begins, or when the journal ends:
 *     whoever takes it has all of it.
 * G2. Nothing is kept but the group at hand.
 * G3. Whether a group lacks its last records nobody can tell from it: whoever
 *     takes it finds out when its life goes on.
 */
import type { JournalRecord } from '../contract/journal.js';

/** Whose a group is: a session with its calls, a conversation with its transactions, or neither. */
export type OwnerKind = 'session' | 'conversation' | 'supervisor';

/** What one event from outside led to. */
export interface RecordGroup {
  readonly kind: OwnerKind;
  /** The id of the session or conversation. */
  readonly owner: string;
  /** At least one. */
  readonly records: readonly JournalRecord[];
}

/** Something that is wrong with the order of records. */
export interface Misplaced {
  readonly record: JournalRecord;
  readonly what: string;
}

export class GroupReader {
  #records: JournalRecord[] = [];
  #kind: OwnerKind = 'supervisor';
  #owner = '';
  #last = 0;
  readonly #misplaced: (found: Misplaced) => void;
  /** Whether records are missing: compaction took them, or the journal keeps the last ones only. */
  hasGap = false;
  /** Records at the beginning whose group began before it. */
  headless = 0;

  constructor(misplaced: (found: Misplaced) => void) {
    this.#misplaced = misplaced;
  }

  /** Takes the next record; gives the group before it, where it begins another one. */
  take(record: JournalRecord): RecordGroup | undefined {
    const { seq, cause } = record;
    if (seq <= this.#last) {
      this.#misplaced({ record, what: `record ${seq} stands behind record ${this.#last}` });
    } else if (seq > this.#last + 1) this.hasGap = true;
    this.#last = seq;
    const first = this.#records[0];
    if (first === undefined && cause !== 0 && cause < seq - this.headless && this.hasGap) {
      this.headless++;
      return undefined;
    }
    if (cause !== 0 && first !== undefined && cause === first.seq && isOf(record, this.#kind, this.#owner)) {
      this.#records.push(record);
      return undefined;
    }
    if (cause !== 0) this.#misplaced({ record, what: misplacedCause(record, first, this.#owner) });
    const before = this.#group();
    this.#records = [record];
    this.#kind = kindOf(record);
    this.#owner = ownerOf(record, this.#kind);
    return before;
  }

  /** The journal is over: the last group, if there is one. */
  finish(): RecordGroup | undefined {
    const last = this.#group();
    this.#records = [];
    return last;
  }

  #group(): RecordGroup | undefined {
    if (this.#records.length === 0) return undefined;
    return { kind: this.#kind, owner: this.#owner, records: this.#records };
  }
}

function misplacedCause({ seq, cause, actor }: JournalRecord, first: JournalRecord | undefined, owner: string): string {
  const says = `record ${seq} of ${JSON.stringify(actor)} says that record ${cause} led to it`;
  return first === undefined
    ? `${says}, and no record stands before it`
    : `${says}, and stands behind what record ${first.seq} of ${JSON.stringify(owner)} led to`;
}

function kindOf({ kind }: JournalRecord): OwnerKind {
  if (kind === 'session' || kind === 'call') return 'session';
  return kind === 'supervisor' ? 'supervisor' : 'conversation';
}

function isOf(record: JournalRecord, kind: OwnerKind, owner: string): boolean {
  const { actor } = record;
  return kindOf(record) === kind && (actor === owner || (actor.startsWith(owner) && actor[owner.length] === '/'));
}

const transactionMark = '/transaction-';

function ownerOf({ actor, kind: own }: JournalRecord, kind: OwnerKind): string {
  if (kind === 'session') {
    const end = own === 'call' ? actor.indexOf('/') : -1;
    return end === -1 ? actor : actor.slice(0, end);
  }
  const end = own === 'transaction' ? actor.lastIndexOf(transactionMark) : -1;
  return end === -1 ? actor : actor.slice(0, end);
}
