/**
 * A session that lives: takes what happens, one step at a time, and performs
 * what the coordination asks for. It adds promises, timers, the driver and the
 * delivery buffer, and decides nothing.
 *
 * Invariants kept here:
 *
 * R1. One step at a time. What comes while a step runs (an answer given
 *     synchronously, an act of the host in a subscriber) is taken when the step
 *     is complete, in the order in which it came (§5, *Steps*).
 * R2. Everything is performed after all states of the step are set, each piece
 *     inside a guard: a throw in host code or in a driver harms nobody.
 * R3. Handling a far-side event awaits nothing (D8).
 * R4. After the end no timer, no listener and no pending promise of ours is
 *     left (D14).
 */
import type { Observable } from 'rxjs';
import {
  type Asked,
  type CallEventType,
  type Candidate,
  type Cast,
  Coordination,
  type Occurrence,
  type SessionEventType,
  type SessionSnapshot,
  sessionStepper,
} from '../../machines/index.js';
import {
  CallNotWaitingError,
  ConnectAbortedError,
  ConnectTimeoutError,
  messageOf,
  NotSupportedError,
  SessionCloseTimeoutError,
  SessionEndedError,
} from '../contract/errors.js';
import type { InspectionObserver } from '../contract/inspector.js';
import type { CallReport, CloseReason, CloseReport, DiagnosticCode, LifecycleEvent } from '../contract/lifecycle.js';
import type { BidiEvent, BidiSession } from '../contract/provider.js';
import type { SessionTap, TappedNote } from '../contract/session-tap.js';
import { digestOf } from '../journal/digest.js';
import { addAbortListener, removeAbortListener } from './abort-listeners.js';
import type { Above, StartAnswer } from './above.js';
import { ActorSystem, type ActorWatch, SessionActor } from './actors.js';
import { errorResult } from './arguments.js';
import { Call } from './call.js';
import { performForCall } from './call-effects.js';
import { rulesOf } from './call-rules.js';
import { Delivery } from './delivery.js';
import { closeDriver, connect, performAct } from './driver-calls.js';
import { outputOf, plainReportOf, readFarEvent } from './far-event.js';
import { type FarReader, FarStream } from './far-stream.js';
import { deliversOnly, flowing } from './flowing.js';
import { type PendingAct, PendingActs } from './host-acts.js';
import { Lifecycle } from './lifecycle.js';
import type { SessionSettings } from './options.js';
import type { Lease, PlacePool } from './place-pool.js';
import { reportEnd, reportFarEvent } from './reports.js';
import { SessionEnd } from './session-end.js';
import type { Input, Payload, PlainSessionEvent, SessionLife } from './session-life.js';
import { SessionRecorder } from './session-recorder.js';
import { Taps } from './taps.js';

const nothing: Payload = {};
/** What a far-side event asks for that is only delivered. */
const aDelivery: readonly Asked<Call>[] = [{ type: 'deliver', params: undefined, call: undefined, detail: undefined }];
/** Before the first step. */
const beginning: Input = { occurrence: { at: 'session', type: 'connected' }, payload: nothing };

export class SessionRuntime implements SessionLife, Cast<Call>, ActorWatch, FarReader {
  readonly settings: SessionSettings;
  readonly actor: SessionActor;
  readonly delivery: Delivery;
  readonly #recorder: SessionRecorder | undefined;
  readonly acts = new PendingActs();
  readonly #system: ActorSystem;
  readonly #coordination: Coordination<Call>;
  /** Of the pool that the session shares, where it does. */
  readonly #lease: Lease | undefined;
  #driver: BidiSession | undefined;
  #stream: FarStream | undefined;
  #isStepping = false;
  /** The step at hand. */
  #at: Input = beginning;
  #waiting: Input[] | undefined;
  /** Of the connect or of the close; one at a time. */
  #timer: unknown;
  #lifetime: AbortController | undefined;
  #stopListening: (() => void) | undefined;
  #start: StartAnswer | undefined;
  #end: SessionEnd | undefined;
  #lifecycle: Lifecycle | undefined;
  #taps: Taps | undefined;

  readonly #above: Above | undefined;

