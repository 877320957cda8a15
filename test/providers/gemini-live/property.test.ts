import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../../src/contract/provider.js';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { type GeminiPeer, geminiLoopback, type ReplyStep } from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { propertyRuns } from '../steps.js';
import { against, Reading, tool } from './live.js';

/** A step of a turn, before it knows which turn it belongs to. */
type Step = 'say' | 'think' | 'call' | 'two calls' | 'call that nobody waits for' | 'pause' | 'noise' | 'fail';

const step = fc.constantFrom<Step>(
  ...(['say', 'say', 'think', 'call', 'two calls', 'call that nobody waits for', 'pause', 'noise', 'fail'] as const),
);

type Act =
  | 'send'
  | 'speak'
  | 'interrupt'
  | 'far side interrupts'
  | 'phantom'
  | 'answer'
  | 'answer twice'
  | 'abandon'
  | 'withdraw'
  | 'repeat a call'
  | 'far clock'
  | 'own clock'
  | 'barrier';

const act = fc.constantFrom<Act>(
  ...([
    'send',
    'send',
    'speak',
    'interrupt',
    'far side interrupts',
    'phantom',
    'answer',
    'answer',
    'answer twice',
  ] as const),
  ...(['abandon', 'withdraw', 'repeat a call', 'far clock', 'own clock', 'barrier', 'barrier'] as const),
);

