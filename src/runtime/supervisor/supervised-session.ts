import type { Observable } from 'rxjs';
import type { Subscription } from 'xstate';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { CallReport, LifecycleEvent } from '../../contract/lifecycle.js';
import type { BidiInput } from '../../contract/provider.js';
import { type SessionTap, type Tappable, tapped } from '../../contract/session-tap.js';
import type { BidiTurnEvent } from '../../contract/turn-event.js';
import type { Delivery } from '../delivery.js';
import { actPromise } from '../host-acts.js';
import type { Session } from '../session.js';
import { assertObserver } from './arguments.js';
import type { SupervisedCloseReport } from './report.js';

/** What lives behind a supervised session. */
export interface SupervisedLife {
  readonly id: string;
  readonly current: Session | undefined;
  readonly delivery: Delivery;
  readonly lifecycle$: Observable<LifecycleEvent>;
  readonly closed: { readonly promise: Promise<SupervisedCloseReport> };
  act(run: (session: Session) => Promise<void>): Promise<void>;
  calls(): CallReport[];
  close(resolve: () => void, reject: (error: unknown) => void): void;
  inspect(observer: InspectionObserver): () => void;
  tap(tap: SessionTap): () => void;
}

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A session that goes on across incarnations: when one ends and its restart rules say so, another connects in its place, under
 * an id of its own. Ids of calls mean something within one incarnation only.
 *
 * Acts (`send`, `interrupt`, `played`, `approve`, `deny`) go to the incarnation that lives, and reject as a session's do; besides
 * with a `SessionRestartingError` while there is none, and with a `SupervisorStoppingError` once a shutdown has begun.
 */
export class SupervisedSession implements Tappable {
  readonly #child: SupervisedLife;

  /** Made by `supervisor.startSession`. @internal */
  constructor(child: SupervisedLife) {
    this.#child = child;
  }

  /** Its name among the children of the supervisor. */
  get id(): string {
    return this.#child.id;
  }

  /** The incarnation that lives; `undefined` between two, and after the end. Its `events()` are those of the supervised session. */
  get current(): Session | undefined {
    return this.#child.current;
  }

  /**
   * The conversation, across incarnations, in order: each event has the id of its incarnation. Ends with the supervised session;
   * for the rest as those of a session.
   *
   * @throws {TypeError} from the loop, while another one reads.
   */
  events(): AsyncIterable<BidiTurnEvent> {
    return this.#child.delivery;
  }

  /** The same events, hot and for any number of subscribers; completes at the end, never errors. */
  get events$(): Observable<BidiTurnEvent> {
    return this.#child.delivery.events$;
  }

  /** What goes on beside the conversation, across incarnations, with `restarting`, `restarted` and `failed`. Completes at the end. */
  get lifecycle$(): Observable<LifecycleEvent> {
    return this.#child.lifecycle$;
  }

  /** The calls of the incarnation that lives, or of the last one. */
  calls(): CallReport[] {
    return this.#child.calls();
  }

  /** As {@link Session.send}. */
  send(input: BidiInput): Promise<void> {
    return this.#child.act((session) => session.send(input));
  }

  /** As {@link Session.interrupt}. */
  interrupt(options: { readonly playedMs?: number } = {}): Promise<void> {
    return this.#child.act((session) => session.interrupt(options));
  }

  /** As {@link Session.played}. */
  played(ms: number): Promise<void> {
    return this.#child.act((session) => session.played(ms));
  }

  /** As {@link Session.approve}. */
  approve(id: string): Promise<void> {
    return this.#child.act((session) => session.approve(id));
  }

  /** As {@link Session.deny}. */
  deny(id: string, message?: string): Promise<void> {
    return this.#child.act((session) => session.deny(id, message));
  }

  /** How it ended, for good. Never rejects. */
  get closed(): Promise<SupervisedCloseReport> {
    return this.#child.closed.promise;
  }

  /** Ends it for good, whatever its restart rules say: nothing is delivered or sent from now on. Settles as {@link Session.close} does. */
  close(): Promise<void> {
    return actPromise((resolve, reject) => this.#child.close(resolve, reject));
  }

  /**
   * Lets an observer look on at this incarnation and all that follow: it is told of what lives, parents first, then of all that
   * happens. Gives what detaches it.
   *
   * @throws {InvalidInputError} for what is no observer
   */
  inspect(observer: InspectionObserver): Subscription['unsubscribe'] {
    assertObserver('observer', observer);
    return this.#child.inspect(observer);
  }

  /** @internal */
  [tapped](tap: SessionTap): () => void {
    return this.#child.tap(tap);
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