  /** `pool`: where its calls get their places, beside the limit of its own. `above`: who it belongs to, beside the host. */
  constructor(settings: SessionSettings, inspect?: InspectionObserver, pool?: PlacePool, above?: Above) {
    this.settings = settings;
    this.#above = above;
    this.#system = new ActorSystem(this, above?.system);
    if (inspect !== undefined) this.#system.inspect(inspect);
    this.actor = SessionActor.create(this.#system, settings.sessionId);
    this.actor.start();
    const { journal, limits } = settings;
    this.#recorder =
      journal && new SessionRecorder(journal, settings, (error) => this.happens('flush_failed', { error }), pool);
    this.#lease = pool?.join(() => this.happens('places_lent'));
    this.delivery =
      above === undefined
        ? new Delivery(settings, limits.maxBufferedEvents, this, this.#recorder)
        : above.makeDelivery(settings, this.#recorder);
    this.#coordination = new Coordination(this, limits);
  }

  /** What is asked of it is taken when it begins. */
  hold(): void {
    this.#isStepping = true;
  }

  /** Connects. Settles as `startSession` does. */
  start(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => this.begin(signal, { resolve, reject }));
  }

  /** Connects, and tells how that ended. */
  begin(signal: AbortSignal | undefined, answer: StartAnswer): void {
    this.#start = answer;
    if (signal !== undefined) this.#listenTo(signal);
    this.#isStepping = true;
    const asked = this.#coordination.begin();
    this.#recorder?.begin(this.session, asked);
    this.#performAll(asked, beginning);
    this.#drain();
  }

  // ── what the host may ask ──

  act(act: PendingAct): void {
    this.#take({ at: 'session', type: 'host_act', act }, { act });
  }

  close(resolve: () => void, reject: (error: unknown) => void): void {
    if (this.#end?.report !== undefined) {
      resolve();
      return;
    }
    this.end.await({ resolve, reject });
    this.happens('host_close');
  }

  get closed(): Promise<CloseReport> {
    return this.end.closed;
  }

  get lifecycle$(): Observable<LifecycleEvent> {
    if (this.#lifecycle === undefined) {
      this.#lifecycle = new Lifecycle((thrown) => this.threw(thrown));
      if (this.#end?.report !== undefined) this.#lifecycle.complete();
    }
    return this.#lifecycle.events$;
  }

  calls(): CallReport[] {
    return [...(this.#end?.report?.calls ?? this.#coordination.calls())];
  }

  /** Tells an observer what lives: the session and its calls. */
  announce(observer: InspectionObserver): void {
    const calls = [...this.#coordination.open].map((call) => call.actor);
    this.#system.announce(observer, [this.actor as never, ...(calls as never[])]);
  }

  inspect(observer: InspectionObserver): () => void {
    this.announce(observer);
    const attached = this.#system.inspect(observer);
    return () => attached.unsubscribe();
  }

  tap(tap: SessionTap): () => void {
    this.#taps ??= new Taps((thrown) => this.threw(thrown));
    const taps = this.#taps;
    // a tap that asks for no reports costs none
    if (tap.reported !== undefined) this.delivery.tap ??= (event) => taps.reported(event);
    const detach = taps.add(tap);
    const report = this.#end?.report;
    if (report !== undefined) taps.ended(report);
    return detach;
  }

  // ── what the coordination moves (Cast) ──

  get session(): SessionSnapshot {
    return this.actor.getSnapshot();
  }

  advanceSession(type: SessionEventType, next: SessionSnapshot, asked: number): void {
    this.#recorder?.log.session(type, this.session, next, asked);
    this.actor.step(type, next);
  }

  admit(candidate: Candidate, refused: boolean, asked: number): Call {
    const tool = this.settings.tools.get(candidate.name);
    const call = new Call(this.actor, candidate, refused, tool, this.#at.payload.arguments ?? '');
    this.#recorder?.log.admitted(call, call.snapshot, asked);
    return call;
  }

  advanceCall(call: Call, type: CallEventType, next: Call['snapshot'], asked: number): void {
    this.#recorder?.log.call(call, type, call.snapshot, next, asked);
    call.actor.step(type, next);
  }

  release(call: Call): void {
    call.actor.release();
  }

  // ── what host code does wrong (ActorWatch) ──

  threw(thrown: unknown): void {
    this.diagnose('host_callback_threw', messageOf(thrown));
  }

  foreign(actorId: string, eventType: string): void {
    this.diagnose('foreign_event', `actor ${actorId} was sent ${eventType} from outside; it was ignored`);
  }

  // ── what the driver's stream gives (FarReader) ──

  get isWithoutCalls(): boolean {
    return !this.#coordination.hasOpen();
  }

  read(value: unknown): void {
    if (!this.#takesFastLane(value)) this.#takesLongWay(value);
  }

  #takesLongWay(value: unknown): void {
    const reading = readFarEvent(value);
    if (!('event' in reading)) {
      this.happens(reading.type, { problem: reading.problem });
      return;
    }
    const { event } = reading;
    if (event.type === 'tool_call') {
      const candidate = this.#candidateOf(event);
      this.#take({ at: 'session', type: 'tool_call', candidate }, { event, arguments: event.arguments });
    } else if (event.type === 'tool_call_cancelled') {
      this.#take({ at: 'session', type: 'tool_call_cancelled', ids: event.ids }, { event });
    } else this.happens(event.type, { event });
  }

  streamEnded(): void {
    this.happens('stream_ended');
  }

  streamFailed(error: unknown): void {
    this.happens('stream_failed', { error });
  }

  /**
   * Where the machine asks for nothing but a delivery, and the host has room,
   * there is nothing to coordinate: the step is taken in one look
   * (`test/properties` hold it to the coordination). Output that changes
   * nothing is no step at all.
   */
  #takesFastLane(value: unknown): boolean {
    if (this.#isStepping) return false;
    if (this.session !== flowing || this.actor.isWatched) return this.#takesShortStep(value);
    const output = outputOf(value, this.settings);
    if (output === undefined) return this.#takesShortStep(value);
    if (this.delivery.room <= 0) return false;
    this.#recorder?.took(typeof output === 'string' ? 'text' : 'audio');
    this.#isStepping = true;
    this.delivery.push(output);
    if (this.#waiting === undefined) this.#isStepping = false;
    else this.#drain();
    return true;
  }

  /** What moves the session alone, without a call. */
  #takesShortStep(value: unknown): boolean {
    const report = plainReportOf(value, this.settings);
    if (report === undefined) return false;
    const before = this.session;
    const { snapshot, effects } = sessionStepper.step(before, report.type);
    const { room } = this.delivery;
    if (!deliversOnly(effects) || room <= 0) return false;
    this.advanceSession(report.type, snapshot, 0);
    // nobody is given a place here, whatever there is
    if (this.#lease !== undefined && this.#coordination.placesWanted > 0) this.#recorder?.lent(0);
    this.#recorder?.step({ at: 'session', type: report.type }, room, 0, before, aDelivery, { event: report });
    this.#isStepping = true;
    this.delivery.push(report.type === 'text' ? report.text : report);
    this.#drain();
    return true;
  }

  #candidateOf({ id, name, arguments: args }: Extract<BidiEvent, { type: 'tool_call' }>): Candidate {
    const { tools, journal } = this.settings;
    const rules = rulesOf(tools.get(name), journal?.durable === true);
    return { id, name, digest: digestOf(args), rules };
  }

  // ── steps ──

  happens(type: PlainSessionEvent, payload = nothing): void {
    this.#take({ at: 'session', type }, payload);
  }

  callHappens(call: Call, type: CallEventType, payload = nothing): void {
    this.#take({ at: 'call', type, call }, payload);
  }

  #take(occurrence: Occurrence<Call>, payload: Payload): void {
    const input: Input = { occurrence, payload };
    if (this.#isStepping) {
      this.#waiting ??= [];
      this.#waiting.push(input);
      return;
    }
    this.#isStepping = true;
    this.#step(input);
    this.#drain();
  }

  #drain(): void {
    for (let next = 0; this.#waiting !== undefined; ) {
      const input = this.#waiting[next++];
      if (input === undefined) {
        this.#waiting = undefined;
        break;
      }
      this.#step(input);
      if (next > 1000) {
        // a long chain of synchronous answers keeps no memory of those that were taken
        this.#waiting.splice(0, next);
        next = 0;
      }
    }
    // what the last step was about is not kept
    this.#at = beginning;
    this.#isStepping = false;
  }

  #step(input: Input): void {
    this.#at = input;
    const { occurrence, payload } = input;
    this.#keep(occurrence, payload);
    const { room, unreadAudio } = this.delivery;
    const asked =
      this.#lease === undefined
        ? this.#coordination.take(occurrence, room, unreadAudio)
        : this.#takeWithPool(this.#lease, occurrence, room, unreadAudio);
    this.#recorder?.step(occurrence, room, unreadAudio, this.session, asked, payload);
    this.#performAll(asked, input);
  }

  #takeWithPool(lease: Lease, occurrence: Occurrence<Call>, room: number, unreadAudio: number): readonly Asked<Call>[] {
    const { places } = lease;
    const coordination = this.#coordination;
    const asked = coordination.take(occurrence, room, unreadAudio, places);
    const { placesWanted } = coordination;
    // before anything is recorded or performed: whatever that leads to finds the pool as it is
    lease.settle(coordination.placesTaken, coordination.placesHeld, placesWanted);
    // where nobody wants more, a replay comes to the same with any number
    if (placesWanted > 0) this.#recorder?.lent(coordination.placesLent);
    return asked;
  }

  /** Puts a payload where the effects of the step will look for it. */
  #keep(occurrence: Occurrence<Call>, payload: Payload): void {
    if (occurrence.at === 'session') {
      if (payload.driver !== undefined) this.#driver = payload.driver;
      if (payload.act?.type === 'deny') this.#keepDenial(payload.act.id, payload.act.message);
      return;
    }
    const { call, type } = occurrence;
    if (type === 'code_resolved' || type === 'code_rejected') call.codeRuns = false;
    if (payload.late !== undefined) call.late = payload.late;
    if (payload.input !== undefined) call.input = payload.input.value;
    if (payload.result !== undefined && call.takesResult) call.result = payload.result;
  }

  #keepDenial(id: string, message: string): void {
    const call = this.#coordination.find(id);
    if (call instanceof Call && call.state === 'awaiting_approval') call.result = errorResult(message);
  }

  #performAll(effects: readonly Asked<Call>[], { payload }: Input): void {
    for (const effect of effects) {
      try {
        if (effect.call === undefined) this.#perform(effect, payload);
        else performForCall(this, effect.call, effect, payload);
      } catch (thrown) {
        this.threw(thrown);
      }
    }
  }

