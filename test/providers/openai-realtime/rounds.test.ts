import { describe, expect, it } from 'vitest';
import type { OpenAiRealtimeDialect } from '../../../src/providers/openai-realtime/index.js';
import { words } from '../steps.js';
import { arrived, calls, connected, look, say, sent, settled } from './far.js';

// Z2, R1, R2 and the turns, over a socket.

const dialects: OpenAiRealtimeDialect[] = ['openai', 'azure', 'azure-voice-live', 'xai'];

describe('a tool round', () => {
  it.each(dialects)('%s: the call, its result, the answer, one terminal', async (dialect) => {
    const pair = await connected({
      fake: {
        dialect,
        reply: ({ index }) => (index === 0 ? { text: 'One moment.', ...calls(1) } : { text: 'It is 7.' }),
      },
    });
    const { session, log, far } = pair;
    await say(session);
    await log.untilType('tool_call');
    await session.sendToolResult('call_1', '7');
    await log.untilType('turn_complete');
    const events = await settled(pair);
    const spoken = events.filter(({ type }) => type !== 'audio' && type !== 'usage');
    expect(words(spoken)).toEqual([
      ...['text:One', 'text: moment.', 'call:call_1:look:{"n":0}'],
      ...['text:It', 'text: is', 'text: 7.', 'turn_complete'],
    ]);
    expect(events.some(({ type }) => type === 'audio')).toBe(dialect === 'xai');
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(2);
    expect(sent(far)).toEqual([
      ...['conversation.item.create', 'response.create'],
      ...['conversation.item.create', 'response.create'],
    ]);
    expect(far.items.at(-2)).toMatchObject({ type: 'function_call_output', call_id: 'call_1', output: '7' });
  });

  it('a call is given when it is final, and not before', async () => {
    const pair = await connected({ fake: { pace: 'stepwise', reply: () => calls(1) } });
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.stepPast('response.function_call_arguments.done');
    expect(await settled(pair)).toEqual([]);
    pair.far.stepPast('response.output_item.done');
    expect(words(await settled(pair))).toEqual(['call:call_1:look:{"n":0}']);
  });

  it.each([
    ['', '{}'],
    [' \n', '{}'],
    ['{  \n  "n": 1 \n} \n', '{  \n  "n": 1 \n} \n'],
  ])('arguments %j are given as %j', async (written, given) => {
    const pair = await connected({ fake: { reply: () => ({ calls: [{ name: 'look', arguments: written }] }) } });
    await say(pair.session);
    const [event] = await pair.log.untilType('tool_call');
    expect(event).toEqual({ type: 'tool_call', id: 'call_1', name: 'look', arguments: given });
  });

  it('what the wire repeats is given once, and unknown and sparse frames do no harm', async () => {
    const habits = { repeats: true, unknownFrames: true, sparse: true };
    const diagnostics: string[] = [];
    const pair = await connected({
      fake: { habits, reply: ({ index }) => (index === 0 ? { text: 'One moment.', ...calls(2) } : { text: 'Two.' }) },
      driver: { onDiagnostic: ({ code }) => diagnostics.push(code) },
    });
    await say(pair.session);
    await pair.log.untilType('tool_call', 2);
    await Promise.all([pair.session.sendToolResult('call_1', 'a'), pair.session.sendToolResult('call_2', 'b')]);
    await pair.log.untilType('turn_complete');
    expect(words(await settled(pair)).filter((word) => word !== 'usage')).toEqual([
      ...['text:One', 'text: moment.', 'call:call_1:look:{"n":0}', 'call:call_2:look:{"n":1}'],
      ...['text:Two.', 'turn_complete'],
    ]);
    expect(new Set(diagnostics)).toEqual(new Set(['unknown_frame', 'repeated_call']));
  });

  it('an error result is JSON that says so', async () => {
    const pair = await connected({ fake: { reply: ({ index }) => (index === 0 ? calls(1) : undefined) } });
    await say(pair.session);
    await pair.log.untilType('tool_call');
    await pair.session.sendToolResult('call_1', 'no such "room"', true);
    expect(pair.far.items.find(({ type }) => type === 'function_call_output')?.output).toBe(
      JSON.stringify({ error: 'no such "room"' }),
    );
  });
});

