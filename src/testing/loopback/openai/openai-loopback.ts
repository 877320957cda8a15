import { platformClock } from '../../../contract/platform-clock.js';
import { type LoopbackConnection, LoopbackServer, type UpgradeAnswer, type UpgradeRequest } from '../server.js';
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
    return upgrade(request, this.#options);
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
