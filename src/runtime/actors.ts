/**
 * What lives as XState actors: what an inspector, `getSnapshot` and `waitFor`
 * see. Sessions and calls are here, streams and transactions of conversations
 * in `conversation/actors.ts`. The only module of the runtime that leans on how XState's
 * `Actor` works inside; decision 0003 says why it does, and
 * `test/runtime/actors.test.ts` holds it against XState's own system.
 *
 * A1. An actor's state is moved by the coordination alone. What a host sends to
 *     it (the types forbid it) is ignored and noted.
 * A2. The `done` and `error` events of a call's actor reach no machine: there
 *     they would be remembered by id, for ever.
 * A3. A throw in an observer or an inspector harms neither actor nor process.
 * A4. Nothing is paid for inspection until somebody inspects.
 * A5. The root of a system that stands under another one's shows that one's as
 *     its parent, and nothing else of it: neither actor ever sends to the other.
 */
import {
  Actor,
  type AnyActorRef,
  type AnyActorScope,
  type AnyStateMachine,
  type EventObject,
  type InspectionEvent,
  type SnapshotFrom,
} from 'xstate';
import {
  type CallEventType,
  type CallRules,
  callStepper,
  type SessionEventType,
  type Stepper,
  type sessionMachine,
  sessionStepper,
  stepProblem,
  type toolInvocationMachine,
} from '../../machines/index.js';
import { XStateVersionError } from '../contract/errors.js';
import type { InspectionObserver } from '../contract/inspector.js';
import { attempt } from './attempt.js';

/** Is told what a callback of the host threw, or what it sent to an actor. */
export interface ActorWatch {
  threw(thrown: unknown): void;
  foreign(actorId: string, eventType: string): void;
}

/** What `Actor` has and its types hide. */
interface ActorInternals {
  _parent: AnyActorRef | undefined;
  _actorScope: unknown;
  _snapshot: unknown;
  options: unknown;
  observers: ReadonlySet<unknown>;
  eventListeners: ReadonlyMap<unknown, unknown>;
  _send(event: EventObject): void;
  _stop(): void;
}

type Inspected = Omit<InspectionEvent, 'rootId'>;

/** Not a private accessor: the engine leaves compiled code for each of those. */
const internalsOf = (actor: unknown) => actor as ActorInternals;

const ignored = () => {};

let lastActor = 0;

/** One root and what belongs to it, without XState's scheduler: timers are the runtime's. */
export class ActorSystem {
  readonly watch: ActorWatch;
  /** The system that this one's root is shown under, and whose inspectors see all that happens here. */
  readonly #above: ActorSystem | undefined;
  #root: AnyActorRef | undefined;
  #inspectors: Set<(event: InspectionEvent) => void> | undefined;
  /** Of the topmost root, once it is made. */
  #rootId = '';
  /** What happens while an actor is made, and cannot be looked at yet. */
  #held: Inspected[] | undefined;

  /** `above`: of whoever owns the root to be. */
  constructor(watch: ActorWatch, above?: ActorSystem) {
    this.watch = watch;
    this.#above = above;
  }

  get isInspected(): boolean {
    if (this.#inspectors !== undefined && this.#inspectors.size > 0) return true;
    return this.#above?.isInspected === true;
  }

  /** The actor that this system's root is a child of. */
  get parent(): AnyActorRef | undefined {
    return this.#above === undefined ? undefined : this.#above.#root;
  }

  /** Makes the root. */
  makeRoot<Root extends { readonly sessionId: string }>(make: () => Root): Root {
    return this.make(make, (root) => {
      this.#root = root as unknown as AnyActorRef;
      this.#rootId = this.#above === undefined ? root.sessionId : this.#above.#rootId;
    });
  }

  /** Makes an actor. Inspectors that are there already are told of it when it can be looked at. */
  make<Made>(make: () => Made, isMade: (made: Made) => void = ignored): Made {
    if (this.isInspected) this.#held = [];
    const made = make();
    isMade(made);
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) for (const event of held) this._sendInspectionEvent(event);
    return made;
  }