  #perform(effect: Asked<Call>, payload: Payload): void {
    const { limits } = this.settings;
    switch (effect.type) {
      case 'deliver':
        reportFarEvent(this, payload.event as BidiEvent);
        break;
      case 'connectDriver':
        connect(this, () => this.#lifetimeSignal);
        break;
      case 'armConnectTimeout':
        this.#arm(limits.connectTimeoutMs, 'connect_timed_out');
        break;
      case 'armCloseTimeout':
        this.#arm(limits.closeTimeoutMs, 'close_timed_out');
        break;
      case 'disarmConnectTimeout':
      case 'disarmCloseTimeout':
        this.#disarm();
        break;
      case 'readEvents':
        this.#stream = new FarStream(this, this.driver);
        break;
      case 'resolveStart':
        this.#start?.resolve();
        this.#start = undefined;
        break;
      case 'refuseStart':
        this.#refuseStart(payload);
        break;
      case 'resolveInterrupts':
        this.acts.resolveInterrupts();
        break;
      case 'note':
        this.note(payload.event as LifecycleEvent);
        break;
      case 'diagnose':
        this.#diagnoseReading(payload.problem ?? '');
        break;
      case 'performAct':
        performAct(this, payload.act as PendingAct);
        this.#tellOfAct(payload.act as PendingAct);
        break;
      case 'refuseAct':
        this.#refuseAct(payload.act as PendingAct, effect.detail);
        break;
      case 'dropUnreadAudio':
        this.note({ type: 'overflow', dropped: this.delivery.dropAudio() });
        break;
      case 'noteOverflow':
        this.note({ type: 'overflow', dropped: effect.params as number });
        break;
      case 'reportEnd':
        reportEnd(this, payload, effect.detail);
        break;
      case 'discardUnread':
        this.end.abortReason = payload.error;
        this.delivery.discard();
        this.delivery.end();
        break;
      case 'abortLifetime':
        this.#lifetime?.abort(this.endError);
        this.#stream?.stop();
        break;
      case 'closeDriver':
        closeDriver(this);
        break;
      case 'refusePending':
        this.#refusePending();
        break;
      case 'resolveClosed':
        this.#resolveClosed();
        break;
    }
  }

