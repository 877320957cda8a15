/**
 * The fold of a conversation's records: what they come to, whatever they keep.
 *
 * Invariants kept here:
 *
 * K1. A conversation's own records decide; those of its transactions follow
 *     from them, and may have been cut off by a crash.
 * K2. Memory is that of one state, however many records there were.
 * K3. What is no record of a conversation is an error that names its place.
 * K4. A state is given only where every input that was kept has done again what
 *     its record says that it did: what was redacted may have decided.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { sizeDelimitedPeek } from '@bufbuild/protobuf/wire';
import { machinesVersion, responseStreamStepper, type StreamPhase } from '../../machines/index.js';
import { ResponseEventSchema } from '../../proto/index.js';
import { isCommitpointError, JournalDamagedError, JournalFormatError, messageOf } from '../contract/errors.js';
import type { ConversationBegan, JournalRecord, RecordedFold } from '../contract/journal.js';
import { createFold, type Fold } from './fold.js';
import type { FoldInput } from './input.js';
import { type ConversationMode, type ConversationPolicies, policiesOf, transactionRules } from './policies.js';
import { RecordedLevels } from './recorded-levels.js';
import { type RecordedHostEffect, type RecoveredConversation, restoreCommitted } from './restore.js';
import { FoldState } from './state.js';
import { StepRecorder } from './step-recorder.js';

/** Of a conversation's life. */
interface Life {
  readonly began: ConversationBegan;
  readonly fold: Fold;
  readonly levels: RecordedLevels;
  /** Writes down what the inputs do again. */
  readonly again: StepRecorder;
}

/** Takes the records of one conversation, in order, and says what they come to. */
export class JournalFold {
  readonly #id: string;
  #life: Life | undefined;
  #state: FoldState | undefined;
  #phase: StreamPhase = 'awaiting_init';
  #position = 0;
  #lastStream = 0;
  #held: RecordedHostEffect[] = [];
  #released: RecordedHostEffect[] = [];

  /** `id`: the conversation's actor id. */
  constructor(id: string) {
    this.#id = id;
  }

  /** What its records kept, as it stood at the last of them; `undefined` where they did not keep the inputs. */
  get state(): FoldState | undefined {
    return this.#state;
  }

  /**
   * Takes a record; those of other actors are passed over.
   *
   * @throws {JournalDamagedError} for a record that cannot be one of this conversation
   * @throws {JournalFormatError} for one of newer machines
   */
  take(record: JournalRecord): void {
    if (record.kind === 'transaction' && record.actor.startsWith(`${this.#id}/`)) this.#takeEffects(record);
    if (record.kind !== 'conversation' || record.actor !== this.#id) return;
    try {
      if (record.event === '') this.#begin(record);
      else this.#step(record);
    } catch (thrown) {
      if (thrown instanceof JournalDamagedError || thrown instanceof JournalFormatError) throw thrown;
      throw damaged(record, isCommitpointError(thrown) ? thrown.message : `found ${messageOf(thrown)}`);
    }
  }

  /** What was committed, after the last record. @throws {JournalDamagedError} where no life of the conversation began */
  recovered(): RecoveredConversation {
    if (this.#life === undefined) {
      throw new JournalDamagedError('that is recovered', 0, `expected the life of conversation ${this.#id} to begin`);
    }
    const { began, levels } = this.#life;
    return {
      id: this.#id,
      began,
      state: this.#state && restoreCommitted(this.#state),
      phase: this.#phase === 'streaming' ? 'truncated' : this.#phase,
      version: levels.committedVersion,
      lastVersion: levels.lastVersion,
      position: this.#position,
      lastStream: this.#lastStream,
      lastTransaction: levels.lastTransaction,
      openTransactions: levels.open.map((number) => `${this.#id}/transaction-${number}`),
      effectsNotRun: this.#released.slice(),
    };
  }

  #begin(record: JournalRecord): void {
    const { data, did, to } = record;
    if (data === undefined || !('conversation' in data)) throw damaged(record, 'expected the rules of a conversation');
    const began = data.conversation;
    if (began.machines > machinesVersion) {
      const known = `machines of version ${machinesVersion} or older`;
      throw new JournalFormatError(`record ${record.seq}`, known, `${began.machines}`);
    }
    const mode = began.mode as ConversationMode;
    const policies = policiesOf(mode, began.policies as Partial<ConversationPolicies>);
    const fold = createFold({ mode, policies, maxDiagnostics: began.maxDiagnostics, traceRecords: true });
    const numbers = new Map(did.map(({ effect, detail, version }) => [effect, version ?? Number(detail)]));
    const restored = numbers.get('restore');
    const of = (name: string) => numbers.get(name) ?? 0;
    const before = this.#life?.levels;
    const start = {
      version: restored ?? 1,
      lastVersion: numbers.get('lastVersion') ?? 1,
      lastTransaction: of('lastTransaction'),
    };
    const levels = new RecordedLevels(transactionRules(mode, policies), start);
    this.#life = { began, fold, levels, again: new StepRecorder(this.#id, start) };
    if (restored === undefined) this.#state = fold.initial;
    else {
      // the one who went on from what this very journal says went on from all of it, its diagnostics too
      const isSame = before?.committedVersion === restored && before.lastVersion === of('lastVersion');
      const stood = isSame ? this.#state : undefined;
      this.#state = stood ? restoreCommitted(stood) : rebuilt(began, to as StreamPhase, of('position'), did);
    }
    this.#phase = to as StreamPhase;
    this.#position = of('position');
    this.#lastStream = of('lastStream');
    this.#held = [];
    this.#released = [];
  }

