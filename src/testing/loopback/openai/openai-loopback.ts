import { platformClock } from '../../../contract/platform-clock.js';
import {
  type HttpAnswer,
  type HttpRequest,
  type LoopbackConnection,
  LoopbackServer,
  type UpgradeAnswer,
  type UpgradeRequest,
} from '../server.js';
import { OpenAiFakeSession } from './fake-session.js';
import type { OpenAiConnectFault, OpenAiLoopbackOptions } from './script.js';
import { refuse, upgrade } from './upgrade.js';

/**
 * A fake of OpenAI Realtime, or of a service that speaks its protocol, on a real socket of this machine. It checks what the
 * client sends field by field, answers by a script, and misbehaves on demand.
 */
export class OpenAiLoopback {
  /** Every session that a client got as far as, in order. */
  readonly sessions: OpenAiFakeSession[] = [];
  readonly #options: OpenAiLoopbackOptions;
  #server: LoopbackServer | undefined;
  readonly #minted: string[] = [];
  #requests = 0;
  #waiting: ((session: OpenAiFakeSession) => void)[] = [];

  private constructor(options: OpenAiLoopbackOptions) {
    this.#options = options;
  }

  static async listen(options: OpenAiLoopbackOptions): Promise<OpenAiLoopback> {
    const fake = new OpenAiLoopback(options);
    fake.#server = await LoopbackServer.listen({
      upgrade: (request) => fake.#upgrade(request),
      connected: (connection) => fake.#connected(connection),
      http: (request) => fake.#clientSecret(request),
    });
    return fake;
  }

  get server(): LoopbackServer {
    return this.#server as LoopbackServer;
  }

  /** What to hand a driver as `baseUrl`. */
  get baseUrl(): string {
    const { dialect = 'openai' } = this.#options;
    const path = dialect === 'azure' ? '/openai/v1' : dialect === 'azure-voice-live' ? '/voice-live' : '/v1';
    return `ws://${this.server.host}${path}`;
  }

  /** The session of the latest client. */
  get session(): OpenAiFakeSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new RangeError('no client has connected');
    return session;
  }

  /** The session of the next client. */
  nextSession(): Promise<OpenAiFakeSession> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What clients did that no client should. */
  get violations(): string[] {
    return this.sessions.flatMap(({ violations }) => violations);
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #upgrade(request: UpgradeRequest): UpgradeAnswer {
    const fault = this.#options.connectFault?.(this.#requests++);
    if (fault?.type === 'hang') return { hang: true };
    if (fault?.type === 'refuse') return refuse(fault.status, null, fault.message ?? 'refused');
    const { keys } = this.#options;
    return upgrade(
      request,
      keys === undefined ? this.#options : { ...this.#options, keys: [...keys, ...this.#minted] },
    );
  }

  /** `POST …/realtime/client_secrets`: a key for a browser, for whoever has a good one. */
  #clientSecret({ method, path, headers }: HttpRequest): HttpAnswer {
    const refused = (status: number, message: string): HttpAnswer => ({
      status,
      json: { error: { message, type: 'invalid_request_error', code: null, param: null } },
    });
    if (method !== 'POST' || !path.endsWith('/realtime/client_secrets')) return refused(404, 'Invalid URL');
    const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    const { keys, clock = platformClock } = this.#options;
    if (key === undefined || (keys !== undefined && !keys.includes(key)))
      return refused(401, 'Incorrect API key provided');
    const value = `ek_${this.#minted.length + 1}`;
    this.#minted.push(value);
    return { status: 200, json: { value, expires_at: Math.floor(clock.now() / 1000) + 600, session: {} } };
  }

  #connected(connection: LoopbackConnection): void {
    const index = this.#requests - 1;
    const fault = this.#options.connectFault?.(index);
    if (fault !== undefined && !isLater(fault)) {
      misbehave(connection, fault);
      return;
    }
    const session = new OpenAiFakeSession(connection, this.#options, this.#options.clock ?? platformClock, index);
    this.sessions.push(session);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(session);
  }
}

/** Starts a fake of OpenAI Realtime on 127.0.0.1. Close it when it is done. */
export function openaiLoopback(options: OpenAiLoopbackOptions = {}): Promise<OpenAiLoopback> {
  return OpenAiLoopback.listen(options);
}

/** Whether a fault shows only after the greeting. */
function isLater(fault: OpenAiConnectFault): boolean {
  return fault.type === 'no_set_up' || fault.type === 'refuse_set_up';
}

function misbehave(connection: LoopbackConnection, fault: OpenAiConnectFault): void {
  switch (fault.type) {
    case 'error': {
      const { code, message } = fault;
      const error = { type: 'invalid_request_error', code, message, param: null, event_id: null };
      connection.sendJson({ type: 'error', event_id: 'event_1', error });
      break;
    }
    case 'close':
      connection.close(fault.code, fault.reason);
      break;
    case 'cut':
      connection.cut();
      break;
    default:
  }
}
