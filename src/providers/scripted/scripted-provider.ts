import type { BidiConnectParams, BidiEvent, BidiInput, BidiProvider, BidiSession } from '../../contract/provider.js';
import { EventQueue } from './event-queue.js';

/** A call into the scripted driver. */
export type DriverCall =
  | { readonly method: 'connect'; readonly params: BidiConnectParams }
  | { readonly method: 'send'; readonly input: BidiInput }
  | { readonly method: 'sendToolResult'; readonly id: string; readonly output: string; readonly isError: boolean }
  | { readonly method: 'abandonToolCall'; readonly id: string }
  | { readonly method: 'interrupt'; readonly playedMs?: number }
  | { readonly method: 'played'; readonly ms: number }
  | { readonly method: 'close' };

/** How a scripted driver answers one of its calls: once, whenever it likes. */
export interface DriverAnswer {
  resolve(): void;
  reject(error: unknown): void;
}

/** What a scripted driver is told to be. */
export interface ScriptedProviderOptions {
  /** Default `scripted`. */
  readonly id?: string;
  /** Emitted in order as soon as a session reads. */
  readonly events?: readonly BidiEvent[];
  /** Whether the driver has `abandonToolCall`. Default: no. */
  readonly abandonToolCall?: boolean;
  /** Whether the driver has `interrupt`. Default: no. */
  readonly interrupt?: boolean;
  /** Whether the driver has `played`. Default: no. */
  readonly played?: boolean;
  /** Is told of each call at the moment it is made, with the means to answer it. Default: every call is answered at once. */
  readonly onCall?: (call: DriverCall, answer: DriverAnswer) => void;
}

/**
 * A driver whose far side is a script: events come out as they are put in, and
 * every call into it is told. For tests, demonstrations and the simulator; it
 * serves one session.
 */
export class ScriptedProvider implements BidiProvider {
  readonly id: string;
  readonly #options: ScriptedProviderOptions;
  #queue = new EventQueue<BidiEvent>();

  constructor(options: ScriptedProviderOptions = {}) {
    this.id = options.id ?? 'scripted';
    this.#options = options;
    for (const event of options.events ?? []) this.#queue.push(event);
  }

  /** The far side emits this, as it stands: a malformed one too. After the end of the stream nothing comes of it. */
  emit(event: unknown): void {
    this.#queue.push(event as BidiEvent);
  }

  /** The event stream ends without `closed`. */
  end(): void {
    this.#queue.end();
  }

  /** The event stream throws. */
  fail(error: unknown): void {
    this.#queue.fail(error);
  }

  connect(params: BidiConnectParams): Promise<BidiSession> {
    return this.#call({ method: 'connect', params }).then(() => this.#session());
  }

  #session(): BidiSession {
    const queue = this.#queue;
    const { abandonToolCall, interrupt, played } = this.#options;
    const session: BidiSession = {
      send: (input) => this.#call({ method: 'send', input }),
      sendToolResult: (id, output, isError = false) => this.#call({ method: 'sendToolResult', id, output, isError }),
      events: () => queue,
      close: () => {
        queue.end();
        return this.#call({ method: 'close' });
      },
    };
    if (abandonToolCall) session.abandonToolCall = (id) => this.#call({ method: 'abandonToolCall', id });
    if (interrupt) {
      session.interrupt = ({ playedMs }) =>
        this.#call(playedMs === undefined ? { method: 'interrupt' } : { method: 'interrupt', playedMs });
    }
    if (played) session.played = ({ ms }) => this.#call({ method: 'played', ms });
    return session;
  }

  #call(call: DriverCall): Promise<void> {
    return new Promise((resolve, reject) => {
      const { onCall } = this.#options;
      if (onCall === undefined) resolve();
      else onCall(call, { resolve, reject });
    });
  }
}

/** Makes a scripted driver. */
export function scriptedProvider(options?: ScriptedProviderOptions): ScriptedProvider {
  return new ScriptedProvider(options);
}
