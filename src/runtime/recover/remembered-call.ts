/**
 * A call as its records tell of it.
 *
 * Invariants kept here:
 *
 * W1. The last record counts. What is said of a call is true whatever the
 *     process did between that record and its end: `never_started` is said only
 *     where a start would have left a record.
 * W2. The fence of its session decides a call, whether or not its own record of
 *     that was cut off: nothing starts and nothing is published behind it.
 * W3. An end of the code that is recorded is never forgotten, nor that
 *     somebody was told of it.
 */
import type { JournalRecord, RecordedCandidate } from '../../contract/journal.js';
import type { ToolEffect } from '../../contract/tool.js';
import type { RecoveredCode, RecoveredOutcome } from './recovery.js';

/** States of a call whose code has not been started. */
const beforeTheCode: ReadonlySet<string> = new Set(['admitted', 'awaiting_approval', 'queued']);
/** From the intent to publish on, as long as the far side has not answered. */
const behindTheIntent: ReadonlySet<string> = new Set(['committing', 'publishing', 'unconfirmed']);
/** A call that is still to be decided. */
const undecided: ReadonlySet<string> = new Set([...beforeTheCode, 'starting', 'executing', 'committing', 'publishing']);

const utf8 = new TextDecoder();

export class RememberedCall {
  readonly id: string;
  readonly name: string;
  readonly effect: ToolEffect;
  /** Whether the start of its code was made durable before it. */
  readonly #writesStart: boolean;
  #arguments: Uint8Array | undefined;
  #state = 'admitted';
  #isStarted = false;
  #isFenced = false;
  #end: 'resolved' | 'rejected' | undefined;
  #toldBy: 'the_run' | 'a_recovery' | undefined;

  /** From what the far side asked for: the record of the admission may be cut off. */
  constructor({ id, name, effect, writeStart, arguments: args }: RecordedCandidate) {
    this.id = id;
    this.name = name;
    this.effect = effect;
    this.#writesStart = writeStart;
    this.#arguments = args;
  }

  /** The next record of this call. */
  take({ event, to, did }: JournalRecord): void {
    this.#state = to;
    if (to === 'executing') this.#isStarted = true;
    if (event === 'code_resolved') this.#end = 'resolved';
    else if (event === 'code_rejected') this.#end = 'rejected';
    for (const { effect } of did) {
      if (effect === 'tellLate') this.#toldBy = event === 'recovered' ? 'a_recovery' : 'the_run';
    }
    if (!this.isUnaccountedFor && !this.isUndecided) this.#arguments = undefined;
  }

  /** Its session has come to its end. */
  fence(): void {
    this.#isFenced = true;
  }

  /** The last state that is recorded. */
  get state(): string {
    return this.#state;
  }

  get code(): RecoveredCode {
    if (this.#end !== undefined) return this.#end;
    if (this.isUnaccountedFor) return 'unknown';
    // where no record is made durable first, the code may have been faster than the records
    return !(this.#writesStart || this.#isFenced) && beforeTheCode.has(this.#state) ? 'unknown' : 'never_started';
  }

  get outcome(): RecoveredOutcome {
    const { code } = this;
    const state = this.#isFenced && this.isUndecided ? fenced(this.#state) : this.#state;
    if (state === 'completed') return 'delivered';
    if (state === 'rejected') return 'refused';
    if (behindTheIntent.has(state)) return 'publish_unknown';
    if (code === 'unknown') return 'outcome_unknown';
    if (beforeTheCode.has(state)) return 'not_started';
    if (state === 'cancelled') return code === 'never_started' ? 'not_started' : 'abandoned';
    // a state that nobody knows is not taken for harmless
    return state.startsWith('abandoned') ? 'abandoned' : 'outcome_unknown';
  }

  /** Whether its outcome is not recorded; a fence may have decided it. */
  get isUndecided(): boolean {
    return undecided.has(this.#state);
  }

  /** Whether its code was started, as far as the journal goes, and how it ended is not recorded. */
  get isUnaccountedFor(): boolean {
    return this.#end === undefined && (this.#isStarted || (this.#state === 'starting' && !this.#isFenced));
  }

  /** Whether `onLate` is to be told. */
  get isNoticeDue(): boolean {
    return this.isUnaccountedFor && this.#toldBy === undefined;
  }

  /** Who has decided to tell `onLate`, if anybody has. */
  get toldBy(): 'the_run' | 'a_recovery' | undefined {
    return this.#toldBy;
  }

  get arguments(): string | undefined {
    return this.#arguments === undefined ? undefined : utf8.decode(this.#arguments);
  }
}

/** Where the fence leads from a state. */
function fenced(state: string): string {
  return state === 'publishing' ? 'unconfirmed' : 'cancelled';
}
