import { describe, expect, it } from 'vitest';
import { ResultRefusedError, SessionEndedError } from '../../src/contract/errors.js';
import type { BidiEvent, BidiSession } from '../../src/contract/provider.js';
import { type BidiTurnEvent, defineTool, startSession } from '../../src/index.js';
import { geminiLiveMapping } from '../../src/providers/gemini-live/index.js';
import { openaiRealtimeMapping } from '../../src/providers/openai-realtime/index.js';
import {
  parseRecording,
  recordedOutputs,
  recordedProvider,
  recordedTools,
} from '../../src/providers/recorded/index.js';
import * as gemini from './gemini-frames.js';
import { call, callOutput, created, done, errorFrame, speechStarted, text } from './openai-frames.js';
import { haveRecordings, recordingsOf } from './recordings.js';
import { conversation, words } from './steps.js';

const server = (...frames: unknown[]) => frames.map((data) => ({ dir: 's2c', data }) as const);
const close = (code: number, reason = '') => ({ dir: 's2c', close: { code, reason } }) as const;
const connect = { model: 'recorded' };

type Frames = Parameters<typeof recordedProvider>[0]['frames'];
const openai = (frames: Frames) => recordedProvider({ frames, mapping: openaiRealtimeMapping });
const geminiLive = (frames: Frames) => recordedProvider({ frames, mapping: geminiLiveMapping });

