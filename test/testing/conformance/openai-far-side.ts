import { WebSocket } from 'ws';
import { type WsConstructor, wsSocket } from '../../../src/contract/web-socket.js';
import { type OpenAiRealtimeDialect, openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import type {
  ConformanceFarSide,
  ConformanceTurn,
  FarSidePlan,
  ReceivedResult,
} from '../../../src/testing/conformance/index.js';
import { type OpenAiLoopback, type OpenAiReply, openaiLoopback } from '../../../src/testing/loopback/openai/index.js';

/** The loopback server of OpenAI Realtime, in one of its dialects, as a far side of the suite. */
export async function openaiFarSide(plan: FarSidePlan, dialect: OpenAiRealtimeDialect): Promise<ConformanceFarSide> {
  const { situation, reason } = plan;
  const speaks = dialect === 'xai';
  const turns: readonly ConformanceTurn[] = plan.turns;
  const delta = speaks ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
  let next = 0;
  let after: string | undefined;
  const waiting: (() => void)[] = [];
  // The script does not say who asked for a reply.
  const speaking = () => far.sessions.find(({ framesLeft }) => framesLeft > 0);
  let asked = () => {};
  let requests = 0;
  const habits: { acknowledge?: 'never'; stragglers?: number } = {};
  const far: OpenAiLoopback = await openaiLoopback({
    dialect,
    pace: 'stepwise',
    habits,
    connectFault() {
      requests++;
      asked();
      if (situation === 'refuses_connection') return { type: 'refuse', status: 403, message: reason };
      return situation === 'leaves_connection_unanswered' ? { type: 'no_set_up' } : undefined;
    },
    reply: (): OpenAiReply => {
      // The model goes on once its calls are answered, and that is a response of its own.
      if (after !== undefined) {
        const text = after;
        after = undefined;
        queueMicrotask(() => speaking()?.finish());
        return { text };
      }
      const turn = turns[next++] ?? {};
      after = turn.after;
      queueMicrotask(() => {
        if (turn.held !== true) speaking()?.finish();
        else for (const _ of wordsOf(turn.text)) speaking()?.stepPast(delta);
      });
      return {
        // What is left of a turn that is held is what still comes of it when it is cut.
        ...(turn.text === undefined ? {} : { text: turn.held === true ? `${turn.text} stale stale` : turn.text }),
        ...(turn.calls === undefined
          ? {}
          : { calls: turn.calls.map(({ id, name, arguments: args }) => ({ callId: id, name, arguments: args })) }),
      };
    },
  });
  const results: ReceivedResult[] = [];
  const watch = () => {
    const { session } = far;
    session.intercept = (message) => {
      const item = message.item as { type?: string; call_id?: string; output?: string; id?: string } | undefined;
      if (item?.type !== 'function_call_output') return situation === 'leaves_results_unanswered' && results.length > 0;
      const { output = '', call_id: id = '' } = item;
      results.push({ id, output, isError: output.includes('"error"') });
      for (const wake of waiting.splice(0)) wake();
      if (situation === 'refuses_results') {
        session.error({ code: 'invalid_value', message: reason }, String(message.event_id));
        return true;
      }
      return situation === 'leaves_results_unanswered';
    };
  };
  const provider = openaiRealtime({
    dialect,
    apiKey: 'a-key-of-a-test',
    baseUrl: far.baseUrl,
    webSocket: (url, init) => wsSocket(WebSocket as unknown as WsConstructor, url, init),
    modalities: speaks ? ['audio'] : ['text'],
    // What the user says in sound cuts the model, and asks for nothing.
    turnDetection: { type: 'server_vad', createResponse: false, interruptResponse: true },
    resultTimeoutMs: 1_000_000,
  });
  return {
    provider: {
      id: provider.id,
      async connect(params) {
        const session = await provider.connect(params);
        watch();
        return session;
      },
    },
    asked: new Promise((resolve) => {
      asked = resolve;
      if (requests > 0) resolve();
    }),
    interrupt(stale) {
      // It is the fake that has the words: what is left of the turn.
      if (stale !== undefined) habits.stragglers = 2;
      far.session.speechStarts();
    },
    repeatCalls() {
      const calls = far.session.items.filter(({ type }) => type === 'function_call');
      for (const item of calls) {
        far.session.emit({ type: 'response.output_item.done', response_id: 'resp_1', output_index: 0, item });
      }
    },
    results,
    async received(count) {
      while (results.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    end: (why) => far.session.connection.close(1000, why),
    cut: () => far.session.connection.cut('reset'),
    async gone() {
      await Promise.all(far.server.connections.map(({ closed }) => closed));
    },
    async dispose() {
      await far.close();
      if (far.violations.length > 0) throw new TypeError(far.violations.join('; '));
    },
  };
}

function wordsOf(text = ''): string[] {
  return text.match(/\s*\S+/g) ?? [];
}
