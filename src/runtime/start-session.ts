import type { BidiProvider } from '../contract/provider.js';
import { assertAtOnce } from './at-once.js';
import { type SessionOptions, settingsOf } from './options.js';
import type { PlacePool } from './place-pool.js';
import { Session } from './session.js';
import { SessionRuntime } from './session-runtime.js';

/** What `startSession` takes. */
export interface StartOptions extends SessionOptions {
  /**
   * Is given the session before it connects: whoever subscribes or begins a recording here misses nothing of it. What it throws,
   * the start rejects with, and nothing is connected; the session that it was given has failed to connect.
   * It is not waited for: one that gives a promise is refused with an `InvalidInputError`.
   */
  readonly prepare?: (session: Session) => void;
}

/**
 * Connects to a far side and starts a session.
 *
 * Rejects with a `TypeError`, `RangeError` or `InvalidIdError` when an option is
 * wrong (nothing was connected); with the reason of `signal` when the host
 * aborts before there is a connection; with a `ConnectTimeoutError`; or with
 * the driver's own error.
 */
export async function startSession(options: StartOptions): Promise<Session> {
  const { session, started } = openSession(options);
  await started;
  return session;
}

/** A session that may still be connecting, and the promise of its connection. */
export interface OpenedSession {
  readonly session: Session;
  readonly started: Promise<void>;
}

/** What a session shares with others, by the will of whoever holds them all. */
export interface SharedParts {
  /** Calls get their places here, in order of asking over all sessions that share it; `maxConcurrentTools` bounds each session beside it. */
  readonly places?: PlacePool;
}

/** As {@link startSession}, for whoever has to hold a session before it is connected. Throws where that rejects for an option. */
export function openSession(options: StartOptions, shared?: SharedParts): OpenedSession {
  const settings = settingsOf(options);
  const { signal, inspect, prepare } = options;
  if (signal?.aborted) throw signal.reason;
  if (prepare !== undefined && typeof prepare !== 'function') throw new TypeError('prepare: expected a function');
  const gate = prepare && new Gate(settings.provider, signal);
  const runtime = new SessionRuntime(
    gate === undefined ? settings : { ...settings, provider: gate },
    inspect,
    shared?.places,
  );
  const session = new Session(runtime);
  if (prepare !== undefined) {
    try {
      runtime.hold();
      assertAtOnce('what `prepare` gave', 'nothing', prepare(session));
    } catch (thrown) {
      (gate as Gate).refusal = { error: thrown };
      runtime.start(undefined).catch(() => {});
      throw thrown;
    }
    // a signal says nothing to whoever listens after its abort
    if (signal?.aborted) runtime.happens('host_abort', { error: signal.reason });
  }
  return { session, started: runtime.start(signal) };
}

/** Lets nothing be connected for a host that has given up before. */
class Gate implements BidiProvider {
  readonly #provider: BidiProvider;
  readonly #signal: AbortSignal | undefined;
  refusal: { readonly error: unknown } | undefined;

  constructor(provider: BidiProvider, signal: AbortSignal | undefined) {
    this.#provider = provider;
    this.#signal = signal;
  }

  get id(): BidiProvider['id'] {
    return this.#provider.id;
  }

  connect(...params: Parameters<BidiProvider['connect']>): ReturnType<BidiProvider['connect']> {
    if (this.refusal !== undefined) throw this.refusal.error;
    if (this.#signal?.aborted) throw this.#signal.reason;
    return this.#provider.connect(...params);
  }
}
