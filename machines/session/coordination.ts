/**
 * How a session and its calls move together: which call gets which event, in
 * which order, and what the host has to perform. Pure: the runtime, the replay
 * and the explorer all run it over their own {@link Cast}; the runtime adds
 * promises, timers, sockets and the delivery buffer, and decides nothing.
 *
 * The one principle (duplex.md §5): the far side's event first; then call by
 * call in order of admission; for one call its host event, then its tool
 * signal, then the driver call; then calls that start in freed places; then
 * the end.
 *
 * Invariants kept here:
 *
 * K1. A known id is never admitted again (D13); at most `maxIds` are known.
 * K2. Places are held exactly while `starting` or `executing`, given in order
 *     of admission, never more than `maxConcurrentTools`; and where they come
 *     out of a pool, a step takes no more than it is lent, and none that it
 *     gives back.
 * K3. At most `maxOpenCalls` admitted calls are not final; those refused for
 *     their number are counted apart, and when `maxOpenCalls` of them are
 *     publishing the session overflows (D15).
 * K4. Nothing is reported for which the buffer has no room: the session
 *     overflows at that event instead. A far-side event that does not fit
 *     changes nothing; an abandonment that does not fit does not happen; the
 *     far side's answer to a result stands, reported or not.
 * K5. After the fence no call is admitted or started and nothing is reported
 *     (D9); every call that was open is decided by it.
 */
import type { Effect } from '../stepping.js';
import { type CallEventType, type CallRules, type CallSnapshot, callStepper } from '../tool-invocation/index.js';
import type { SessionEventType } from './session.events.js';
import { type SessionSnapshot, sessionStepper } from './session.stepper.js';

/** A `tool_call` of the far side, before it is admitted. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  /** Of the arguments: equal texts have equal digests. */
  readonly digest: string;
  readonly rules: CallRules;
}

/** A call that the coordination moves. */
export interface CallEntry {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  /** Beyond `maxOpenCalls` when it came: answered with an error, counted apart. */
  readonly refused: boolean;
  /** Where it stands; written by {@link Cast.advanceCall}. */
  readonly snapshot: CallSnapshot;
}

/** All that is kept of a call that has its outcome. */
export interface EndedCall {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  readonly state: CallStateName;
}

/** The names of a call's states, as hosts see them: substates of `abandoned` are one. */
export type CallStateName =
  | 'admitted'
  | 'awaiting_approval'
  | 'queued'
  | 'starting'
  | 'executing'
  | 'committing'
  | 'publishing'
  | 'abandoned'
  | 'completed'
  | 'rejected'
  | 'unconfirmed'
  | 'cancelled';

/** The name of a call's state, as hosts see it. */
export function callStateOf(snapshot: CallSnapshot): CallStateName {
  const { value } = snapshot;
  return typeof value === 'string' ? value : 'abandoned';
}

/** The name of a session's state, with its substate behind a dot. */
export function sessionStateOf(
  snapshot: SessionSnapshot,
): 'connecting' | 'open.waiting' | 'open.responding' | 'closing' | 'closed' {
  const { value } = snapshot;
  return typeof value === 'string' ? value : `open.${value.open}`;
}

/**
 * The lives that are coordinated: actors in the runtime, bare snapshots
 * elsewhere. `asked`: how many effects of the step were asked for before.
 */
export interface Cast<Call extends CallEntry> {
  readonly session: SessionSnapshot;
  advanceSession(type: SessionEventType, next: SessionSnapshot, asked: number): void;
  admit(candidate: Candidate, refused: boolean, asked: number): Call;
  advanceCall(call: Call, type: CallEventType, next: CallSnapshot, asked: number): void;
  /** The call has its outcome and no code runs that its state waits for: its actor may go. */
  release(call: Call): void;
}

/** What bounds a session. */
export interface Limits {
  readonly maxConcurrentTools: number;
  readonly maxOpenCalls: number;
  readonly dropUnreadAudio: boolean;
}

