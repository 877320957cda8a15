import { VirtualClock } from '../../virtual-clock.js';
import { type LoopbackConnection, LoopbackServer, type UpgradeAnswer, type UpgradeRequest } from '../server.js';
import type { GeminiFarSide } from './options.js';
import { GeminiPeer, type Shared } from './peer.js';

/** Options of {@link geminiLoopback}. */
export interface GeminiLoopbackOptions extends GeminiFarSide {
  /** What becomes of the request for a connection. Default: it is taken, where the path is one of the service's. */
  readonly upgrade?: (request: UpgradeRequest) => UpgradeAnswer | undefined;
  /** Told of each connection before anything is read from it: the place to make it misbehave. */
  readonly connected?: (peer: GeminiPeer) => void;
}

/** The paths on which either service takes connections; some clients begin them with two slashes. */
const paths: Readonly<Record<string, RegExp>> = {
  developer:
    /^\/{1,2}ws\/google\.ai\.generativelanguage\.v1(beta|alpha)?\.GenerativeService\.BidiGenerateContent(Constrained)?$/,
  vertex: /^\/{1,2}ws\/google\.cloud\.aiplatform\.v1(beta1)?\.LlmBidiService\/BidiGenerateContent$/,
};

/** A server on 127.0.0.1 that speaks Gemini Live, strict about what clients send. Make one with {@link geminiLoopback}. */
export class GeminiLoopback {
  /** Sessions, in the order of their connections. */
  readonly peers: GeminiPeer[] = [];
  readonly #server: LoopbackServer;
  readonly #shared: Shared;

  /** @internal */
  constructor(server: LoopbackServer, shared: Shared) {
    this.#server = server;
    this.#shared = shared;
  }

  /** For the option `baseUrl` of a client. */
  get url(): string {
    return `http://${this.#server.host}`;
  }

  /** What clients sent that the service would not have taken. A test of a client expects none. */
  get violations(): readonly string[] {
    return this.#shared.violations;
  }

  /** The session of the next connection. */
  async nextPeer(): Promise<GeminiPeer> {
    await this.#server.nextConnection();
    return this.peers.at(-1) as GeminiPeer;
  }

  /** The last session. */
  get peer(): GeminiPeer | undefined {
    return this.peers.at(-1);
  }

  /** Drops every connection, and stops listening. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Starts a loopback server of Gemini Live on a free port. */
export async function geminiLoopback(options: GeminiLoopbackOptions = {}): Promise<GeminiLoopback> {
  const clock = options.clock ?? new VirtualClock();
  const shared: Shared = { options, clock, violations: [], handles: new Map() };
  const server = await LoopbackServer.listen({
    upgrade: (request) => options.upgrade?.(request) ?? answerTo(request, options),
    connected: (connection: LoopbackConnection) => {
      const peer = new GeminiPeer(connection, shared);
      loopback.peers.push(peer);
      options.connected?.(peer);
      peer.begin();
    },
  });
  const loopback = new GeminiLoopback(server, shared);
  return loopback;
}

function answerTo({ path, query }: UpgradeRequest, { service = 'developer' }: GeminiLoopbackOptions): UpgradeAnswer {
  if (paths[service]?.test(path) !== true) return { refuse: 404, body: 'Not Found', contentType: 'text/plain' };
  const constrained = path.endsWith('Constrained');
  if (constrained !== query.has('access_token') && service === 'developer') {
    const error = { code: 403, message: "Method doesn't allow unregistered callers.", status: 'PERMISSION_DENIED' };
    if (constrained) return { refuse: 403, body: JSON.stringify({ error }) };
  }
  return { accept: true };
}