const schedule = fc.record({
  turns: fc.array(fc.array(step, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  acts: fc.array(act, { maxLength: 14 }),
  vertex: fc.boolean(),
  withdrawal: fc.constantFrom('before', 'after', 'none'),
  waitsForAll: fc.boolean(),
  noise: fc.boolean(),
  playbackMs: fc.constantFrom(0, 50),
  pieces: fc.constantFrom(1, 3),
  model: fc.constantFrom('gemini-2.5-flash-live', 'gemini-3.1-flash-live', 'gemini-3.8-live'),
  end: fc.constantFrom('host', 'abort', 'service', 'cut', 'reset'),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

const loud = Buffer.alloc(640, 0x40).toString('base64');
const silent = Buffer.alloc(16_000).toString('base64');

async function play(plan: Schedule) {
  const farClock = new VirtualClock();
  const clock = new VirtualClock();
  let turn = 0;
  await using far = await geminiLoopback({
    clock: farClock,
    service: plan.vertex ? 'vertex' : 'developer',
    withdrawal: plan.withdrawal,
    waitsForAll: plan.waitsForAll,
    noise: plan.noise,
    playbackMs: plan.playbackMs,
    connected: ({ connection }) => connection.fragment(plan.pieces),
    *model(asked) {
      const n = turn++;
      // An answer that nobody waited for is taken up with words alone, so that a schedule has an end.
      const steps = asked.type === 'answers' ? ['say' as const] : (plan.turns[n % plan.turns.length] ?? []);
      for (const [index, kind] of steps.entries()) yield* stepsOf(kind, `${n}.${index}`);
    },
  });
  const controller = new AbortController();
  const endpoint = plan.vertex
    ? { accessToken: 'ya29.a-token-of-a-test', vertex: { project: 'p', location: 'l' } }
    : {};
  const provider = geminiLive(
    against(far, { clock, modality: 'text', ...endpoint, ...(plan.vertex ? {} : { nonBlocking: ['free'] }) }),
  );
  const session = await provider.connect({
    model: plan.model,
    tools: [tool('look'), tool('free')],
    signal: controller.signal,
  });
  const reading = new Reading(session);
  const peer = far.peer as GeminiPeer;
  const results: { id: string; outcome: string }[] = [];
  const pending: Promise<unknown>[] = [];
  const answered = new Set<string>();
  const open = () =>
    reading.events.flatMap((event) => (event.type === 'tool_call' && !answered.has(event.id) ? [event.id] : []));
  const answer = (id: string) => {
    answered.add(id);
    const entry = { id, outcome: 'pending' };
    results.push(entry);
    pending.push(
      session.sendToolResult(id, 'done').then(
        () => {
          entry.outcome = 'resolved';
        },
        (error: { code: string }) => {
          entry.outcome = error.code;
        },
      ),
    );
  };
  let marks = 0;
  let heard = 0;
  for (const next of plan.acts) {
    const [id] = open();
    // A service that goes on after the first of several answers may end its turn without a word, while the user begins the next one:
    // no frame tells that `turnComplete` from the first half of a turn (G3), and the two are one stretch.
    const isHalfAnswered = !plan.waitsForAll && answered.size > 0 && id !== undefined;
    switch (next) {
      case 'send':
        if (isHalfAnswered) break;
        await session.send({ type: 'text', text: 'go' });
        if (plan.model.includes('3.1')) heard++;
        break;
      case 'speak':
        if (isHalfAnswered) break;
        for (const data of [loud, silent]) {
          await session.send({ type: 'audio', data, mediaType: 'audio/pcm;rate=16000' });
          heard++;
        }
        break;
      case 'interrupt':
        await session.interrupt?.({});
        break;
      case 'far side interrupts':
        peer.interrupt();
        break;
      case 'phantom':
        // On Vertex it cannot be told from one that cuts a turn which was completed at its calls.
        if (!plan.vertex) peer.send({ serverContent: { interrupted: true } });
        break;
      case 'answer':
        if (id !== undefined) answer(id);
        break;
      case 'answer twice':
        if (id !== undefined) answer(id);
        if (id !== undefined) answer(id);
        break;
      case 'abandon':
        if (id !== undefined) answered.add(id);
        if (id !== undefined) await session.abandonToolCall?.(id);
        break;
      case 'withdraw':
        if (id !== undefined) peer.withdraw(id);
        break;
      case 'repeat a call':
        if (id !== undefined) peer.send({ toolCall: { functionCalls: [{ id, name: 'look', args: {} }] } });
        break;
      case 'far clock':
        await farClock.advance(100, quiet);
        break;
      case 'own clock':
        await clock.advance(700, quiet);
        break;
      case 'barrier':
        // All that we sent has arrived when this has, and all of the far side's when its mark has.
        await session.send({ type: 'audio', data: 'AAAA', mediaType: 'audio/pcm;rate=16000' });
        await peer.message('realtimeInput', ++heard);
        peer.send({ usageMetadata: { totalTokenCount: 1000 + ++marks } });
        await reading.meets((event) => event.type === 'usage' && event.totalTokens === 1000 + marks);
        break;
    }
  }
  switch (plan.end) {
    case 'host':
      await session.close();
      break;
    case 'abort':
      controller.abort();
      break;
    case 'service':
      peer.close(1011, 'Internal error occurred.');
      break;
    default:
      peer.connection.cut(plan.end === 'cut' ? 'end' : 'reset');
  }
  await reading.done;
  await Promise.all(pending);
  await session.close();
  await peer.connection.closed;
  return { events: reading.events, results, far, peer, clock };
}

function* stepsOf(kind: Step, label: string): Generator<ReplyStep, void, unknown> {
  switch (kind) {
    case 'say':
      yield { type: 'say', text: label };
      break;
    case 'think':
      yield { type: 'think', text: 'hm' };
      break;
    case 'call':
      yield { type: 'call', calls: [{ name: 'look', id: `c${label}` }] };
      break;
    case 'two calls':
      yield {
        type: 'call',
        calls: [
          { name: 'look', id: `c${label}.1` },
          { name: 'look', id: `c${label}.2` },
        ],
      };
      break;
    case 'call that nobody waits for':
      yield { type: 'call', calls: [{ name: 'free', id: `c${label}` }] };
      break;
    case 'pause':
      yield { type: 'pause', ms: 100 };
      break;
    case 'noise':
      yield { type: 'frame', frame: { serverContent: {}, somethingNew: 1 } };
      break;
    case 'fail':
      yield { type: 'fail', reason: 'RESPONSE_REJECTED' };
      break;
  }
}

/** The number of the turn that an event belongs to. */
function turnOf(event: BidiEvent): string | undefined {
  if (event.type === 'text') return event.text.split('.')[0];
  return event.type === 'tool_call' ? event.id.slice(1).split('.')[0] : undefined;
}

describe('whatever a legal service does, and whatever its host does', () => {
  it('every turn ends once, nothing of it comes after that, no call twice, no result pending after the end', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (plan) => {
        const { events, results, far, peer, clock } = await play(plan);

        // Between two ends there is one turn alone, and a turn that has ended is not heard of again.
        const ended = new Set<string>();
        let current: string | undefined;
        let terminals = 0;
        for (const event of events) {
          const turn = turnOf(event);
          if (turn !== undefined) {
            expect(ended.has(turn), `turn ${turn} after its end`).toBe(false);
            expect(current ?? turn, 'two turns with no end between them').toBe(turn);
            current = turn;
          }
          if (event.type === 'turn_complete' || event.type === 'interrupted') {
            terminals++;
            if (current !== undefined) ended.add(current);
            current = undefined;
          }
        }
        // No more ends than the service and the host gave cause for.
        const causes = peer.sent.filter((frame) => /"(turnComplete|interrupted)":true/.test(JSON.stringify(frame)));
        const asked = plan.acts.filter((one) => one === 'interrupt').length;
        expect(terminals).toBeLessThanOrEqual(causes.length + asked);

        const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.id] : []));
        expect(new Set(calls).size).toBe(calls.length);
        // A host's own end is the last word; any other end is told once, as the last event.
        const closes = events.filter(({ type }) => type === 'closed');
        if (plan.end === 'host' || plan.end === 'abort') expect(closes).toEqual([]);
        else expect([closes.length, events.at(-1)?.type]).toEqual([1, 'closed']);

        for (const { id, outcome } of results) {
          expect(['resolved', 'result_refused', 'result_unknown', 'session_ended'], id).toContain(outcome);
        }
        const answers = peer.ofKind('toolResponse').flatMap(({ functionResponses }) => functionResponses);
        expect(new Set(answers.map(({ id }: { id: string }) => id)).size).toBe(answers.length);
        expect(far.violations).toEqual([]);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: Math.ceil(propertyRuns / 3) },
    );
  });
});
