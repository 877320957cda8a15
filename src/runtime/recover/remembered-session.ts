/** A session as its records tell of it, with those of its calls that somebody may still ask for. */
import { type EndReason, type SessionSnapshot, sessionStepper, stateNameOf } from '../../../machines/index.js';
import type { JournalRecord, RecordedCandidate, SessionBegan } from '../../contract/journal.js';
import { RememberedCall } from './remembered-call.js';

type SessionEvent = Parameters<typeof sessionStepper.step>[1];

export class RememberedSession {
  readonly id: string;
  readonly began: SessionBegan;
  /** In order of admission. Of a session that has ended: those that are kept. */
  readonly calls = new Map<string, RememberedCall>();
  /** Whether an earlier recovery has found it without an end. */
  wasFound = false;
  /** Whether its id was given to another session after it: what is written about it would be taken for that one's. */
  isSuperseded = false;
  #state: string;
  /** How many of its calls have no outcome that is recorded. */
  #undecided = 0;
  #snapshot: SessionSnapshot = sessionStepper.initial(undefined as never).snapshot;

  constructor(id: string, began: SessionBegan, state: string) {
    this.id = id;
    this.began = began;
    this.#state = state;
  }

  /** Output may have gone by before a record of this session, or of one of its calls. */
  pass({ passed }: JournalRecord): void {
    if (passed === undefined || passed.text[0] + passed.audio[0] === 0) return;
    this.#snapshot = sessionStepper.step(this.#snapshot, 'text').snapshot;
    this.#state = stateNameOf(this.#snapshot);
  }

  /** The next record of this session. */
  take(record: JournalRecord): void {
    const { event, to } = record;
    this.pass(record);
    this.#state = to;
    if (to === 'closing' || to === 'closed') for (const call of this.calls.values()) call.fence();
    if (event === 'recovered') this.wasFound = true;
    // the reason is no part of a record
    else this.#snapshot = sessionStepper.step(this.#snapshot, event as SessionEvent).snapshot;
  }

  admit(candidate: RecordedCandidate): RememberedCall {
    const call = new RememberedCall(candidate);
    this.calls.set(call.id, call);
    this.#undecided++;
    return call;
  }

  /** The next record of one of its calls. */
  takeOf(call: RememberedCall, record: JournalRecord): void {
    this.pass(record);
    const wasUndecided = call.isUndecided;
    call.take(record);
    if (wasUndecided && !call.isUndecided) this.#undecided--;
  }

  get state(): string {
    return this.#state;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Whether it is closed, and the outcomes of its calls are recorded: they stand behind its own record, and may have been cut off. */
  get hasEnded(): boolean {
    return this.isClosed && this.#undecided === 0;
  }

  get reason(): EndReason | undefined {
    const { reason } = this.#snapshot.context;
    return reason === 'none' ? undefined : reason;
  }
}
