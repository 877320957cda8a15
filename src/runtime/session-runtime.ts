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
  type AbortCause,
  type Asked,
  type CallChange,
  type CallEventType,
  type Candidate,
  type Cast,
  Coordination,
  type Effect,
  type Occurrence,
  type SessionEventType,
  type SessionSnapshot,
  sessionStepper,
} from '../../machines/index.js';
import {
  CallInterruptedError,
  CallNotWaitingError,
  CallTimeoutError,
  CallWithdrawnError,
  ConnectAbortedError,
  ConnectTimeoutError,
  DriverContractError,
  messageOf,
  NotSupportedError,
  SessionCloseTimeoutError,
  SessionEndedError,
} from '../contract/errors.js';
import type { InspectionObserver } from '../contract/inspector.js';
import type { IntentLog } from '../contract/journal.js';
import type { CallReport, CloseReason, CloseReport, DiagnosticCode, LifecycleEvent } from '../contract/lifecycle.js';
import type { BidiConnectParams, BidiEvent, BidiSession } from '../contract/provider.js';
import type { LateOutcome, LLMToolSchema, Tool } from '../contract/tool.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';
import { ActorSystem, type ActorWatch, SessionActor } from './actors.js';
import { type CallResult, digestOf, errorResult, failureOf, parseArguments, resultOf } from './arguments.js';
import { adopted, attempt, isThenable } from './attempt.js';
import { Call } from './call.js';
import { Delivery } from './delivery.js';
import { plainReportOf, readFarEvent } from './far-event.js';
import { type PendingAct, PendingActs } from './host-acts.js';
import { observed } from './lifecycle.js';
import { Multicast } from './multicast.js';
import type { SessionSettings } from './options.js';

/** What came with an occurrence. */
interface Payload {
  readonly event?: BidiEvent;
  readonly problem?: string;
  readonly arguments?: string;
  readonly driver?: BidiSession;
  readonly error?: unknown;
  readonly act?: PendingAct;
  readonly result?: CallResult;
  readonly input?: { readonly value: unknown };
  readonly late?: LateOutcome;
}

interface Input {
  readonly occurrence: Occurrence<Call>;
  readonly payload: Payload;
}

const nothing: Payload = {};
/** How many turns of the microtask queue a reader is given to come back for the next event. */
const patience = 64;
/** Before the first step. */
const beginning: Input = { occurrence: { at: 'session', type: 'connected' }, payload: nothing };
export class SessionRuntime implements Cast<Call>, ActorWatch {
  readonly settings: SessionSettings;
  readonly actor: SessionActor;
  readonly delivery: Delivery;
  readonly #journal: IntentLog | undefined;
  readonly #system: ActorSystem;
  readonly #coordination: Coordination<Call>;
  readonly #acts = new PendingActs();
  #driver: BidiSession | undefined;
  #iterator: AsyncIterator<BidiEvent> | undefined;
  #isStepping = false;
  #waiting: Input[] | undefined;
  #timer: unknown;
  #lifetime: AbortController | undefined;
  #hostSignal: AbortSignal | undefined;
  #onHostAbort: (() => void) | undefined;
  /** What the host aborted with, what the driver failed with, what the failure said. */
  #cause: unknown;
  #message: string | undefined;
  #closers: { resolve(): void; reject(error: unknown): void }[] | undefined;
  #closeFailure: { readonly error: unknown } | undefined;
  #start: { resolve(): void; reject(error: unknown): void } | undefined;
  #report: CloseReport | undefined;
  #closed: { promise: Promise<CloseReport>; resolve(report: CloseReport): void } | undefined;
  #lifecycle: Multicast<LifecycleEvent> | undefined;
  readonly #onRead = (result: IteratorResult<BidiEvent>): void => this.#read(result);
  readonly #onReadFailure = (error: unknown): void => this.#happens('stream_failed', { error });

