/**
 * A supervised session: one incarnation after another, each a session of its
 * own, behind one buffer and one `lifecycle$`. It decides what an end leads to;
 * the supervisor's machine says whether that may be.
 *
 * Invariants kept here:
 *
 * C1. One incarnation at a time: the next is begun after the one before is
 *     closed, and what is left of that one reaches nobody.
 * C2. What an end leads to is decided once, when it begins. A close of the host
 *     in between overrules it, nothing else does.
 * C3. The last event of an incarnation is passed on, and what is unread waits:
 *     `events()` ends with the supervised session. An incarnation begins only
 *     where the buffer has room, so that one bound holds for all of them.
 * C4. `restarted` is told before the first event of its incarnation. It says
 *     `resumed` only if the far side connected with a handle.
 * C5. After its end nothing of it is left: no timer, no listener, no incarnation.
 */
import type { Observable } from 'rxjs';
import { RestartWindow, restartsAfter } from '../../../machines/index.js';
import {
  ConnectAbortedError,
  InvalidInputError,
  messageOf,
  NotSupportedError,
  SessionEndedError,
  SessionRestartingError,
  SupervisorStoppingError,
} from '../../contract/errors.js';
import { asSessionId, type SessionId } from '../../contract/ids.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { CallReport, CloseReason, CloseReport, LifecycleEvent } from '../../contract/lifecycle.js';
import type { BidiSession } from '../../contract/provider.js';
import type { SessionTap, TappedNote } from '../../contract/session-tap.js';
import { addAbortListener, removeAbortListener } from '../abort-listeners.js';
import type { Above } from '../above.js';
import type { ActorSystem } from '../actors.js';
import { assertAtOnce } from '../at-once.js';
import { type CallbackWatch, Delivery, type DeliveryCounter } from '../delivery.js';
import type { ReportIds } from '../far-event.js';
import { actPromise } from '../host-acts.js';
import { Lifecycle } from '../lifecycle.js';
import { fresh, type SessionOptions, type SessionSettings, settingsOf } from '../options.js';
import { Session } from '../session.js';
import { SessionRuntime } from '../session-runtime.js';
import { Taps } from '../taps.js';
import { IncarnationDelivery, type Outlet } from './incarnation-delivery.js';
import { Once } from './once.js';
import {
  childIdOf,
  delayOf,
  type Incarnation,
  patientDelay,
  type RestartAttempt,
  type RestartRules,
  restartRulesOf,
  type SupervisedSessionOptions,
} from './options.js';
import type { Owner } from './owner.js';
import type { IncarnationEnd, SupervisedCloseReport } from './report.js';
import { SupervisedSession } from './supervised-session.js';

/** Who waits for the first incarnation. */
export interface FirstStart {
  resolve(session: SupervisedSession): void;
  reject(error: unknown): void;
}

interface Onlooker {
  readonly observer: InspectionObserver;
  detach: (() => void) | undefined;
}

const rememberedEnds = 16;
const nobody = () => {};

export class SessionChild implements Above, Outlet, CallbackWatch {
  readonly kind = 'session';
  readonly id: string;
  readonly session: SupervisedSession;
  readonly delivery: Delivery;
  readonly closed = new Once<SupervisedCloseReport>();
  /** Of the incarnation that lives, or that lived last. */
  sessionId = freshSessionId();
  readonly #owner: Owner<SessionChild>;
  readonly #options: SupervisedSessionOptions;
  readonly #rules: RestartRules;
  #window: RestartWindow | undefined;
  #first: FirstStart | undefined;
  /** Of the first incarnation; those of others are made when they begin. */
  #prepared: SessionSettings | undefined;
  #runtime: SessionRuntime | undefined;
  #current: Session | undefined;
  #isConnected = false;
  /** Whether the incarnation connects with a handle. */
  #isOffered = false;
  #attempt = 0;
  #incarnations = 0;
  /** What the end of the incarnation leads to, once it has begun. */
  #next: 'again' | 'over' | 'failed' | undefined;
  #recent = 1;
  #handle: unknown;
  #last: CloseReport | undefined;
  #ends: IncarnationEnd[] = [];
  #timer: unknown;
  #stopListening: (() => void) | undefined;
  #isClosing = false;
  #isFinishing = false;
  /** Where the end of the whole is not that of an incarnation. */
  #endReason: CloseReason | undefined;
  #isOver = false;
  #hasFailed = false;
  #wasInGap = false;
  #lifecycle: Lifecycle | undefined;
  #taps: Taps | undefined;
  #forwards: SessionTap[] | undefined;
  #onlookers: Set<Onlooker> | undefined;

