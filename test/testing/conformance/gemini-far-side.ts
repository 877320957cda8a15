import { WebSocket } from 'ws';
import { type WsConstructor, wsSocket } from '../../../src/contract/web-socket.js';
import { type GeminiLiveOptions, geminiLive } from '../../../src/providers/gemini-live/index.js';
import type { ConformanceFarSide, FarSidePlan, ReceivedResult } from '../../../src/testing/conformance/index.js';
import {
  call,
  type GeminiLoopbackOptions,
  type GeminiPeer,
  geminiLoopback,
  pause,
  type Reply,
  say,
} from '../../../src/testing/loopback/gemini/index.js';

/** The loopback server of Gemini Live, or of Vertex AI, as a far side of the suite. */
export async function geminiFarSide(
  plan: FarSidePlan,
  service: 'developer' | 'vertex' = 'developer',
): Promise<ConformanceFarSide | undefined> {
  const { situation, reason } = plan;
  // This wire has no word for it.
  if (situation === 'refuses_results') return undefined;
  const turns = [...plan.turns];
  const stragglers: unknown[] = [];
  let asked = () => {};
  let connections = 0;
  const options: GeminiLoopbackOptions = {
    service,
    stragglers,
    withdrawal: 'none',
    *model(): Reply {
      const turn = turns.shift();
      if (turn?.text !== undefined) yield say(turn.text);
      if (turn?.held === true) yield pause(1_000_000);
      if (turn?.calls === undefined) return;
      yield call(...turn.calls.map(({ id, name, arguments: args }) => ({ id, name, args: JSON.parse(args) })));
      if (situation === 'leaves_results_unanswered') yield pause(1_000_000);
      if (turn.after !== undefined) yield say(turn.after);
    },
    ...(situation === 'refuses_connection' ? { setup: { code: 1008, reason } } : {}),
    ...(situation === 'leaves_connection_unanswered' ? { setup: 'silence' as const } : {}),
    connected: () => {
      connections++;
      asked();
    },
  };
  const far = await geminiLoopback(options);
  const endpoint: GeminiLiveOptions =
    service === 'vertex'
      ? { accessToken: 'ya29.a-token-of-a-test', vertex: { project: 'p', location: 'l' } }
      : { apiKey: 'a-key-of-a-test' };
  const peer = () => far.peer as GeminiPeer;
  const responses = () => far.peers.flatMap((one) => one.ofKind('toolResponse'));
  return {
    provider: geminiLive({
      ...endpoint,
      baseUrl: far.url,
      webSocket: (url, init) => wsSocket(WebSocket as unknown as WsConstructor, url, init),
      // Where nothing answers, time does not either.
      ...(situation === 'leaves_results_unanswered'
        ? { quietMs: 1_000_000, writeTimeoutMs: 1_000_000 }
        : { quietMs: 50 }),
    }),
    asked: new Promise((resolve) => {
      asked = resolve;
      if (connections > 0) resolve();
    }),
    interrupt(stale) {
      if (stale !== undefined) {
        const data = Buffer.from(stale.padEnd(6)).toString('base64');
        const parts = [{ text: stale }, { inlineData: { mimeType: 'audio/pcm', data } }];
        stragglers.push({ serverContent: { modelTurn: { parts }, outputTranscription: { text: stale } } });
      }
      peer().interrupt();
    },
    repeatCalls() {
      for (const frame of [...peer().sent]) if (isCall(frame)) peer().send(frame);
    },
    withdraw: (...ids) => peer().withdraw(...ids),
    get results() {
      return responses().flatMap(({ functionResponses }) => functionResponses.map(received));
    },
    async received(count) {
      await peer().message('toolResponse', count);
    },
    end: (why) => peer().close(1000, why),
    cut: () => peer().connection.cut('reset'),
    async gone() {
      await Promise.all(far.peers.map(({ connection }) => connection.closed));
    },
    async dispose() {
      await far.close();
      // The driver that is tried here sends nothing that the service would not take.
      if (far.violations.length > 0) throw new TypeError(far.violations.join('; '));
    },
  };
}

function received({ id, response }: { id: string; response: Record<string, unknown> }): ReceivedResult {
  const isError = 'error' in response;
  return { id, output: String(isError ? response.error : response.output), isError };
}

function isCall(frame: unknown): boolean {
  return typeof frame === 'object' && frame !== null && 'toolCall' in frame;
}