  constructor(settings: SessionSettings, inspect?: InspectionObserver, journal?: IntentLog) {
    this.settings = settings;
    this.#journal = journal;
    this.#system = new ActorSystem(this);
    if (inspect !== undefined) this.#system.inspect(inspect);
    this.actor = SessionActor.create(this.#system, settings.sessionId);
    this.actor.start();
    this.delivery = new Delivery(settings.limits.maxBufferedEvents, (thrown) => this.threw(thrown));
    this.#coordination = new Coordination(this, settings.limits);
  }

  /** Connects. Settles as `startSession` does. */
  start(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#start = { resolve, reject };
      if (signal !== undefined) this.#listenTo(signal);
      this.#isStepping = true;
      this.#performAll(this.#coordination.begin(), beginning);
      this.#drain();
    });
  }

  // ── what the host may ask ──

  act(act: PendingAct): void {
    this.#take({ at: 'session', type: 'host_act', act }, { act });
  }

  close(resolve: () => void, reject: (error: unknown) => void): void {
    if (this.#report !== undefined) {
      resolve();
      return;
    }
    this.#closers ??= [];
    this.#closers.push({ resolve, reject });
    this.#happens('host_close');
  }

  get closed(): Promise<CloseReport> {
    if (this.#closed === undefined) {
      let resolve: (report: CloseReport) => void = () => {};
      const promise = new Promise<CloseReport>((settle) => {
        resolve = settle;
      });
      this.#closed = { promise, resolve };
      if (this.#report !== undefined) resolve(this.#report);
    }
    return this.#closed.promise;
  }

  get lifecycle$(): Observable<LifecycleEvent> {
    if (this.#lifecycle === undefined) {
      // what a subscriber's operators throw at its own end is nobody's to be told
      this.#lifecycle = new Multicast(() => {});
      if (this.#report !== undefined) this.#lifecycle.complete();
    }
    return observed(this.#lifecycle, (thrown) => this.threw(thrown));
  }

  calls(): CallReport[] {
    return this.#report !== undefined ? [...this.#report.calls] : [...this.#coordination.calls()];
  }

  inspect(observer: InspectionObserver): () => void {
    const calls = [...this.#coordination.open].map((call) => call.actor);
    this.#system.announce(observer, [this.actor as never, ...(calls as never[])]);
    const attached = this.#system.inspect(observer);
    return () => attached.unsubscribe();
  }

  // ── what the coordination moves (Cast) ──

  get session(): SessionSnapshot {
    return this.actor.getSnapshot();
  }

  advanceSession(type: SessionEventType, next: SessionSnapshot): void {
    this.actor.step(type, next);
  }

  admit(candidate: Candidate, refused: boolean): Call {
    const tool = this.settings.tools.get(candidate.name);
    return new Call(this.actor, candidate, refused, tool, this.#at.payload.arguments ?? '');
  }

  advanceCall(call: Call, type: CallEventType, next: Call['snapshot']): void {
    call.actor.step(type, next);
  }

  release(call: Call): void {
    call.actor.release();
  }

  // ── what host code does wrong (ActorWatch) ──

  threw(thrown: unknown): void {
    this.#diagnose('host_callback_threw', messageOf(thrown));
  }

  foreign(actorId: string, eventType: string): void {
    this.#diagnose('foreign_event', `actor ${actorId} was sent ${eventType} from outside; it was ignored`);
  }

  // ── steps ──

  /** The step at hand. */
  #at: Input = beginning;

  #happens(type: Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>, payload = nothing): void {
    this.#take({ at: 'session', type }, payload);
  }

  #callHappens(call: Call, type: CallEventType, payload = nothing): void {
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
    this.#isStepping = false;
  }

  #step(input: Input): void {
    this.#at = input;
    const { occurrence, payload } = input;
    this.#keep(occurrence, payload);
    this.#performAll(this.#coordination.take(occurrence, this.delivery.room, this.delivery.unreadAudio), input);
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
    if (payload.result !== undefined && takesResult.has(call.state)) call.result = payload.result;
  }

  #keepDenial(id: string, message: string): void {
    const call = this.#coordination.find(id);
    if (call instanceof Call && call.state === 'awaiting_approval') call.result = errorResult(message);
  }

  #performAll(effects: readonly Asked<Call>[], input: Input): void {
    for (const effect of effects) {
      try {
        if (effect.call === undefined) this.#perform(effect, input.payload);
        else this.#performFor(effect.call, effect, input);
      } catch (thrown) {
        this.threw(thrown);
      }
    }
  }

  // ── effects of the session ──

  #perform(effect: Asked<Call>, payload: Payload): void {
    const { limits } = this.settings;
    switch (effect.type) {
      case 'deliver':
        this.#deliver(payload.event as BidiEvent);
        break;
      case 'connectDriver':
        this.#connect();
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
        this.#readEvents();
        break;
      case 'resolveStart':
        this.#start?.resolve();
        this.#start = undefined;
        break;
      case 'refuseStart':
        this.#refuseStart(payload);
        break;
      case 'resolveInterrupts':
        this.#acts.resolveInterrupts();
        break;
      case 'note':
        this.#note(payload.event as LifecycleEvent);
        break;
      case 'diagnose':
        this.#diagnoseReading(payload.problem ?? '');
        break;
      case 'performAct':
        this.#performAct(payload.act as PendingAct);
        break;
      case 'refuseAct':
        this.#refuseAct(payload.act as PendingAct, effect.detail);
        break;
      case 'dropUnreadAudio':
        this.#note({ type: 'overflow', dropped: this.delivery.dropAudio() });
        break;
      case 'noteOverflow':
        this.#note({ type: 'overflow', dropped: effect.params as number });
        break;
      case 'reportEnd':
        this.#reportEnd(payload, effect.detail);
        break;
      case 'discardUnread':
        this.#cause = payload.error;
        this.delivery.discard();
        this.delivery.end();
        break;
      case 'abortLifetime':
        this.#cause ??= payload.error;
        this.#lifetime?.abort(this.#endError);
        this.#stopReading();
        break;
      case 'closeDriver':
        this.#closeDriver();
        break;
      case 'refusePending':
        this.#refusePending();
        break;
      case 'resolveClosed':
        this.#resolveClosed();
        break;
    }
  }

  #connect(): void {
    const { provider, connect, tools } = this.settings;
    const lifetime = () => this.#lifetimeSignal;
    const params: BidiConnectParams = Object.defineProperty(
      tools.size === 0 ? { ...connect } : { ...connect, tools: schemasOf(tools) },
      'signal',
      // made when a driver asks for it
      { get: lifetime, enumerable: true, configurable: true },
    );
    attempt(
      () => provider.connect(params),
      (driver) => {
        const problem = driverProblem(driver);
        if (problem === undefined) this.#happens('connected', { driver: driver as BidiSession });
        else this.#happens('connect_rejected', { error: new DriverContractError(problem, driver) });
      },
      (error) => this.#happens('connect_rejected', { error }),
    );
  }

  get #lifetimeSignal(): AbortSignal {
    if (this.#lifetime === undefined) {
      this.#lifetime = new AbortController();
      if (this.session.context.reason !== 'none') this.#lifetime.abort(this.#endError);
    }
    return this.#lifetime.signal;
  }

  #refuseStart(payload: Payload): void {
    const start = this.#start;
    this.#start = undefined;
    const { type } = this.#at.occurrence;
    if (type === 'host_close') start?.reject(new ConnectAbortedError());
    else if (type === 'connect_timed_out') {
      const error = new ConnectTimeoutError(this.settings.limits.connectTimeoutMs);
      this.#message = error.message;
      start?.reject(error);
    } else {
      if (type === 'connect_rejected') this.#message = messageOf(payload.error);
      start?.reject(payload.error);
    }
    this.delivery.end();
  }

  #readEvents(): void {
    try {
      this.#iterator = (this.#driver as BidiSession).events()[Symbol.asyncIterator]();
    } catch (error) {
      this.#happens('stream_failed', { error });
      return;
    }
    this.#pull();
  }

  #pull(): void {
    let next: unknown;
    try {
      next = (this.#iterator as AsyncIterator<BidiEvent>).next();
    } catch (error) {
      this.#happens('stream_failed', { error });
      return;
    }
    adopted(next as Promise<IteratorResult<BidiEvent>>).then(this.#onRead, this.#onReadFailure);
  }

  #read(result: IteratorResult<BidiEvent>): void {
    if (this.#iterator === undefined) return;
    if (typeof result !== 'object' || result === null) {
      this.#happens('stream_failed', { error: new DriverContractError('an iterator result', result) });
      return;
    }
    let isDone: boolean;
    let value: unknown;
    try {
      isDone = Boolean(result.done);
      if (!isDone) value = result.value;
    } catch (error) {
      this.#happens('stream_failed', { error });
      return;
    }
    if (isDone) {
      this.#happens('stream_ended');
      return;
    }
    this.#far(value);
    this.#pullWithRoom(patience);
  }

  /**
   * Asks for the next event, at once where the buffer has room. Where it has
   * none, a reader that is on its way back to the loop gets there first: only
   * one that is busy elsewhere, or has gone, reads too slowly.
   */
  #pullWithRoom(turns: number): void {
    if (this.#iterator === undefined) return;
    if (turns === 0 || this.delivery.room > 0) this.#pull();
    else Promise.resolve().then(() => this.#pullWithRoom(turns - 1));
  }

  #far(value: unknown): void {
    if (this.#takesFastLane(value)) return;
    const reading = readFarEvent(value);
    if (!('event' in reading)) {
      this.#happens(reading.type, { problem: reading.problem });
      return;
    }
    const { event } = reading;
    if (event.type === 'tool_call') {
      this.#take(
        { at: 'session', type: 'tool_call', candidate: this.#candidateOf(event) },
        { event, arguments: event.arguments },
      );
    } else if (event.type === 'tool_call_cancelled') {
      this.#take({ at: 'session', type: 'tool_call_cancelled', ids: event.ids }, { event });
    } else this.#take({ at: 'session', type: event.type }, { event });
  }

  /**
   * Where the machine asks for nothing but a delivery, and the host has room,
   * there is nothing to coordinate: the step is taken in one look
   * (`test/properties` hold it to the coordination).
   */
  #takesFastLane(value: unknown): boolean {
    if (this.#isStepping) return false;
    const report = plainReportOf(value, this.settings);
    if (report === undefined) return false;
    const { snapshot, effects } = sessionStepper.step(this.session, report.type);
    if (!deliversOnly(effects) || this.delivery.room <= 0) return false;
    this.#isStepping = true;
    this.advanceSession(report.type, snapshot);
    this.delivery.push(report);
    this.#drain();
    return true;
  }

  #candidateOf({ id, name, arguments: args }: Extract<BidiEvent, { type: 'tool_call' }>): Candidate {
    const tool = this.settings.tools.get(name);
    const durable = this.#journal?.durable === true;
    return {
      id,
      name,
      digest: digestOf(args),
      rules: {
        policy: tool?.onInterruption ?? 'abandon',
        writeStart: durable && tool?.effect !== 'read',
        writePublish: durable,
      },
    };
  }

  #deliver(event: BidiEvent): void {
    const { sessionId, turnId } = this.settings;
    switch (event.type) {
      case 'text':
        this.delivery.push({ type: 'text', sessionId, turnId, text: event.text });
        break;
      case 'audio':
        this.delivery.push({ type: 'audio', sessionId, turnId, data: event.data, mediaType: event.mediaType });
        break;
      case 'turn_complete':
      case 'interrupted':
        this.delivery.push({ type: event.type, sessionId, turnId });
        break;
      case 'error':
        this.delivery.push({ type: 'error', sessionId, turnId, message: event.message });
        break;
    }
  }

  #error(message: string): void {
    const { sessionId, turnId } = this.settings;
    this.delivery.push({ type: 'error', sessionId, turnId, message });
  }

  #reportEnd(payload: Payload, detail: string | undefined): void {
    const { sessionId, turnId } = this.settings;
    const reason = this.session.context.reason;
    if (reason === 'far_side') {
      const said = (payload.event as Extract<BidiEvent, { type: 'closed' }>).reason;
      this.#message = said;
      this.delivery.push(
        said === undefined
          ? { type: 'closed', sessionId, turnId }
          : { type: 'closed', sessionId, turnId, reason: said },
      );
    } else {
      this.#message = this.#endMessage(reason as CloseReason, payload, detail);
      this.#error(this.#message);
    }
    this.delivery.end();
  }

  #endMessage(reason: CloseReason, payload: Payload, detail: string | undefined): string {
    switch (reason) {
      case 'stream_ended':
        return 'the event stream of the driver ended without `closed`';
      case 'stream_failed':
        return `the event stream of the driver failed: ${messageOf(payload.error)}`;
      case 'journal_failed':
        return `the journal could not be made durable: ${messageOf(payload.error)}`;
      case 'overflow':
        return `overflow: ${detail ?? ''}`;
      default:
        return `protocol failure: ${detail ?? payload.problem ?? ''}`;
    }
  }

  #stopReading(): void {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    if (iterator === undefined) return;
    // what it says of its end is of no interest to anybody
    attempt(
      () => (typeof iterator?.return === 'function' ? iterator.return() : undefined),
      () => {},
      () => {},
    );
  }

  #closeDriver(): void {
    const driver = this.#driver as BidiSession;
    attempt(
      () => driver.close(),
      () => this.#happens('close_settled'),
      (error) => {
        this.#closeFailure ??= { error };
        this.#happens('close_settled');
      },
    );
  }

  #refusePending(): void {
    if (this.#at.occurrence.type === 'close_timed_out') {
      this.#closeFailure = { error: new SessionCloseTimeoutError(this.settings.limits.closeTimeoutMs) };
    }
    this.#acts.rejectAll(this.#endError);
    for (const closer of this.#closers ?? []) {
      if (this.#closeFailure === undefined) closer.resolve();
      else closer.reject(this.#closeFailure.error);
    }
    this.#closers = undefined;
  }

  #resolveClosed(): void {
    if (this.#onHostAbort !== undefined) this.#hostSignal?.removeEventListener('abort', this.#onHostAbort);
    this.#hostSignal = undefined;
    this.#onHostAbort = undefined;
    const reason = this.session.context.reason as CloseReason;
    const calls: CallReport[] = [...this.#coordination.calls()];
    this.#report =
      this.#message === undefined ? { reason, calls } : { reason, message: this.#message, calls };
    this.#lifecycle?.complete();
    this.#closed?.resolve(this.#report);
  }

  /** Why a host call is refused, and what signals are aborted with, once the end has begun. */
  get #endError(): unknown {
    const { reason } = this.session.context;
    return reason === 'aborted' ? this.#cause : new SessionEndedError(reason);
  }

  #performAct(act: PendingAct): void {
    const driver = this.#driver as BidiSession;
    const answered = () => this.#acts.resolve(act);
    const refused = (error: unknown) => this.#acts.reject(act, error);
    switch (act.type) {
      case 'send':
        this.#acts.add(act);
        attempt(() => driver.send(act.input), answered, refused);
        break;
      case 'interrupt': {
        this.#acts.add(act);
        const { playedMs } = act;
        attempt(
          () => {
            if (typeof driver.interrupt === 'function') {
              return driver.interrupt(playedMs === undefined ? {} : { playedMs });
            }
            throw new NotSupportedError('interrupt()', `the driver ${this.settings.provider.id}`);
          },
          // the answer is the `interrupted` event, not this promise
          () => {},
          refused,
        );
        break;
      }
      case 'played':
        this.#acts.add(act);
        attempt(
          () => (typeof driver.played === 'function' ? driver.played({ ms: act.ms }) : undefined),
          answered,
          refused,
        );
        break;
    }
  }

  #refuseAct(act: PendingAct, found: string | undefined): void {
    if (found !== undefined && (act.type === 'approve' || act.type === 'deny')) {
      act.reject(new CallNotWaitingError(act.id, found));
    } else if (this.session.context.reason === 'none') {
      act.reject(new NotSupportedError(`${act.type}()`, 'a session that is still connecting'));
    } else act.reject(this.#endError);
  }

  // ── effects of a call ──

  #performFor(call: Call, effect: Asked<Call>, { payload }: Input): void {
    const { sessionId, turnId, limits } = this.settings;
    const toolUseId = call.id;
    const toolName = call.name;
    switch (effect.type) {
      case 'reportStarted':
        this.delivery.push({ type: 'tool_started', sessionId, turnId, toolUseId, toolName });
        break;
      case 'reportCompleted': {
        const { output, isError } = call.result;
        this.delivery.push({ type: 'tool_completed', sessionId, turnId, toolUseId, toolName, output, isError });
        break;
      }
      case 'reportAbandoned':
        this.delivery.push({ type: 'tool_abandoned', sessionId, turnId, toolUseId, toolName });
        break;
      case 'reportRejected':
        this.#error(`the far side refused the result of call ${call.id}: ${messageOf(payload.error)}`);
        break;
      case 'reportUnconfirmed':
        this.#error(`the far side did not answer the result of call ${call.id} within ${limits.publishTimeoutMs} ms`);
        break;
      case 'validate':
        this.#validate(call);
        break;
      case 'requestApproval':
        this.#note({ type: 'approval_requested', id: call.id, name: call.name, input: call.input });
        break;
      case 'performAct':
        (payload.act as PendingAct).resolve();
        break;
      case 'flush':
        this.#flush(call);
        break;
      case 'execute':
        this.#execute(call);
        break;
      case 'armTimeout':
        this.#armCall(call);
        break;
      case 'disarmTimeout':
        if (call.timer !== undefined) this.settings.clock.clearTimeout(call.timer);
        call.timer = undefined;
        break;
      case 'publish':
        this.#publish(call);
        break;
      case 'armPublishTimeout':
        if (limits.publishTimeoutMs > 0) {
          call.publishTimer = this.settings.clock.setTimeout(
            () => this.#callHappens(call, 'publish_timed_out'),
            limits.publishTimeoutMs,
          );
        }
        break;
      case 'disarmPublishTimeout':
        if (call.publishTimer !== undefined) this.settings.clock.clearTimeout(call.publishTimer);
        call.publishTimer = undefined;
        break;
      case 'abortSignal':
        call.abortSignal(this.#abortReason(call, (effect.params as { because: AbortCause }).because));
        break;
      case 'stub':
        this.#stub(call);
        break;
      case 'noteSettledLate':
        this.#noteSettledLate(call, call.late as LateOutcome);
        break;
      case 'tellLate':
        this.#tellLate(call, call.late as LateOutcome);
        break;
      case 'callChanged':
        this.#noteCallChange(call, effect.params as CallChange);
        break;
    }
  }

  #validate(call: Call): void {
    const { tool } = call;
    if (call.refused) {
      const most = this.settings.limits.maxOpenCalls;
      this.#refuseInput(call, `too many calls: ${most} are open already; wait for their results, then ask again`);
      return;
    }
    if (tool === undefined) {
      this.#refuseInput(call, `unknown tool: ${call.name}`);
      return;
    }
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) {
      this.#refuseInput(call, parsed.problem);
      return;
    }
    const judge = (verdict: unknown): void => {
      const { ok, value, problem } = verdict as { ok: boolean; value: unknown; problem: string };
      if (!ok) this.#refuseInput(call, problem);
      else this.#admitInput(call, tool, value);
    };
    let verdict: unknown;
    try {
      verdict = tool.validate(parsed.value as Record<string, unknown>);
    } catch (thrown) {
      this.#refuseInput(call, messageOf(thrown));
      return;
    }
    if (isThenable(verdict)) {
      this.#armCall(call);
      adopted(verdict).then(judge, (error) => this.#refuseInput(call, messageOf(error)));
    } else judge(verdict);
  }

  #refuseInput(call: Call, problem: string): void {
    this.#callHappens(call, 'input_refused', { result: errorResult(problem) });
  }

  #admitInput(call: Call, tool: Tool, value: unknown): void {
    // a call that was abandoned meanwhile needs nobody's approval
    if (call.state !== 'admitted') return;
    const { needsApproval } = tool;
    let asks: unknown = needsApproval;
    if (typeof needsApproval === 'function') {
      try {
        asks = needsApproval(value as never, call.contextFor(this.settings));
      } catch (thrown) {
        this.#refuseInput(call, messageOf(thrown));
        return;
      }
      // an answer that is no boolean is taken on the safe side
      if (typeof asks !== 'boolean') adopted(asks).catch(() => {});
    }
    const input = { value };
    this.#callHappens(call, asks === false ? 'input_accepted' : 'approval_required', { input });
  }

  #flush(call: Call): void {
    const journal = this.#journal as IntentLog;
    attempt(
      () => journal.flush(),
      () => this.#callHappens(call, 'flushed'),
      (error) => this.#happens('flush_failed', { error }),
    );
  }

  #execute(call: Call): void {
    const tool = call.tool as Tool;
    call.codeRuns = true;
    attempt(
      () => tool.execute(call.input as never, call.contextFor(this.settings)),
      (value) =>
        this.#callHappens(call, 'code_resolved', { result: resultOf(value), late: { status: 'resolved', value } }),
      (error) =>
        this.#callHappens(call, 'code_rejected', { result: failureOf(error), late: { status: 'rejected', error } }),
    );
  }

  #armCall(call: Call): void {
    const ms = call.tool?.timeoutMs ?? 0;
    if (ms === 0) return;
    call.timer = this.settings.clock.setTimeout(() => {
      this.#callHappens(call, 'timed_out', { result: errorResult(`the tool ${call.name} timed out after ${ms} ms`) });
    }, ms);
  }

  #publish(call: Call): void {
    const driver = this.#driver as BidiSession;
    const { output, isError } = call.result;
    attempt(
      () => driver.sendToolResult(call.id, output, isError),
      () => this.#callHappens(call, 'publish_accepted'),
      (error) => this.#callHappens(call, 'publish_rejected', { error }),
    );
  }

  #stub(call: Call): void {
    const driver = this.#driver as BidiSession;
    attempt(
      () => (typeof driver.abandonToolCall === 'function' ? driver.abandonToolCall(call.id) : undefined),
      () => {},
      (error) => this.#diagnose('abandon_failed', `abandonToolCall(${call.id}) was rejected: ${messageOf(error)}`),
    );
  }

  #abortReason(call: Call, because: AbortCause): unknown {
    switch (because) {
      case 'timeout':
        return new CallTimeoutError(call.id, call.tool?.timeoutMs ?? 0);
      case 'interruption':
        return new CallInterruptedError(call.id);
      case 'withdrawal':
        return new CallWithdrawnError(call.id);
      case 'session_end':
        return this.#endError;
    }
  }

  // ── what goes on beside the conversation ──

  #note(event: LifecycleEvent): void {
    if (this.#lifecycle?.observed && this.#report === undefined) this.#lifecycle.next(event);
  }

  #diagnose(code: DiagnosticCode, detail: string): void {
    this.#note({ type: 'diagnostic', code, detail });
  }

  #diagnoseReading(problem: string): void {
    this.#diagnose(this.#at.occurrence.type === 'unknown' ? 'unknown_event' : 'malformed_event', problem);
  }

  #noteCallChange(call: Call, { from, to }: CallChange): void {
    if (!this.#lifecycle?.observed) return;
    const { id, name } = call;
    const at = this.settings.clock.now();
    const isAdmitted = from === 'admitted' && (to === 'queued' || to === 'awaiting_approval');
    this.#note(
      isAdmitted ? { type: 'call', id, name, from, to, input: call.input, at } : { type: 'call', id, name, from, to, at },
    );
  }

  #noteSettledLate({ id, name }: Call, outcome: LateOutcome): void {
    if (outcome.status === 'resolved') {
      this.#note({ type: 'settled_late', id, name, outcome: 'resolved', value: outcome.value });
    } else if (outcome.status === 'rejected') {
      this.#note({ type: 'settled_late', id, name, outcome: 'rejected', value: outcome.error });
    }
  }

  #tellLate({ id, name, tool }: Call, outcome: LateOutcome): void {
    const { sessionId, turnId } = this.settings;
    attempt(
      () => tool?.onLate?.(outcome, { id, name, sessionId, turnId }),
      () => {},
      (thrown) => this.threw(thrown),
    );
  }

  // ── timers and listeners ──

  #arm(ms: number, type: 'connect_timed_out' | 'close_timed_out'): void {
    if (ms === 0) return;
    this.#timer = this.settings.clock.setTimeout(() => this.#happens(type), ms);
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.settings.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #listenTo(signal: AbortSignal): void {
    this.#hostSignal = signal;
    this.#onHostAbort = () => this.#happens('host_abort', { error: signal.reason });
    signal.addEventListener('abort', this.#onHostAbort, { once: true });
  }
}

function deliversOnly(effects: readonly Effect[]): boolean {
  return effects.length === 1 && (effects[0] as Effect).type === 'deliver';
}

/** The states in which a result is decided. */
const takesResult: ReadonlySet<string> = new Set(['admitted', 'awaiting_approval', 'executing']);

const schemas = new WeakMap<ReadonlyMap<string, Tool>, readonly LLMToolSchema[]>();

function schemasOf(tools: ReadonlyMap<string, Tool>): readonly LLMToolSchema[] {
  let known = schemas.get(tools);
  if (known === undefined) {
    known = [...tools.values()].map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    schemas.set(tools, known);
  }
  return known;
}

/** What a connection lacks that the contract asks for. */
function driverProblem(driver: unknown): string | undefined {
  if (typeof driver !== 'object' || driver === null) return 'connect() to give a session object';
  for (const method of ['send', 'sendToolResult', 'events', 'close']) {
    if (!hasMethod(driver, method)) return `connect() to give a session with a method \`${method}\``;
  }
  return undefined;
}

function hasMethod(driver: object, method: string): boolean {
  try {
    return typeof (driver as Record<string, unknown>)[method] === 'function';
  } catch {
    return false;
  }
}