  /** @throws what `startSession` rejects with for an option */
  constructor(owner: Owner<SessionChild>, options: SupervisedSessionOptions, first: FirstStart) {
    this.#owner = owner;
    this.#options = options;
    this.#first = first;
    this.id = childIdOf(options.id);
    this.#rules = restartRulesOf(options.restart);
    const { prepare, signal } = options;
    if (prepare !== undefined && typeof prepare !== 'function') {
      throw new InvalidInputError('prepare', 'a function', prepare);
    }
    if (signal?.aborted) throw signal.reason;
    this.#prepared = this.#settings();
    this.delivery = new Delivery(this.#prepared, this.#prepared.limits.maxBufferedEvents, this);
    this.session = new SupervisedSession(this);
    if (options.inspect !== undefined) this.#onlookers = new Set([{ observer: options.inspect, detach: undefined }]);
  }

  // ── what the host may ask ──

  get current(): Session | undefined {
    const isOpen = this.#isConnected && this.#runtime?.session.context.reason === 'none';
    return isOpen ? this.#current : undefined;
  }

  /** Whether it waits, or waited when it ended, for its next incarnation. */
  get wasInGap(): boolean {
    return this.#wasInGap;
  }

  /** Whether its end is decided. */
  get isOver(): boolean {
    return this.#isOver;
  }

  act(run: (session: Session) => Promise<void>): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return actPromise((_, reject) => reject(refusal.error));
    return run(this.#current as Session);
  }

  /** Why the host can ask nothing of the far side now. */
  #refusal(): { readonly error: unknown } | undefined {
    const ended = this.closed.value?.reason ?? (this.#isOver && this.#runtime === undefined ? 'host' : undefined);
    if (ended === 'aborted') return { error: this.#options.signal?.reason };
    if (ended !== undefined) return { error: new SessionEndedError(ended) };
    if (this.#isFinishing) return { error: new SupervisorStoppingError(this.#owner.settings.id) };
    if (this.#runtime === undefined && this.#last === undefined) {
      return { error: new NotSupportedError('an act', 'a session that is still connecting') };
    }
    const runtime = this.#runtime;
    const isComing = this.#attempt > 0 && !this.#isConnected && this.#next === undefined;
    if (runtime !== undefined && !isComing && (this.#isClosing || this.#next !== 'again')) return undefined;
    const reason = this.#next === 'again' ? runtime?.session.context.reason : undefined;
    return { error: new SessionRestartingError(this.id, reason ?? this.#last?.reason ?? 'none') };
  }

  calls(): CallReport[] {
    return this.#runtime?.calls() ?? [...(this.#last?.calls ?? [])];
  }

  get lifecycle$(): Observable<LifecycleEvent> {
    if (this.#lifecycle === undefined) {
      this.#lifecycle = new Lifecycle((thrown) => this.threw(thrown));
      if (this.closed.value !== undefined) this.#lifecycle.complete();
      else this.#forward(this.#notes);
    }
    return this.#lifecycle.events$;
  }

  tap(tap: SessionTap): () => void {
    this.#taps ??= new Taps((thrown) => this.threw(thrown));
    this.#forward(this.#notes);
    if (tap.reported !== undefined) this.#forward(this.#reports);
    const detach = this.#taps.add(tap);
    const report = this.closed.value;
    if (report !== undefined) this.#taps.ended(report);
    return detach;
  }

  inspect(observer: InspectionObserver): () => void {
    const onlooker: Onlooker = { observer, detach: this.#runtime?.inspect(observer) };
    this.#onlookers ??= new Set();
    const onlookers = this.#onlookers;
    onlookers.add(onlooker);
    return () => {
      onlookers.delete(onlooker);
      onlooker.detach?.();
    };
  }

  /** Tells an observer what lives. */
  announce(observer: InspectionObserver): void {
    this.#runtime?.announce(observer);
  }

  close(resolve: () => void, reject: (error: unknown) => void): void {
    this.#isClosing = true;
    const runtime = this.#runtime;
    if (runtime === undefined) {
      this.#endInGap('host');
      resolve();
      return;
    }
    if (this.#next === 'again') {
      // its end was on its way already, and what waits unread was to be kept for the next
      this.delivery.discard();
      this.delivery.end();
    }
    runtime.close(resolve, reject);
  }

  // ── what the supervisor asks for ──

  /** It is not started at all: whoever was given it already waits for nothing. */
  dismiss(error: unknown): void {
    if (this.closed.value !== undefined) return;
    this.#last ??= { reason: 'connect_failed', message: messageOf(error), calls: [] };
    this.release();
  }

  /** Begins an incarnation. */
  open(): void {
    this.#wasInGap = false;
    if (this.#isOver) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#isConnected = false;
    this.#next = undefined;
    this.#incarnations++;
    let runtime: SessionRuntime;
    const { signal } = this.#options;
    try {
      if (this.delivery.room <= 0) {
        this.#couldNotBegin('overflow', 'the events of the last incarnation are still unread');
        return;
      }
      const settings = this.#prepared ?? this.#settings();
      this.#prepared = undefined;
      // a signal says nothing to whoever listens after its abort
      if (signal?.aborted) {
        this.#first?.reject(signal.reason);
        this.delivery.discard();
        this.#couldNotBegin('aborted');
        return;
      }
      runtime = new SessionRuntime(settings, undefined, this.#owner.pool, this);
    } catch (error) {
      this.#first?.reject(error);
      this.#couldNotBegin('connect_failed', messageOf(error));
      return;
    }
    this.#runtime = runtime;
    this.#current = new Session(runtime);
    for (const tap of this.#forwards ?? []) runtime.tap(tap);
    for (const onlooker of this.#onlookers ?? []) onlooker.detach = runtime.inspect(onlooker.observer);
    runtime.begin(signal, {
      resolve: () => this.#connected(),
      reject: (error) => this.#refused(error),
    });
  }

  /** Tells that another incarnation is there. */
  announceIncarnation(): void {
    this.#note({
      type: 'restarted',
      attempt: this.#attempt,
      resumed: this.#isOffered,
      sessionId: this.sessionId,
    });
  }

  get isResumed(): boolean {
    return this.#isOffered;
  }

  /** Waits for the time of the next incarnation. */
  armRestart(): void {
    this.#wasInGap = true;
    if (this.#isOver) return;
    this.#attempt++;
    const { clock } = this.#owner.settings;
    const reason = this.#last?.reason as CloseReason;
    const inMs = this.#delay({ attempt: this.#attempt, recent: this.#recent, reason });
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.sessionId = freshSessionId();
      this.#owner.happens({ type: 'restart_due', child: this });
    }, inMs);
    this.#listen();
    // its signal was aborted while the incarnation closed
    if (this.#isOver) return;
    this.#note({ type: 'restarting', attempt: this.#attempt, reason, inMs });
  }

  disarmRestart(): void {
    if (this.#timer !== undefined) this.#owner.settings.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Finishes what is being published, and closes. */
  finish(): void {
    if (this.#isFinishing || this.#isOver) return;
    this.#isFinishing = true;
    const runtime = this.#runtime;
    if (runtime === undefined) this.#endInGap('host');
    else if (this.#next === undefined) this.#closeWhenPublished(runtime);
  }

  /** Closes at once. */
  cut(): void {
    if (!this.#isOver) this.close(nobody, nobody);
  }

  reportFailure(): void {
    this.#hasFailed = true;
    this.#note({ type: 'failed', restarts: this.#attempt, reason: this.#last?.reason as CloseReason });
  }

  /** It is over: whoever waits for it is told. */
  release(): void {
    this.#isOver = true;
    this.disarmRestart();
    this.#handle = undefined;
    this.#onlookers = undefined;
    // it was closed before it was its turn to begin
    this.#first?.reject(new ConnectAbortedError());
    this.#first = undefined;
    this.delivery.end();
    const report = this.#report();
    this.closed.resolve(report);
    this.#lifecycle?.complete();
    this.#taps?.ended(report);
  }

  // ── what the incarnation tells (Above, Outlet) ──

  get system(): ActorSystem {
    return this.#owner.system;
  }

  makeDelivery(ids: ReportIds, counter: DeliveryCounter | undefined): Delivery {
    return new IncarnationDelivery(ids, this, counter);
  }

  outputEnded(): void {
    const runtime = this.#runtime as SessionRuntime;
    this.#next = this.#decide(runtime.session.context.reason as CloseReason);
    if (this.#next !== 'again') this.delivery.end();
    else if (this.#isConnected) this.#handle = this.#handleOf(runtime.driver);
  }

  discardUnread(): void {
    const isKept = this.#rules.type === 'permanent' && !this.#isLast;
    if (!isKept) this.delivery.discard();
  }

  ended(report: CloseReport): void {
    this.#last = report;
    const { reason, message, calls } = report;
    this.#ends.push({
      sessionId: this.sessionId,
      reason,
      calls: calls.length,
      ...(message === undefined ? {} : { message }),
    });
    if (this.#ends.length > rememberedEnds) this.#ends.shift();
    this.#runtime = undefined;
    this.#current = undefined;
    for (const onlooker of this.#onlookers ?? []) onlooker.detach = undefined;
    this.#goOn(reason);
  }

  threw(thrown: unknown): void {
    this.#note({ type: 'diagnostic', code: 'host_callback_threw', detail: messageOf(thrown) });
  }

  #connected(): void {
    this.#isConnected = true;
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) first.resolve(this.session);
    else this.#owner.happens({ type: 'incarnation_connected', child: this });
  }

  #refused(error: unknown): void {
    const first = this.#first;
    this.#first = undefined;
    first?.reject(error);
    // a far side that answered did not want the handle, maybe; one that kept silent was not asked
    if (!isTimeout(error)) this.#handle = undefined;
  }

  /** There was nothing to connect with. */
  #couldNotBegin(reason: CloseReason, message?: string): void {
    this.#next = this.#decide(reason);
    if (this.#next !== 'again') this.delivery.end();
    this.ended(message === undefined ? { reason, calls: [] } : { reason, message, calls: [] });
  }

  // ── ends ──

  /** Whether no incarnation follows, whatever ends this one. */
  get #isLast(): boolean {
    const isFirstRefused = this.#attempt === 0 && !this.#isConnected;
    return this.#isClosing || this.#isFinishing || isFirstRefused || this.#options.signal?.aborted === true;
  }

  #decide(reason: CloseReason): 'again' | 'over' | 'failed' {
    if (this.#isLast || !restartsAfter(this.#rules.type, reason)) return 'over';
    this.#window ??= new RestartWindow(this.#rules.intensity, this.#rules.periodMs);
    const recent = this.#window.take(this.#owner.settings.clock.now());
    if (recent === undefined) return 'failed';
    this.#recent = recent;
    return 'again';
  }

  /** An incarnation is closed: on to what its end leads to. */
  #goOn(reason: CloseReason): void {
    const isOverruled = this.#isClosing && this.#next === 'again';
    if (isOverruled) this.#endReason = 'host';
    if (this.#next === 'again' && !isOverruled) {
      this.#owner.happens({ type: 'incarnation_ended', child: this, reason });
      return;
    }
    this.#isOver = true;
    const type = this.#next === 'failed' && !this.#isClosing ? 'session_failed' : 'session_ended';
    this.#owner.happens({ type, child: this, reason: this.#endReason ?? reason });
  }

  #endInGap(reason: CloseReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endReason = reason;
    this.disarmRestart();
    this.delivery.discard();
    this.delivery.end();
    this.#owner.happens({ type: 'session_ended', child: this, reason });
  }

  #closeWhenPublished(runtime: SessionRuntime): void {
    const publishing = new Set<string>();
    for (const { id, state } of runtime.calls()) if (state === 'publishing') publishing.add(id);
    if (publishing.size === 0) {
      this.cut();
      return;
    }
    const detach = runtime.tap({
      noted: (event) => {
        if (event.type !== 'call' || event.to === 'publishing' || !publishing.delete(event.id)) return;
        if (publishing.size > 0) return;
        detach();
        this.cut();
      },
    });
  }

  #report(): SupervisedCloseReport {
    const { reason, message, calls } = this.#last ?? { reason: 'host' as const, calls: [] };
    const common = { calls, incarnations: this.#incarnations, ends: this.#ends, failed: this.#hasFailed };
    if (this.#endReason !== undefined) return { reason: this.#endReason, ...common };
    return message === undefined ? { reason, ...common } : { reason, message, ...common };
  }

  // ── what an incarnation begins with ──

  #settings(): SessionSettings {
    const { provider, connect, journal = this.#owner.settings.journal } = this.#options;
    const attempt = this.#attempt;
    const incarnation: Incarnation = this.#last === undefined ? { attempt } : { attempt, previous: this.#last };
    const driver = typeof provider === 'function' ? provider(incarnation) : provider;
    assertAtOnce('what `provider` gave', 'an object with a `connect` method', driver);
    const told = typeof connect === 'function' ? connect(incarnation) : connect;
    assertAtOnce('what `connect` gave', 'an object with a string `model`', told);
    const given = this.#resuming(told);
    this.#isOffered = attempt > 0 && given?.resume !== undefined;
    return settingsOf({
      ...this.#options,
      provider: driver,
      connect: given,
      sessionId: this.sessionId,
      clock: this.#owner.settings.clock,
      ...(journal === undefined ? {} : { journal }),
    });
  }

  /** After the first incarnation a handle is that of the one before, unless the host says another for this very one. */
  #resuming(given: SessionOptions['connect']): SessionOptions['connect'] {
    if (this.#attempt === 0 || typeof given !== 'object' || given === null) return given;
    const isSaid = typeof this.#options.connect === 'function' && given.resume !== undefined;
    if (isSaid) return given;
    const { resume: _, ...rest } = given;
    return this.#handle === undefined ? rest : { ...rest, resume: this.#handle };
  }

  #handleOf(driver: BidiSession): unknown {
    try {
      const handle = typeof driver.resumption === 'function' ? driver.resumption() : undefined;
      assertAtOnce('what `resumption` gave', 'a handle or undefined', handle);
      return handle;
    } catch (thrown) {
      this.threw(thrown);
      return undefined;
    }
  }

  #delay(attempt: RestartAttempt): number {
    const { random } = this.#owner.settings;
    try {
      return delayOf(this.#rules.backoff, attempt, random);
    } catch (thrown) {
      this.threw(thrown);
      return patientDelay(attempt);
    }
  }

  /** In the gap nobody else hears the host's signal. */
  #listen(): void {
    const { signal } = this.#options;
    if (signal === undefined) return;
    const onAbort = () => this.#endInGap('aborted');
    addAbortListener(signal, onAbort);
    this.#stopListening = () => removeAbortListener(signal, onAbort);
    if (signal.aborted) onAbort();
  }

  // ── what goes on beside the conversation ──

  readonly #notes: SessionTap = {
    noted: (event) => this.#note(withoutTapped(event), event),
    acted: (act) => this.#taps?.acted(act),
  };

  readonly #reports: SessionTap = { reported: (event) => this.#taps?.reported(event) };

  #forward(tap: SessionTap): void {
    this.#forwards ??= [];
    if (this.#forwards.includes(tap)) return;
    this.#forwards.push(tap);
    this.#runtime?.tap(tap);
  }

  #note(event: LifecycleEvent, tapped: TappedNote = event): void {
    if (this.closed.value !== undefined) return;
    this.#taps?.noted(tapped);
    this.#lifecycle?.next(event);
  }
}

/** What taps alone are told of a call is not for `lifecycle$`. */
function withoutTapped(event: TappedNote): LifecycleEvent {
  if (event.type !== 'call' || (event.arguments === undefined && event.result === undefined)) return event;
  const { type, id, name, from, to, at } = event;
  return { type, id, name, from, to, at };
}

function freshSessionId(): SessionId {
  return asSessionId(fresh('ses_'));
}

function isTimeout(error: unknown): boolean {
  try {
    return (error as { code?: unknown } | null)?.code === 'connect_timeout';
  } catch {
    return false;
  }
}