  // ── beginning and end ──

  get driver(): BidiSession {
    return this.#driver as BidiSession;
  }

  get end(): SessionEnd {
    this.#end ??= new SessionEnd();
    return this.#end;
  }

  get endError(): unknown {
    const { reason } = this.session.context;
    return reason === 'aborted' ? this.end.abortReason : new SessionEndedError(reason);
  }

  get #lifetimeSignal(): AbortSignal {
    if (this.#lifetime === undefined) {
      this.#lifetime = new AbortController();
      if (this.session.context.reason !== 'none') this.#lifetime.abort(this.endError);
    }
    return this.#lifetime.signal;
  }

  #refuseStart({ error }: Payload): void {
    const refused = this.#startError(error);
    this.delivery.end();
    this.#start?.reject(refused);
    this.#start = undefined;
  }

  #startError(error: unknown): unknown {
    switch (this.#at.occurrence.type) {
      case 'host_close':
        return new ConnectAbortedError();
      case 'host_abort':
        this.end.abortReason = error;
        return error;
      case 'connect_timed_out': {
        const timedOut = new ConnectTimeoutError(this.settings.limits.connectTimeoutMs);
        this.end.message = timedOut.message;
        return timedOut;
      }
      default:
        this.end.message = messageOf(error);
        return error;
    }
  }

  #refuseAct(act: PendingAct, found: string | undefined): void {
    if (found !== undefined && (act.type === 'approve' || act.type === 'deny')) {
      act.reject(new CallNotWaitingError(act.id, found));
    } else if (this.session.context.reason === 'none') {
      act.reject(new NotSupportedError(`${act.type}()`, 'a session that is still connecting'));
    } else act.reject(this.endError);
  }

  #refusePending(): void {
    if (this.#at.occurrence.type === 'close_timed_out') {
      this.end.closeFailure = { error: new SessionCloseTimeoutError(this.settings.limits.closeTimeoutMs) };
    }
    this.acts.rejectAll(this.endError);
    this.end.answerClosers();
  }

  #resolveClosed(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
    const reason = this.session.context.reason as CloseReason;
    const calls: CallReport[] = [...this.#coordination.calls()];
    const { message } = this.end;
    const report: CloseReport = message === undefined ? { reason, calls } : { reason, message, calls };
    this.end.resolve(report);
    this.#lifecycle?.complete();
    this.#taps?.ended(report);
    this.#above?.ended(report);
  }

  // ── what goes on beside the conversation ──

  get isNoted(): boolean {
    const somebodyLooks = this.#lifecycle?.observed === true || (this.#taps !== undefined && this.#taps.size > 0);
    return somebodyLooks && this.#end?.report === undefined;
  }

  note(event: LifecycleEvent, tapped: TappedNote = event): void {
    if (!this.isNoted) return;
    this.#taps?.noted(tapped);
    this.#lifecycle?.next(event);
  }

  #tellOfAct(act: PendingAct): void {
    if (act.type === 'approve' || act.type === 'deny') return;
    this.#taps?.acted(act);
  }

  diagnose(code: DiagnosticCode, detail: string): void {
    this.note({ type: 'diagnostic', code, detail });
  }

  #diagnoseReading(problem: string): void {
    this.diagnose(this.#at.occurrence.type === 'unknown' ? 'unknown_event' : 'malformed_event', problem);
  }

  // ── timers and listeners ──

  #arm(ms: number, type: 'connect_timed_out' | 'close_timed_out'): void {
    if (ms === 0) return;
    this.#timer = this.settings.clock.setTimeout(() => this.happens(type), ms);
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.settings.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #listenTo(signal: AbortSignal): void {
    const onAbort = () => this.happens('host_abort', { error: signal.reason });
    addAbortListener(signal, onAbort);
    this.#stopListening = () => removeAbortListener(signal, onAbort);
  }
}