  #step(record: JournalRecord): void {
    const { event, to, did, data } = record;
    const life = this.#life;
    if (life === undefined) throw damaged(record, `expected the life of conversation ${this.#id} to begin`);
    if (data === undefined || !('folded' in data)) throw damaged(record, 'expected what was folded');
    const { folded } = data;
    const { stream = 0 } = folded;
    this.#takeEffects(record);
    if (event === 'effect') return;
    life.levels.take(did, stream);
    // what a strict stream tells of fails it; the record that says so may have been cut off
    const hasFailed = life.fold.mode === 'strict' && did.some(({ effect }) => effect === 'report');
    if (hasFailed) life.levels.take(failing, stream);
    this.#lastStream = Math.max(this.#lastStream, stream);
    if (stream === 0) {
      this.#phase = hasFailed ? 'failed' : (to as StreamPhase);
      if (!isEnd(event) && event !== 'halted') this.#position++;
    }
    // a strict failure is what the input before it came to
    if (this.#state === undefined || event === 'halted') return;
    const input = inputOf(event, folded);
    this.#state = input === undefined ? undefined : this.#takeAgain(this.#state, input, stream, record);
  }

  /** The state after an input; `undefined` where it does something else than it did. */
  #takeAgain(state: FoldState, input: FoldInput, stream: number, { did }: JournalRecord): FoldState | undefined {
    const { fold, again } = this.#life as Life;
    const isNew = stream > 0 && state.phaseOf(stream) === undefined;
    const folded = fold.take(isNew ? fold.open(state, stream) : state, input, stream);
    const [first] = again.take(folded.trace);
    return isSame(first?.did ?? [], did) ? folded.state : undefined;
  }

  #takeEffects({ did, data }: JournalRecord): void {
    const stream = data !== undefined && 'folded' in data ? (data.folded.stream ?? 0) : 0;
    for (const { effect, detail = '' } of did) {
      switch (effect) {
        case 'holdEffect':
          this.#held.push(hostEffectOf(detail, stream));
          break;
        case 'releaseEffect':
          take(this.#held, detail, stream);
          this.#released.push(hostEffectOf(detail, stream));
          break;
        case 'dropEffect':
          take(this.#held, detail, stream);
          break;
        case 'runEffect':
          take(this.#released, detail, stream);
          break;
      }
    }
  }
}

/**
 * What the records of a conversation come to. Those of others, and of its transactions, may be among them.
 *
 * @throws {JournalDamagedError} {@link JournalFormatError}
 */
export function foldJournal(id: string, records: Iterable<JournalRecord>): RecoveredConversation {
  const fold = new JournalFold(id);
  for (const record of records) fold.take(record);
  return fold.recovered();
}

const failing: JournalRecord['did'] = [{ effect: 'closeTransactions', detail: 'finish_failed' }];
const decisive: ReadonlySet<string> = new Set(['apply', 'fail', 'closeTransactions']);

/** Whether the same actions were applied and failed, and the same versions stood after them. */
function isSame(again: JournalRecord['did'], did: JournalRecord['did']): boolean {
  const [one, other] = [again, did].map((all) => all.filter(({ effect }) => decisive.has(effect)));
  return (
    one?.length === other?.length &&
    one?.every(({ effect, detail, version }, at) => {
      const there = other?.[at];
      return effect === there?.effect && detail === there.detail && version === there.version;
    }) === true
  );
}

/** What a record of a conversation was given; `undefined` where it is not kept. */
function inputOf(event: string, { input, digest, message = '' }: RecordedFold): FoldInput | undefined {
  switch (event) {
    case 'end_of_input':
      return { end: 'eof' };
    case 'host_cancel':
      return { end: 'cancel' };
    case 'transport_error':
      return { end: 'error', message };
    case 'bad_frame':
      return { end: 'bad_frame', message };
  }
  if (input !== undefined) return fromBinary(ResponseEventSchema, input);
  // one that says nothing has no bytes
  return event === 'untyped' && digest === undefined ? fromBinary(ResponseEventSchema, new Uint8Array()) : undefined;
}

function isEnd(event: string): boolean {
  return event === 'end_of_input' || event === 'host_cancel' || event === 'transport_error';
}

/** A state of the events that rebuild it; `undefined` where they were not kept. */
function rebuilt(
  { initial, maxDiagnostics }: ConversationBegan,
  phase: StreamPhase,
  position: number,
  did: JournalRecord['did'],
): FoldState | undefined {
  const says = (name: string) => did.some(({ effect }) => effect === name);
  if (initial === undefined && !says('keep')) return undefined;
  const fold = createFold({ maxDiagnostics });
  let state = fold.initial;
  for (let rest = initial ?? new Uint8Array(); rest.length > 0; ) {
    const { offset, size, eof } = sizeDelimitedPeek(rest);
    if (offset === null || size === null || eof) throw new TypeError('a length that is cut off');
    const end = offset + size;
    if (end > rest.length) throw new TypeError('an event that is cut off');
    state = fold.take(state, fromBinary(ResponseEventSchema, rest.subarray(offset, end))).state;
    rest = rest.subarray(end);
  }
  if (phase === 'truncated') state = fold.take(state, { end: 'eof' }).state;
  else if (phase === 'cancelled') state = fold.take(state, { end: 'cancel' }).state;
  const { parts } = state;
  const isHalted = phase === 'failed' && parts.first.finished === null;
  const snapshot = isHalted
    ? responseStreamStepper.step(parts.first.snapshot, 'halted').snapshot
    : parts.first.snapshot;
  const first = { ...parts.first, snapshot, isHalted, events: position };
  return new FoldState({ ...parts, diverged: says('diverged'), first });
}

/** Takes the first of this action out of a list. */
function take(effects: RecordedHostEffect[], detail: string, stream: number): void {
  const one = hostEffectOf(detail, stream);
  const at = effects.findIndex(
    (other) => other.stream === one.stream && other.event === one.event && other.action === one.action,
  );
  if (at >= 0) effects.splice(at, 1);
}

function hostEffectOf(detail: string, stream: number): RecordedHostEffect {
  const [event, action] = detail.split('/').map(Number);
  return { stream, event: event ?? 0, action: action ?? 0 };
}

function damaged({ seq }: JournalRecord, problem: string): JournalDamagedError {
  return new JournalDamagedError('that is recovered', seq, problem);
}