/** A wish of the host that the session either passes on or refuses. */
export type HostAct =
  | { readonly type: 'send' | 'interrupt' | 'played' }
  | { readonly type: 'approve' | 'deny'; readonly id: string };

/** What happened, with what the coordination needs to know of it. */
export type Occurrence<Call extends CallEntry> =
  | {
      readonly at: 'session';
      readonly type: Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>;
    }
  | { readonly at: 'session'; readonly type: 'tool_call'; readonly candidate: Candidate }
  | { readonly at: 'session'; readonly type: 'tool_call_cancelled'; readonly ids: readonly string[] }
  | { readonly at: 'session'; readonly type: 'host_act'; readonly act: HostAct }
  | { readonly at: 'call'; readonly type: CallEventType; readonly call: Call };

/** What `callChanged` tells. `from` is `null` at the admission. */
export interface CallChange {
  readonly from: CallStateName | null;
  readonly to: CallStateName;
}

/** One thing to perform. `call`: whose it is; `detail`: words for people, where the coordination knows them. */
export interface Asked<Call extends CallEntry> {
  readonly type: string;
  readonly params: unknown;
  readonly call: Call | undefined;
  readonly detail: string | undefined;
}

/** What a coordination has counted of its calls; in step with them, so long as it makes no mistake. */
export interface Counts {
  /** Of those that are not refused: how many are not released. */
  readonly admitted: number;
  readonly refusedPublishing: number;
  readonly placesHeld: number;
  readonly queued: number;
}

/** The most ids that one session remembers. */
export const maxIds = 1_000_000;

/** More places than any session takes. A small integer, where `Infinity` would cost an allocation. */
export const anyPlaces = 0x3fffffff;

/** Between steps; never written. */
const nothingAsked = Object.freeze([]) as unknown as never[];

/** Session events that take a place in the host's buffer. A last event has a place of its own. */
const takesPlace: ReadonlySet<string> = new Set([
  'text',
  'audio',
  'tool_call',
  'turn_complete',
  'interrupted',
  'error',
] satisfies SessionEventType[]);

/** Effects of a call that take a place in the host's buffer. */
const reports: ReadonlySet<string> = new Set([
  'reportStarted',
  'reportCompleted',
  'reportRejected',
  'reportUnconfirmed',
  'reportAbandoned',
]);

/** Whether a list of effects (one object a step, see P1) reports something; each list is looked at once. */
const reporting = new WeakMap<readonly Effect[], boolean>();
function reportsSomething(effects: readonly Effect[]): boolean {
  let known = reporting.get(effects);
  if (known === undefined) {
    known = effects.some((effect) => reports.has(effect.type));
    reporting.set(effects, known);
  }
  return known;
}

const holdsPlace = (state: CallStateName) => state === 'starting' || state === 'executing';

/** Moves a session and its calls; see the head of this file. */
export class Coordination<Call extends CallEntry> {
  readonly #cast: Cast<Call>;
  readonly #limits: Limits;
  /** Every call that was admitted, in that order; an ended one keeps its place in it. */
  #ledger: Map<string, Call | EndedCall> | undefined;
  /** The calls that are not yet released, in order of admission. */
  #open: Map<string, Call> | undefined;
  #admitted = 0;
  #refusedPublishing = 0;
  #placesHeld = 0;
  #queued = 0;
  // of the step at hand
  #room = 0;
  #lent = 0;
  #placesTaken = 0;
  #asked: Asked<Call>[] = nothingAsked;
  #step: Occurrence<Call> | undefined;

  constructor(cast: Cast<Call>, limits: Limits) {
    this.#cast = cast;
    this.#limits = limits;
  }

  /** What the session's first snapshot asks for. */
  begin(): readonly Asked<Call>[] {
    return sessionStepper.initial(undefined as never).effects.map((effect) => asked<Call>(effect, undefined));
  }

  /** The open calls, in order of admission. */
  get open(): Iterable<Call> {
    return this.#open?.values() ?? [];
  }

