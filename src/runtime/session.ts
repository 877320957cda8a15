import type { Observable } from 'rxjs';
import type { ActorRefFrom, Subscription } from 'xstate';
import type { sessionMachine } from '../../machines/index.js';
import { InvalidInputError } from '../contract/errors.js';
import type { SessionId, TurnId } from '../contract/ids.js';
import type { InspectionObserver } from '../contract/inspector.js';
import type { CallReport, CloseReport, LifecycleEvent } from '../contract/lifecycle.js';
import type { BidiInput } from '../contract/provider.js';
import { type SessionTap, type Tappable, tapped } from '../contract/session-tap.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';
import { actPromise } from './host-acts.js';
import type { SessionRuntime } from './session-runtime.js';

/**
 * A session's actor as the host sees it: `getSnapshot`, `subscribe`, `waitFor`
 * and inspectors work on it. It is moved by the session alone; whatever is sent
 * to it from outside is ignored and noted.
 */
export type SessionActorRef = Omit<ActorRefFrom<typeof sessionMachine>, 'send' | 'stop' | 'start'> & {
  readonly send: never;
  readonly stop: never;
  readonly start: never;
};

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A duplex session: a conversation with no turn boundary. Host acts return
 * promises and never throw synchronously; a rejection that the host ignores
 * does no harm.
 */
export class Session implements Tappable {
  readonly #runtime: SessionRuntime;

  /** Made by `startSession`. */
  constructor(runtime: SessionRuntime) {
    this.#runtime = runtime;
  }

  get sessionId(): SessionId {
    return this.#runtime.settings.sessionId;
  }

  /** Names the whole run; constant. */
  get turnId(): TurnId {
    return this.#runtime.settings.turnId;
  }

  /**
   * The conversation, in order. Leaving the loop loses nothing, a later loop
   * resumes. After a local close or abort it ends at once; on any other end
   * after the last event. For several readers at once there is
   * {@link Session.events$}.
   *
   * @throws {TypeError} from the loop, while another one reads.
   */
  events(): AsyncIterable<BidiTurnEvent> {
    return this.#runtime.delivery;
  }

  /** The same events, hot and for any number of subscribers; completes at the end, never errors. */
  get events$(): Observable<BidiTurnEvent> {
    return this.#runtime.delivery.events$;
  }

  /** What goes on beside the conversation: each change of a call, approvals asked for, late outcomes, usage, diagnostics. Completes at the end. */
  get lifecycle$(): Observable<LifecycleEvent> {
    return this.#runtime.lifecycle$;
  }

  /** Every call of the session, in order of admission, and where it stands. */
  calls(): CallReport[] {
    return this.#runtime.calls();
  }

  /**
   * Pushes input from the human. Resolves when the driver took it; rejects with
   * the driver's error, with the exact abort reason once aborted, or with a
   * `SessionEndedError`; with an `InvalidInputError` when `input` is none.
   */
  send(input: BidiInput): Promise<void> {
    return actPromise((resolve, reject) => {
      expect('input', inputProblem(input), input);
      this.#runtime.act({ type: 'send', input, resolve, reject });
    });
  }

  /**
   * Asks the far side to stop its output; resolves at its `interrupted` event.
   * Abandons nothing by itself. `playedMs`: how much of the output the user
   * heard, in milliseconds. Rejects with a `NotSupportedError` where the driver
   * cannot, and as {@link Session.send} does.
   */
  interrupt(options: { readonly playedMs?: number } = {}): Promise<void> {
    return actPromise((resolve, reject) => {
      expect('options', isObject(options) ? undefined : 'an object', options);
      const { playedMs } = options;
      if (playedMs !== undefined) expect('playedMs', durationProblem(playedMs), playedMs);
      this.#runtime.act({ type: 'interrupt', playedMs, resolve, reject });
    });
  }

  /** Tells the far side how much of its output the user has heard, in milliseconds; does nothing where the driver does not want to know. Rejects as {@link Session.send} does. */
  played(ms: number): Promise<void> {
    return actPromise((resolve, reject) => {
      expect('ms', durationProblem(ms), ms);
      this.#runtime.act({ type: 'played', ms, resolve, reject });
    });
  }

  /** Lets a call run that waits for approval. Rejects with a `CallNotWaitingError` when it does not wait, and as {@link Session.send} does. */
  approve(id: string): Promise<void> {
    return actPromise((resolve, reject) => {
      expect('id', textProblem(id), id);
      this.#runtime.act({ type: 'approve', id, resolve, reject });
    });
  }

  /** Answers a call that waits for approval with an error that says `message`; its code never runs. Rejects as {@link Session.approve} does. */
  deny(id: string, message = 'the call was denied'): Promise<void> {
    return actPromise((resolve, reject) => {
      expect('id', textProblem(id), id);
      expect('message', textProblem(message), message);
      this.#runtime.act({ type: 'deny', id, message, resolve, reject });
    });
  }

  /** How the session ended. Never rejects. */
  get closed(): Promise<CloseReport> {
    return this.#runtime.closed;
  }

  /**
   * Ends the session: nothing is delivered or sent from now on. Resolves when
   * the driver has closed; rejects with its error, or with a
   * `SessionCloseTimeoutError` when it does not close in time (the session has
   * ended all the same). Resolves after the end.
   */
  close(): Promise<void> {
    return actPromise((resolve, reject) => this.#runtime.close(resolve, reject));
  }

  /** The session as an XState actor; its calls are its children by `_parent`. */
  get actor(): SessionActorRef {
    return this.#runtime.actor as unknown as SessionActorRef;
  }

  /** Lets an observer look on: it is told of what lives, parents first, then of all that happens. Gives what detaches it. */
  inspect(observer: InspectionObserver): Subscription['unsubscribe'] {
    return this.#runtime.inspect(observer);
  }

  /** @internal */
  [tapped](tap: SessionTap): () => void {
    return this.#runtime.tap(tap);
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Within the promise of an act: what is thrown rejects it. */
function expect(what: string, problem: string | undefined, found: unknown): void {
  if (problem !== undefined) throw new InvalidInputError(what, problem, found);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';

function textProblem(value: unknown): string | undefined {
  return isText(value) ? undefined : 'a string';
}

function durationProblem(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? undefined : 'a number of milliseconds';
}

function inputProblem(input: BidiInput): string | undefined {
  try {
    return fieldProblem(input);
  } catch {
    return 'fields that can be read';
  }
}

function fieldProblem(input: BidiInput): string | undefined {
  if (!isObject(input)) return 'an object with a `type`';
  if (input.type === 'text') return isText(input.text) ? undefined : '`text` to be a string';
  if (input.type !== 'audio') return '`type` to be text or audio';
  if (!isText(input.data)) return '`data` to be a base64 string';
  return isText(input.mediaType) ? undefined : '`mediaType` to be a string';
}