describe('parallel calls', () => {
  it.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]]])(
    'answered in the order %j: one request, after the last',
    async (order) => {
      const pair = await connected({ fake: { reply: ({ index }) => (index === 0 ? calls(3) : { text: 'Three.' }) } });
      const { session, log, far } = pair;
      await say(session);
      await log.untilType('tool_call', 3);
      for (const n of order) {
        expect(far.of('response.create')).toHaveLength(1);
        await session.sendToolResult(`call_${n + 1}`, String(n));
      }
      await log.untilType('turn_complete');
      expect(far.of('response.create')).toHaveLength(2);
      const outputs = far.items.filter(({ type }) => type === 'function_call_output');
      expect(outputs.map(({ output }) => output)).toEqual(order.map(String));
    },
  );

  it('answered before the response is done: the request waits for it', async () => {
    const pair = await connected({ fake: { pace: 'stepwise', reply: ({ index }) => (index === 0 ? calls(2) : {}) } });
    const { session, log, far } = pair;
    await say(session);
    await arrived(far, 'response.create');
    far.stepPast('response.output_item.done');
    await log.untilType('tool_call');
    await session.sendToolResult('call_1', 'a');
    far.stepPast('response.output_item.done');
    await log.untilType('tool_call', 2);
    await session.sendToolResult('call_2', 'b');
    expect(far.of('response.create')).toHaveLength(1);
    far.finish();
    await arrived(far, 'response.create', 2);
    far.finish();
    await log.untilType('turn_complete');
    expect(sent(far).filter((type) => type === 'response.create')).toHaveLength(2);
  });

  it('acknowledged only after the response: results resolve then, and the request does not wait for it', async () => {
    const habits = { acknowledge: 'after_response' } as const;
    const pair = await connected({
      fake: { pace: 'stepwise', habits, reply: ({ index }) => (index === 0 ? calls(1) : {}) },
    });
    const { session, log, far } = pair;
    await say(session);
    await arrived(far, 'response.create');
    far.stepPast('response.output_item.done');
    await log.untilType('tool_call');
    let isSettled = false;
    const answer = session.sendToolResult('call_1', 'a').then(() => {
      isSettled = true;
    });
    await arrived(far, 'conversation.item.create', 2);
    await settled(pair);
    expect(isSettled).toBe(false);
    far.finish();
    await answer;
    await arrived(far, 'response.create', 2);
  });

  it('text between the calls of a turn is answered at once, and the results after that', async () => {
    const pair = await connected({ fake: { reply: ({ index }) => (index === 0 ? calls(2) : { text: `r${index}` }) } });
    const { session, log, far } = pair;
    await say(session);
    await log.untilType('tool_call', 2);
    await session.sendToolResult('call_1', 'a');
    await say(session, 'and?');
    await log.untilType('turn_complete');
    await session.sendToolResult('call_2', 'b');
    await log.untilType('turn_complete', 2);
    expect(far.of('response.create')).toHaveLength(3);
    expect(words(await settled(pair)).filter((word) => word.startsWith('text'))).toEqual(['text:r1', 'text:r2']);
  });
});

describe('what stands beside the conversation', () => {
  it('transcripts of the user, pieces and the whole', async () => {
    const pair = await connected({
      driver: { turnDetection: { type: 'server_vad' }, transcription: { model: 'gpt-4o-mini-transcribe' } },
    });
    pair.far.speechStarts();
    pair.far.speechStops('what is it');
    await pair.log.untilType('turn_complete');
    expect(words(await settled(pair)).filter((word) => word.startsWith('heard'))).toEqual([
      ...['heard:what:piece', 'heard: is:piece', 'heard: it:piece', 'heard:what is it:final'],
    ]);
  });

  it('the end of the session, a minute before it', async () => {
    const { VirtualClock } = await import('../../../src/testing/virtual-clock.js');
    const clock = new VirtualClock();
    const pair = await connected({ fake: { clock, maxSessionMs: 600_000 }, driver: { clock } });
    await clock.advance(539_999, async () => {});
    expect(await settled(pair)).toEqual([]);
    await clock.advance(1, async () => {});
    expect(words(await settled(pair))).toEqual(['expiring:60000']);
  });

  it('a response that fails, and one that is not complete', async () => {
    const pair = await connected({
      fake: {
        reply: ({ index }) =>
          index === 0
            ? { ending: { status: 'failed', code: 'rate_limit_exceeded', message: 'Slow down.' } }
            : { text: 'a', ending: { status: 'incomplete', reason: 'max_output_tokens' } },
      },
    });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    await say(pair.session);
    await pair.log.untilType('turn_complete', 2);
    expect(words(await settled(pair))).toEqual([
      ...['error:response failed: rate_limit_exceeded: Slow down.', 'turn_complete'],
      ...['text:a', 'error:response incomplete: max_output_tokens', 'turn_complete'],
    ]);
  });

  it('tools and instructions are set up as the service takes them', async () => {
    const { far } = await connected({ params: { system: 'Be brief.', tools: [look] } });
    expect(far.session).toMatchObject({
      instructions: 'Be brief.',
      output_modalities: ['text'],
      tools: [{ type: 'function', name: 'look', description: 'Looks something up.', parameters: { type: 'object' } }],
    });
  });
});
