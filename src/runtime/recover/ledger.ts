/**
 * What the records of a journal say of its sessions and calls, in one pass.
 *
 * Invariants kept here:
 *
 * B1. Of a session that has ended nothing is kept but the calls whose code is
 *     unaccounted for, unless all were asked for: memory is bounded by what had
 *     not ended, not by the journal.
 * B2. Every call is counted once, kept or not.
 */
import { machinesVersion } from '../../../machines/index.js';
import { JournalDamagedError, JournalFormatError } from '../../contract/errors.js';
import type { JournalRecord, RecordedCandidate } from '../../contract/journal.js';
import type { RecoveredOutcome } from './recovery.js';
import { RememberedSession } from './remembered-session.js';

/** What the far side asked for in the record at hand. */
interface Asked {
  readonly session: RememberedSession;
  readonly candidate: RecordedCandidate;
  readonly seq: number;
}

export class Ledger {
  readonly #keepsAll: boolean;
  readonly #counts: Record<RecoveredOutcome, number> = {
    not_started: 0,
    outcome_unknown: 0,
    publish_unknown: 0,
    delivered: 0,
    refused: 0,
    abandoned: 0,
  };
  /** The last life of each id that is kept. */
  readonly #current = new Map<string, RememberedSession>();
  /** Lives whose id was given to another session after them. */
  readonly #earlier: RememberedSession[] = [];
  #asked: Asked | undefined;

  /** `keepsAll`: calls of sessions that have ended, too. */
  constructor(keepsAll: boolean) {
    this.#keepsAll = keepsAll;
  }

  /** @throws {JournalDamagedError} for a call that was never admitted, @throws {JournalFormatError} for what newer machines wrote */
  take(record: JournalRecord): void {
    // a recovery went on where the record of an admission was cut off; what compaction took away leaves a gap
    if (record.event === 'recovered' && record.seq === (this.#asked?.seq ?? 0) + 1) this.end();
    const asked = this.#asked;
    this.#asked = undefined;
    if (record.kind === 'session') this.#takeSession(record);
    else if (record.kind === 'call') this.#takeCall(record, asked);
  }

  /** Nothing follows. */
  end(): void {
    // a `tool_call` that is the last record: the record of the admission was cut off
    if (this.#asked !== undefined) this.#asked.session.admit(this.#asked.candidate);
    this.#asked = undefined;
  }

  /** Every session that is kept, in order of its beginning. */
  get sessions(): readonly RememberedSession[] {
    return [...this.#earlier, ...this.#current.values()];
  }

  /** How many calls of each outcome there were. Ask once, at the end. */
  count(): Readonly<Record<RecoveredOutcome, number>> {
    const counts = { ...this.#counts };
    for (const { calls } of this.sessions) for (const { outcome } of calls.values()) counts[outcome]++;
    return counts;
  }

  #takeSession(record: JournalRecord): void {
    const { actor, event, to, data } = record;
    if (event === '') {
      if (data === undefined || !('session' in data)) throw damaged(record, 'the rules of a session that begins');
      const { machines } = data.session;
      if (machines > machinesVersion) {
        throw new JournalFormatError(
          `record ${record.seq}`,
          `machines of version ${machinesVersion} or older`,
          `${machines}`,
        );
      }
      const before = this.#current.get(actor);
      if (before !== undefined) {
        before.isSuperseded = true;
        this.#earlier.push(before);
        this.#current.delete(actor);
      }
      this.#current.set(actor, new RememberedSession(actor, data.session, to));
      return;
    }
    const session = this.#current.get(actor);
    // one that has ended, and was let go
    if (session === undefined) return;
    session.take(record);
    const candidate = data !== undefined && 'occurrence' in data ? data.occurrence.candidate : undefined;
    if (event === 'tool_call' && candidate !== undefined) this.#asked = { session, candidate, seq: record.seq };
    this.#release(session);
  }

  #takeCall(record: JournalRecord, asked: Asked | undefined): void {
    const slash = record.actor.indexOf('/');
    const session = this.#current.get(record.actor.slice(0, slash));
    if (session === undefined) return;
    const id = record.actor.slice(slash + 1);
    let call = session.calls.get(id);
    if (record.event === '' && asked?.session === session && asked.candidate.id === id) {
      call = session.admit(asked.candidate);
    }
    if (call === undefined) {
      if (session.isClosed) return;
      throw damaged(record, `the admission of call ${record.actor}`);
    }
    session.takeOf(call, record);
    this.#release(session);
  }

  /** Lets go of what is settled, once the session has ended. */
  #release(session: RememberedSession): void {
    if (this.#keepsAll || !session.hasEnded) return;
    for (const call of session.calls.values()) {
      if (call.isUnaccountedFor) continue;
      this.#counts[call.outcome]++;
      session.calls.delete(call.id);
    }
    if (session.calls.size === 0) this.#current.delete(session.id);
  }
}

function damaged({ seq }: JournalRecord, expected: string): JournalDamagedError {
  return new JournalDamagedError('that is recovered', seq, `expected ${expected}, found record ${seq} without it`);
}
