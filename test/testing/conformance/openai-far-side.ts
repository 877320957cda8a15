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
  let next = 0;
  let after: string | undefined;
  const waiting: (() => void)[] = [];
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
        queueMicrotask(() => far.session.finish());
        return { text };
      }
      const turn = turns[next++] ?? {};
      after = turn.after;
      queueMicrotask(() => {
        if (turn.held === true) {
          far.session.stepPast(speaks ? 'response.output_audio_transcript.delta' : 'response.output_text.delta');
          while (far.session.framesLeft > 6) far.session.step();
        } else far.session.finish();
      });
      return {
        ...(turn.text === undefined ? {} : { text: turn.text }),
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
