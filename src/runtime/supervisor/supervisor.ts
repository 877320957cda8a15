import type { Observable } from 'rxjs';
import type { ActorRefFrom, Subscription } from 'xstate';
import type { supervisorMachine } from '../../../machines/index.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { Conversation } from '../conversation/conversation.js';
import type { ConversationOptions } from '../conversation/options.js';
import { assertObserver } from './arguments.js';
import { deadlineOf, type SupervisedSessionOptions } from './options.js';
import type { ShutdownReport } from './report.js';
import type { SupervisorStats } from './stats.js';
import type { SupervisedSession } from './supervised-session.js';
import type { SupervisorRuntime } from './supervisor-runtime.js';

/** A supervisor's actor as the host sees it: `getSnapshot`, `subscribe`, `waitFor` and inspectors work on it. What is sent to it is ignored. */
export type SupervisorActorRef = Omit<ActorRefFrom<typeof supervisorMachine>, 'send' | 'stop' | 'start'> & {
  readonly send: never;
  readonly stop: never;
  readonly start: never;
};

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Owns sessions and conversations: starts them within its limits, restarts sessions, and stops them all. */
export class Supervisor {
  readonly #runtime: SupervisorRuntime;

  /** Made by `createSupervisor`. @internal */
  constructor(runtime: SupervisorRuntime) {
    this.#runtime = runtime;
  }

  /** Its actor id in a journal. */
  get id(): string {
    return this.#runtime.settings.id;
  }

  /**
   * Starts a session, and resolves when its first incarnation is connected. One that cannot connect is not tried again: this
   * rejects as `startSession` does, besides with a `SupervisorLimitError`, a `SupervisorStoppingError`, and with an
   * `InvalidInputError` for the id of a child that lives.
   */
  startSession(options: SupervisedSessionOptions): Promise<SupervisedSession> {
    return this.#runtime.startSession(options);
  }

  /**
   * Makes a conversation, which is the supervisor's until it is closed.
   *
   * @throws what `createConversation` does, {@link SupervisorLimitError}, {@link SupervisorStoppingError}, and
   *   {@link InvalidInputError} for the id of a child that lives
   */
  createConversation(options: ConversationOptions = {}): Conversation {
    return this.#runtime.createConversation(options);
  }

  /** The child of that id, if it lives. The id of one that has ended is free again. */
  get(id: string): SupervisedSession | Conversation | undefined {
    return this.#runtime.get(id);
  }

  /** The children that live, in order of their start. */
  list(): (SupervisedSession | Conversation)[] {
    return this.#runtime.list();
  }

  get stats(): SupervisorStats {
    return this.#runtime.stats;
  }

  /** The counts now, and again after each turn of the event loop in which one has changed. Completes when the supervisor has stopped. */
  get stats$(): Observable<SupervisorStats> {
    return this.#runtime.feed.stats$;
  }

  /** Resolves when the supervisor has stopped. Never rejects. */
  get closed(): Promise<ShutdownReport> {
    return this.#runtime.closed.promise;
  }

  /**
   * Stops all children and then the supervisor, and says what became of each. Nothing is started any more; sessions take no acts
   * of the host; calls that are being published are waited for, and then each session is closed, the youngest first. What has not
   * finished in `deadlineMs` (default 5,000 ms; 0: at once) is closed, too, which takes as long as its `closeTimeoutMs` at most
   * (with 0, which is no limit, a driver that never closes is waited for).
   * Calling it again gives the same report, and may bring the deadline nearer, never put it off.
   *
   * Rejects with an `InvalidInputError` for a deadline that is none; nothing has happened then.
   */
  async shutdown(options: { readonly deadlineMs?: number } = {}): Promise<ShutdownReport> {
    return this.#runtime.shutdown(deadlineOf(options));
  }

  /** The supervisor as an XState actor; its children have it as `_parent`. */
  get actor(): SupervisorActorRef {
    return this.#runtime.actor as unknown as SupervisorActorRef;
  }

  /**
   * Lets an observer look on at the supervisor and all its children, those to come as well: it is told of what lives, parents first,
   * then of all that happens. Gives what detaches it.
   *
   * @throws {InvalidInputError} for what is no observer
   */
  inspect(observer: InspectionObserver): Subscription['unsubscribe'] {
    assertObserver('observer', observer);
    return this.#runtime.inspect(observer);
  }

  async [asyncDispose](): Promise<void> {
    await this.shutdown();
  }
}