async function eventsOf(session: BidiSession): Promise<BidiEvent[]> {
  const events: BidiEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

const link = [created('r1'), call('r1', 'c1'), done('r1', { output: [callOutput('c1')] })];
const acknowledged = { type: 'conversation.item.added', item: { type: 'function_call_output', call_id: 'c1' } };

describe('what is played', () => {
  it('is what the server said, in order, on every connection anew', async () => {
    const provider = openai([
      ...server(created('r1'), text('r1', 'a')),
      { dir: 'c2s', data: text('r1', 'not theirs') },
      { dir: 'c2s', close: { code: 1000, reason: '' } },
      ...server(done('r1')),
    ]);
    for (const _ of [1, 2]) {
      expect(words(await eventsOf(await provider.connect(connect)))).toEqual(['text:a', 'turn_complete']);
    }
    expect(provider.id).toBe('recorded');
    expect(recordedProvider({ frames: [], mapping: geminiLiveMapping, id: 'mine' }).id).toBe('mine');
  });

  it('ends without closed where the recording stops, and with it where a close was recorded', async () => {
    const frames = server(text('r1', 'a'));
    const far = async (...more: Frames) => (await eventsOf(await openai([...frames, ...more]).connect(connect))).at(-1);
    expect(await far()).toEqual({ type: 'text', text: 'a' });
    expect(await far(close(1001, 'over'), ...frames)).toEqual({ type: 'closed', reason: 'over (close code 1001)' });
    expect(await far(close(1006))).toEqual({ type: 'closed', reason: 'close code 1006' });
  });

  it.each([
    ['the end', []],
    ['a close', [close(1000)]],
  ])('gives what is held back before %s', async (_, end) => {
    const frames = [...server(gemini.toolCall('t1'), gemini.turnComplete), ...end];
    const events = await eventsOf(await geminiLive(frames).connect(connect));
    expect(words(events).slice(0, 2)).toEqual(['call:t1:look:{"a":1}', 'turn_complete']);
  });

  it('goes on where an earlier reader stopped, and stops at close', async () => {
    const session = await openai(server(text('r1', 'a'), text('r1', 'b'), text('r1', 'c'))).connect(connect);
    for await (const event of session.events()) {
      expect(event).toEqual({ type: 'text', text: 'a' });
      break;
    }
    const [reader] = [session.events()[Symbol.asyncIterator]()];
    expect(await reader.next()).toEqual({ done: false, value: { type: 'text', text: 'b' } });
    await session.close();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });
});

describe('connect', () => {
  it('rejects with the reason of a signal that is aborted', async () => {
    const reason = new Error('enough');
    await expect(openai([]).connect({ ...connect, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('cannot resume', async () => {
    await expect(openai([]).connect({ ...connect, resume: 'handle' })).rejects.toMatchObject({ code: 'not_supported' });
  });
});

describe('sendToolResult', () => {
  it('resolves if the acknowledgement is in the recording, played or not', async () => {
    const session = await openai(server(...link, acknowledged)).connect(connect);
    await session.sendToolResult('c1', 'before');
    await eventsOf(session);
    await session.sendToolResult('c1', 'after');
  });

  it('resolves at once where the service acknowledges nothing', async () => {
    const session = await geminiLive(server(gemini.toolCall('t1'))).connect(connect);
    await session.sendToolResult('t1', 'x');
  });

  it('rejects if the refusal is in the recording', async () => {
    const refusal = errorFrame({
      code: 'invalid_tool_call_id',
      message: "Tool call ID 'c1' not found in conversation.",
    });
    const session = await openai(server(...link, refusal)).connect(connect);
    await expect(session.sendToolResult('c1', 'x')).rejects.toThrow(ResultRefusedError);
    await expect(session.sendToolResult('c1', 'x')).rejects.toThrow(/c1.*not found/);
  });

  it.each([
    ['close', (session: BidiSession) => session.close()],
    ['the end of the connection', (session: BidiSession) => eventsOf(session)],
  ])('is pending without either, until %s', async (_, end) => {
    const session = await openai([...server(...link), close(1011)]).connect(connect);
    let settled = false;
    const result = session.sendToolResult('c1', 'x').finally(() => {
      settled = true;
    });
    result.catch(() => {});
    for (let turn = 0; turn < 100; turn++) await undefined;
    expect(settled).toBe(false);
    await end(session);
    await expect(result).rejects.toThrow(SessionEndedError);
  });

  it('and send reject after the end', async () => {
    const session = await openai([]).connect(connect);
    await session.send({ type: 'text', text: 'hello' });
    await session.close();
    await expect(session.send({ type: 'text', text: 'hello' })).rejects.toThrow(SessionEndedError);
    await expect(session.sendToolResult('c1', 'x')).rejects.toThrow(SessionEndedError);
  });
});

/** Plays a recording through a whole session with stub tools. */
async function run(frames: Frames, mapping: typeof openaiRealtimeMapping | typeof geminiLiveMapping) {
  const outputs = recordedOutputs(frames);
  const tools = recordedTools(frames).map((name) =>
    defineTool({
      name,
      description: 'Answers what was recorded.',
      input: { type: 'object' },
      execute: async (_, { toolUseId }) => {
        await undefined;
        return outputs.get(toolUseId) ?? '{}';
      },
    }),
  );
  const session = await startSession({ provider: recordedProvider({ frames, mapping }), tools, connect });
  const events: BidiTurnEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return { events, report: await session.closed, outputs };
}

describe('a session with stub tools', () => {
  it('answers the last call of a recording that stops right after it', async () => {
    const { events, report } = await run(server(gemini.toolCall('t1', 't2')), geminiLiveMapping);
    expect(events.map((event) => event.type)).toEqual([
      ...['tool_started', 'tool_completed', 'tool_started', 'tool_completed'],
      'error',
    ]);
    expect(report).toMatchObject({ reason: 'stream_ended', calls: [{ state: 'completed' }, { state: 'completed' }] });
  });

  it('leaves a result that was never acknowledged unconfirmed', async () => {
    const { report } = await run(server(...link, speechStarted()), openaiRealtimeMapping);
    expect(report).toMatchObject({ reason: 'stream_ended', calls: [{ id: 'c1', state: 'unconfirmed' }] });
  });

  const recorded = (['openai', 'gemini'] as const).flatMap((service) =>
    recordingsOf(service, 'recorded').map((recording) => ({ ...recording, service })),
  );

  it.runIf(haveRecordings).each(recorded)('$service $name', async ({ frames, service }) => {
    const mapping = service === 'openai' ? openaiRealtimeMapping : geminiLiveMapping;
    const far = await eventsOf(await recordedProvider({ frames, mapping }).connect(connect));
    const { events, report, outputs } = await run(frames, mapping);

    const passed = new Set(['text', 'audio', 'turn_complete', 'interrupted']);
    expect(events.filter((event) => passed.has(event.type)).map((event) => event.type)).toEqual(
      conversation(far)
        .filter((event) => event.type !== 'tool_call')
        .map((event) => event.type),
    );
    const ids = far.flatMap((event) => (event.type === 'tool_call' ? [event.id] : []));
    const completed = events.flatMap((event) =>
      event.type === 'tool_completed' ? [[event.toolUseId, event.output, event.isError]] : [],
    );
    expect(completed).toEqual(ids.map((id) => [id, outputs.get(id) ?? '{}', false]));
    expect(report).toMatchObject({ reason: 'stream_ended' });
  });
});

it('a file and a session agree on what was said', async () => {
  const lines = server(created('r1'), text('r1', 'a'), done('r1')).map((frame) => JSON.stringify(frame));
  const { events } = await run(parseRecording(lines.join('\n'), 'f.jsonl'), openaiRealtimeMapping);
  expect(events.map((event) => event.type)).toEqual(['text', 'turn_complete', 'error']);
});