  inspect(observer: InspectionObserver): { unsubscribe(): void } {
    const look = this.#guarded(observer);
    this.#inspectors ??= new Set();
    const inspectors = this.#inspectors;
    inspectors.add(look);
    return {
      unsubscribe: () => {
        inspectors.delete(look);
        if (inspectors.size === 0 && this.#inspectors === inspectors) this.#inspectors = undefined;
      },
    };
  }

  /** Tells one observer, as if they had just begun, of actors that live. */
  announce(observer: InspectionObserver, actors: Iterable<AnyActorRef>): void {
    const look = this.#guarded(observer);
    for (const actorRef of actors) look({ type: '@xstate.actor', actorRef, rootId: this.#rootId } as InspectionEvent);
  }

  #guarded(observer: InspectionObserver): (event: InspectionEvent) => void {
    const next = (event: InspectionEvent) =>
      typeof observer === 'function' ? observer(event) : observer.next?.(event);
    return (event) =>
      attempt(
        () => next(event),
        ignored,
        (thrown) => this.watch.threw(thrown),
      );
  }

  // What follows is called by XState's Actor.

  _sendInspectionEvent(event: Inspected): void {
    if (!this.isInspected) return;
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    this.#tell(Object.assign(event, { rootId: this.#rootId }) as InspectionEvent);
  }

  #tell(event: InspectionEvent): void {
    if (this.#inspectors !== undefined) for (const look of this.#inspectors) look(event);
    if (this.#above !== undefined) this.#above.#tell(event);
  }

  _bookId(): string {
    lastActor++;
    return `cp:${lastActor}`;
  }

  _relay(source: AnyActorRef | undefined, target: AnyActorRef, event: EventObject): void {
    if (event.type.startsWith('xstate.done.actor.') || event.type.startsWith('xstate.error.actor.')) return;
    if (this.isInspected) {
      this._sendInspectionEvent({ type: '@xstate.event', sourceRef: source, actorRef: target, event } as Inspected);
    }
    (target as unknown as ActorInternals)._send(event);
  }

  _register(sessionId: string): string {
    return sessionId;
  }
  _unregister(): void {}
  _set(): void {}
  get(): undefined {
    return undefined;
  }
  getAll(): Record<string, never> {
    return {};
  }
  getSnapshot(): { _scheduledEvents: Record<string, never> } {
    return { _scheduledEvents: {} };
  }
  start(): void {}
  get scheduler() {
    return noScheduler;
  }
  get _clock() {
    return noClock;
  }
  get _logger() {
    return noLogger;
  }
}

const started = Object.freeze({});
/** Shared by all actors that nobody observes; XState clears them, which changes nothing, and adds to its own alone. */
const unobserved: ReadonlySet<unknown> = new Set();
const unheard: ReadonlyMap<unknown, unknown> = new Map();
const noLogger = () => {};
const noClock = { setTimeout: () => 0, clearTimeout: () => {} };
const noScheduler = { schedule: () => {}, cancel: () => {}, cancelAll: () => {} };

/**
 * The machine, run by its stepper: every transition of a living actor is the
 * pure step. Where somebody inspects there is a scope, and the machine itself
 * takes the step beside it, to tell of its actions and microsteps.
 */
export function living<Machine extends AnyStateMachine, Type extends string>(
  stepperOf: Stepper<Machine, Type>,
): Machine {
  const stepper = stepperOf as unknown as Stepper<Machine, string>;
  const { machine } = stepper;
  return Object.create(machine, {
    transition: {
      value: (snapshot: SnapshotFrom<Machine>, event: EventObject, scope: AnyActorScope | undefined) => {
        if (event.type === 'xstate.stop') return stepper.stopped(snapshot);
        if (scope !== undefined) machine.transition(snapshot as never, event as never, scope as never);
        return stepper.step(snapshot, event.type).snapshot;
      },
    },
    getInitialSnapshot: {
      value: (scope: AnyActorScope, input: never) => {
        if ((scope.system as unknown as ActorSystem).isInspected) machine.getInitialSnapshot(scope as never, input);
        return stepper.initial(input).snapshot;
      },
    },
  }) as Machine;
}

const sessionLogic = living(sessionStepper);
const callLogic = living(callStepper);

/** An actor that is moved by a coordination: `advance` takes the steps, `release` ends what is not final by itself. */
export class LivingActor<Machine extends AnyStateMachine> extends Actor<Machine> {
  override start(): this {
    // begun once, and ended once
    if (internalsOf(this).options === started) return this;
    super.start();
    // a living machine reads its options once, and a scope only while it is inspected: a third of an actor's memory
    // and most are never watched: they share what is empty until somebody looks
    internalsOf(this)._actorScope = undefined;
    internalsOf(this).options = started;
    internalsOf(this).observers = unobserved;
    internalsOf(this).eventListeners = unheard;
    return this;
  }

  /** Whether somebody would see a step, be it one that changes nothing. */
  get isWatched(): boolean {
    const { observers } = internalsOf(this);
    return (observers !== unobserved && observers.size > 0) || (this.system as unknown as ActorSystem).isInspected;
  }

  /** Ends an actor whose state is not final for XState. */
  release(): void {
    internalsOf(this)._stop();
  }

  /** Takes one step, by the coordination. */
  protected advance(event: EventObject, next: SnapshotFrom<Machine>): void {
    const system = this.system as unknown as ActorSystem;
    const internals = internalsOf(this);
    if (!this.isWatched && (next as { readonly status: string }).status === 'active') {
      // where nobody looks on and the life goes on, all that XState would do is to keep the snapshot
      internals._snapshot = next;
      return;
    }
    if (system.isInspected) internals._actorScope = this.#tellingScope(system);
    system._relay(undefined, this as unknown as AnyActorRef, event);
    internals._actorScope = undefined;
  }

  /** A scope in which a machine tells inspectors what it asks for. To perform that is the runtime's. */
  #tellingScope(system: ActorSystem): unknown {
    const { id, sessionId } = this;
    return {
      self: this,
      id,
      sessionId,
      system,
      logger: noLogger,
      defer: ignored,
      emit: ignored,
      stopChild: ignored,
      actionExecutor: ({ type, params }: { readonly type: string; readonly params: unknown }) => {
        const action = { type, params };
        system._sendInspectionEvent({ type: '@xstate.action', actorRef: this, action } as unknown as Inspected);
      },
    };
  }

  override send(event: EventObject): void {
    const type: unknown = (event as EventObject | null | undefined)?.type;
    const shown = typeof type === 'string' ? type : 'an event without a type';
    (this.system as unknown as ActorSystem).watch.foreign(this.id, shown);
  }

  override stop(): this {
    (this.system as unknown as ActorSystem).watch.foreign(this.id, 'xstate.stop');
    return this;
  }

  override on(...listener: never[]): { unsubscribe(): void } {
    if (internalsOf(this).eventListeners === unheard) internalsOf(this).eventListeners = new Map();
    return super.on(...(listener as unknown as Parameters<Actor<Machine>['on']>));
  }

  override subscribe(...handlers: never[]): { unsubscribe(): void } {
    if (internalsOf(this).observers === unobserved) internalsOf(this).observers = new Set();
    const [first, error, complete] = handlers as unknown[];
    const observer = (typeof first === 'object' && first !== null ? first : { next: first, error, complete }) as {
      next?: (snapshot: unknown) => void;
      error?: (error: unknown) => void;
      complete?: () => void;
    };
    const { watch } = this.system as unknown as ActorSystem;
    const guard =
      (call: (value: unknown) => unknown) =>
      (value?: unknown): void =>
        attempt(
          () => call(value),
          ignored,
          (thrown) => watch.threw(thrown),
        );
    return super.subscribe({
      next: guard((snapshot) => observer.next?.(snapshot)),
      error: guard((failure) => observer.error?.(failure)),
      complete: guard(() => observer.complete?.()),
    });
  }
}

/**
 * Makes the root of a system.
 *
 * @param make takes what the options of its actor must hold
 * @throws {XStateVersionError} when the XState that is installed does not step as this library needs it
 */
export function makeRoot<Root extends { readonly sessionId: string }>(
  system: ActorSystem,
  make: (options: { readonly parent: never }) => Root,
): Root {
  assertSteps();
  return system.makeRoot(() => {
    const root = make({ parent: { system } as never });
    (root as unknown as ActorInternals)._parent = system.parent;
    return root;
  });
}

/** A session's actor; root of its system. */
export class SessionActor extends LivingActor<typeof sessionMachine> {
  static create(system: ActorSystem, id: string): SessionActor {
    return makeRoot(system, (options) => new SessionActor(sessionLogic, { parent: options.parent, id } as never));
  }

  step(type: SessionEventType, next: SnapshotFrom<typeof sessionMachine>): void {
    this.advance(sessionStepper.event(type), next);
  }
}

/** A call's actor; child of its session's. */
export class CallActor extends LivingActor<typeof toolInvocationMachine> {
  static create(parent: SessionActor, id: string, rules: CallRules): CallActor {
    const make = () => new CallActor(callLogic, { parent, id, input: rules } as never);
    const system = parent.system as unknown as ActorSystem;
    const actor = system.isInspected ? system.make(make) : make();
    actor.start();
    return actor;
  }

  step(type: CallEventType, next: SnapshotFrom<typeof toolInvocationMachine>): void {
    this.advance(callStepper.event(type), next);
  }
}

let stepsAreChecked = false;

/** @throws {XStateVersionError} when the XState that is installed does not step as this library needs it. */
function assertSteps(): void {
  if (stepsAreChecked) return;
  const problem = stepProblem();
  if (problem !== undefined) throw new XStateVersionError('a step that gives its actions in order', problem);
  stepsAreChecked = true;
}