  hasOpen(): boolean {
    return this.#open !== undefined && this.#open.size > 0;
  }

  /** What is known of a call, open or ended. */
  find(id: string): Call | EndedCall | undefined {
    return this.#ledger?.get(id);
  }

  /** Every call that was admitted, in that order, and where it stands. */
  *calls(): Iterable<{ readonly id: string; readonly name: string; readonly state: CallStateName }> {
    if (this.#ledger === undefined) return;
    for (const call of this.#ledger.values()) yield { id: call.id, name: call.name, state: stateOf(call) };
  }

  /** How many of the places that it was lent the last step could take. */
  get placesLent(): number {
    return this.#lent;
  }

  /** How many of the places that were lent for it the last step has taken. */
  get placesTaken(): number {
    return this.#placesTaken;
  }

  /** How many calls hold a place. */
  get placesHeld(): number {
    return this.#placesHeld;
  }

  /** How many more would be given one, if the pool lent it. */
  get placesWanted(): number {
    return Math.min(this.#queued, this.#limits.maxConcurrentTools - this.#placesHeld);
  }

  /** What it knows between steps, beside the calls themselves. For whoever holds many states of one session; see {@link resume}. */
  get counts(): Counts {
    const [admitted, refusedPublishing] = [this.#admitted, this.#refusedPublishing];
    return { admitted, refusedPublishing, placesHeld: this.#placesHeld, queued: this.#queued };
  }

  /** Stands from now on where another one stood: `calls` are those that were admitted, in that order, the ended ones as what is kept of them. */
  resume(calls: Iterable<Call | EndedCall>, counts: Counts): void {
    this.#ledger = new Map();
    this.#open = new Map();
    for (const call of calls) {
      this.#ledger.set(call.id, call);
      if ('snapshot' in call) this.#open.set(call.id, call);
    }
    this.#admitted = counts.admitted;
    this.#refusedPublishing = counts.refusedPublishing;
    this.#placesHeld = counts.placesHeld;
    this.#queued = counts.queued;
  }

  /**
   * One step. `room` is how many reports the host's buffer takes now (`Infinity`
   * while the host reads), `unreadAudio` how many of those that wait in it are
   * audio. `places`: where the session shares a pool, how many places that
   * lends it for this step, beside those that it holds. Gives what to perform,
   * in order.
   */
  take(
    occurrence: Occurrence<Call>,
    room: number,
    unreadAudio: number,
    places: number = anyPlaces,
  ): readonly Asked<Call>[] {
    this.#asked = [];
    this.#room = room;
    this.#lent = places;
    this.#placesTaken = 0;
    this.#step = occurrence;
    if (occurrence.at === 'session') {
      this.#takeAtSession(occurrence, unreadAudio);
      this.#givePlaces();
    } else if (isReleased(occurrence.call.snapshot)) {
      // it moves nobody: a place that a pool has lent is given when that is told, by a step that is about it
      this.#lent = 0;
      this.#stepCall(occurrence.call, occurrence.type);
    } else {
      this.#stepCall(occurrence.call, occurrence.type);
      this.#givePlaces();
    }
    const asked = this.#asked;
    // a step is over when it was taken: nothing of it is kept
    this.#step = undefined;
    this.#asked = nothingAsked;
    return asked;
  }

  #takeAtSession(occurrence: Extract<Occurrence<Call>, { at: 'session' }>, unreadAudio: number): void {
    const { type } = occurrence;
    if (this.#cast.session.status !== 'active') {
      this.#afterTheEnd(type);
      return;
    }
    if (!this.#isOpen) {
      this.#stepSession(type);
      return;
    }
    if (type === 'tool_call') {
      const repeat = this.#repeatOf(occurrence.candidate);
      if (repeat !== undefined) {
        this.#stepSession('repeated_call', repeat);
        return;
      }
      if ((this.#ledger?.size ?? 0) >= maxIds) {
        this.#overflow(`more than ${maxIds} calls in one session`, 1);
        return;
      }
    }
    if (type === 'interrupted' && unreadAudio > 0 && this.#limits.dropUnreadAudio) {
      this.#ask('dropUnreadAudio', undefined);
      this.#room += unreadAudio;
    }
    if (this.#room <= 0 && takesPlace.has(type)) {
      this.#overflow('the host reads too slowly: its buffer of events is full', 1);
      return;
    }
    this.#stepSession(type);
  }

  /** The session's machine has stopped; what can still come is decided here. */
  #afterTheEnd(type: SessionEventType): void {
    if (type === 'host_act') this.#ask('refuseAct', undefined);
    // a connection that comes after a connect timeout is closed once (D10)
    else if (type === 'connected') this.#ask('closeDriver', undefined);
  }

  #repeatOf({ id, name, digest }: Candidate): string | undefined {
    const known = this.#ledger?.get(id);
    if (known === undefined) return undefined;
    const kind = known.name === name && known.digest === digest ? 'identical' : 'conflicting';
    return `tool_call repeats the id ${id} (${kind})`;
  }

  #stepSession(type: SessionEventType, detail?: string): void {
    const { snapshot, effects } = sessionStepper.step(this.#cast.session, type);
    this.#cast.advanceSession(type, snapshot, this.#asked.length);
    for (const effect of effects) {
      switch (effect.type) {
        case 'deliver':
          this.#room--;
          this.#ask('deliver', undefined);
          break;
        case 'admitCall':
          this.#admit();
          break;
        case 'interruptCalls':
          this.#eachOpen('interrupted');
          break;
        case 'withdrawCalls':
          this.#withdraw();
          break;
        case 'fence':
          for (const call of this.open) this.#stepCall(call, 'session_ended');
          break;
        case 'performAct':
          this.#performAct();
          break;
        default:
          this.#asked.push(asked<Call>(effect, undefined, detail));
      }
    }
  }

  #admit(): void {
    const step = this.#step;
    if (step?.at !== 'session' || step.type !== 'tool_call') return;
    const { candidate } = step;
    const refused = this.#admitted >= this.#limits.maxOpenCalls;
    const call = this.#cast.admit(candidate, refused, this.#asked.length);
    this.#ledger ??= new Map();
    this.#open ??= new Map();
    this.#ledger.set(call.id, call);
    this.#open.set(call.id, call);
    if (!refused) this.#admitted++;
    this.#room--;
    const { effects } = callStepper.initial(candidate.rules);
    this.#ask('callChanged', call, { from: null, to: 'admitted' });
    for (const effect of effects) this.#asked.push(asked(effect, call));
  }

  /** Sends one event to every open call; stops where the session ends on the way. */
  #eachOpen(type: CallEventType): void {
    for (const call of this.open) {
      if (!this.#isOpen) return;
      this.#stepCall(call, type);
    }
  }

  #withdraw(): void {
    const step = this.#step;
    if (step?.at !== 'session' || step.type !== 'tool_call_cancelled') return;
    const ids = new Set(step.ids);
    for (const call of this.open) {
      if (!this.#isOpen) return;
      if (ids.has(call.id)) this.#stepCall(call, 'withdrawn');
    }
  }

  #performAct(): void {
    const step = this.#step;
    if (step?.at !== 'session' || step.type !== 'host_act') return;
    const { act } = step;
    if (act.type !== 'approve' && act.type !== 'deny') {
      this.#ask('performAct', undefined);
      return;
    }
    const call = this.#open?.get(act.id);
    if (call === undefined || callStateOf(call.snapshot) !== 'awaiting_approval') {
      const known = call ?? this.#ledger?.get(act.id);
      this.#asked.push({
        type: 'refuseAct',
        params: undefined,
        call: undefined,
        detail: known === undefined ? 'no such call' : stateOf(known),
      });
      return;
    }
    this.#asked.push({ type: 'performAct', params: undefined, call, detail: undefined });
    this.#stepCall(call, act.type === 'approve' ? 'approved' : 'denied');
  }

  #stepCall(call: Call, type: CallEventType): void {
    const from = callStateOf(call.snapshot);
    if (isReleased(call.snapshot)) {
      // code of a call whose outcome was decided without it
      if (type === 'code_resolved' || type === 'code_rejected') this.#ask('tellLate', call);
      return;
    }
    const { snapshot, effects } = callStepper.step(call.snapshot, type);
    const unreported = this.#room <= 0 && reportsSomething(effects);
    if (unreported && !isAnswer(type)) {
      this.#overflow('the host reads too slowly: its buffer of events is full', 1);
      return;
    }
    this.#cast.advanceCall(call, type, snapshot, this.#asked.length);
    const to = callStateOf(snapshot);
    if (from !== to) this.#count(call, from, to);
    for (const effect of effects) {
      if (reports.has(effect.type)) {
        if (unreported) continue;
        this.#room--;
      }
      this.#asked.push(asked(effect, call));
    }
    if (from !== to) this.#ask('callChanged', call, { from, to });
    if (isReleased(snapshot)) this.#release(call, to);
    if (unreported) this.#overflow('the host reads too slowly: its buffer of events is full', 1);
    else if (
      call.refused &&
      to === 'publishing' &&
      from !== to &&
      this.#refusedPublishing >= this.#limits.maxOpenCalls
    ) {
      this.#overflow(
        `${this.#refusedPublishing} calls beyond the ${this.#limits.maxOpenCalls} open ones wait for the far side`,
        0,
      );
    }
  }

  #count(call: Call, from: CallStateName, to: CallStateName): void {
    if (holdsPlace(from)) this.#placesHeld--;
    if (holdsPlace(to)) this.#placesHeld++;
    if (from === 'queued') this.#queued--;
    if (to === 'queued') this.#queued++;
    if (!call.refused) return;
    if (from === 'publishing') this.#refusedPublishing--;
    if (to === 'publishing') this.#refusedPublishing++;
  }

  #release(call: Call, state: CallStateName): void {
    this.#open?.delete(call.id);
    this.#ledger?.set(call.id, { id: call.id, name: call.name, digest: call.digest, state });
    if (!call.refused) this.#admitted--;
    this.#cast.release(call);
  }

  #givePlaces(): void {
    // mostly nobody waits: that is asked first
    while (this.#queued > 0 && this.placesWanted > 0 && this.#placesTaken < this.#lent && this.#isOpen) {
      this.#placesTaken++;
      for (const call of this.open) {
        if (callStateOf(call.snapshot) === 'queued') {
          this.#stepCall(call, 'placed');
          break;
        }
      }
    }
  }

  #overflow(detail: string, dropped: number): void {
    if (!this.#isOpen) return;
    this.#ask('noteOverflow', undefined, dropped);
    this.#stepSession('overflow', detail);
  }

  get #isOpen(): boolean {
    return typeof this.#cast.session.value !== 'string';
  }

  #ask(type: string, call: Call | undefined, params?: unknown): void {
    this.#asked.push({ type, params, call, detail: undefined });
  }
}

function asked<Call extends CallEntry>(effect: Effect, call: Call | undefined, detail?: string): Asked<Call> {
  return { type: effect.type, params: effect.params, call, detail };
}

function stateOf(call: CallEntry | EndedCall): CallStateName {
  return 'snapshot' in call ? callStateOf(call.snapshot) : call.state;
}

/** The far side's answer to a result, or its absence: a fact that stands whether or not the host can be told. */
function isAnswer(type: CallEventType): boolean {
  return type === 'publish_accepted' || type === 'publish_rejected' || type === 'publish_timed_out';
}

function isReleased(snapshot: CallSnapshot): boolean {
  const { value } = snapshot;
  return snapshot.status !== 'active' || (typeof value !== 'string' && value.abandoned === 'settled');
}
