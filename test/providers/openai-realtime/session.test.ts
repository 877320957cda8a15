import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import { type WsConstructor, wsSocket } from '../../../src/contract/web-socket.js';
import { type OpenAiRealtimeOptions, openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import { defineTool, type Session, startSession } from '../../../src/runtime/index.js';
import type { OpenAiLoopbackOptions } from '../../../src/testing/loopback/openai/index.js';
import { arrived, calls, fakeOf, key, turnOfTheLoop } from './far.js';

// The driver under the real runtime: what a host sees.

const Ws = WebSocket as unknown as WsConstructor;

async function started(
  options: OpenAiLoopbackOptions,
  execute: () => unknown,
  driver: Partial<OpenAiRealtimeOptions> = {},
) {
  const fake = await fakeOf(options);
  const session = await startSession({
    provider: openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl, modalities: ['text'], ...driver }),
    tools: [defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, execute })],
    connect: { model: 'gpt-realtime' },
  });
  return { session, far: fake.session };
}

const kinds = (events: readonly BidiTurnEvent[]) => events.map(({ type }) => type);

async function eventsUntil(session: Session, type: BidiTurnEvent['type'], count = 1): Promise<BidiTurnEvent[]> {
  const events: BidiTurnEvent[] = [];
  for await (const event of session.events()) {
    events.push(event);
    if (event.type === type && --count === 0) break;
  }
  return events;
}

describe('a session', () => {
  it('has a tool round, with parallel calls', async () => {
    const { session, far } = await started(
      { reply: ({ index }) => (index === 0 ? calls(2) : { text: 'Done.' }) },
      () => 'x',
    );
    await session.send({ type: 'text', text: 'look twice' });
    expect(kinds(await eventsUntil(session, 'turn_complete'))).toEqual([
      ...['tool_started', 'tool_started', 'tool_completed', 'tool_completed'],
      ...['text', 'turn_complete'],
    ]);
    expect(far.of('response.create')).toHaveLength(2);
    await session.close();
    expect((await session.closed).calls.map(({ state }) => state)).toEqual(['completed', 'completed']);
  });

  it('that is interrupted abandons what runs, at once, and nothing of it is sent', async () => {
    let finish: (() => void) | undefined;
    const running = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { session, far } = await started(
      { reply: ({ index }) => (index === 0 ? calls(1) : { text: 'Yes?' }) },
      () => running,
    );
    await session.send({ type: 'text', text: 'look' });
    await eventsUntil(session, 'tool_started');
    await session.interrupt();
    expect(kinds(await eventsUntil(session, 'tool_abandoned'))).toEqual(['interrupted', 'tool_abandoned']);
    finish?.();
    await session.send({ type: 'text', text: 'hello' });
    await eventsUntil(session, 'turn_complete');
    expect(far.items.some(({ type }) => type === 'function_call_output')).toBe(false);
    await session.close();
  });

  it('whose connection is lost while a result is on its way: unconfirmed, not refused', async () => {
    const { session, far } = await started(
      { habits: { acknowledge: 'never' }, reply: ({ index }) => (index === 0 ? calls(1) : {}) },
      () => 'x',
    );
    await session.send({ type: 'text', text: 'look' });
    await arrived(far, 'conversation.item.create', 2);
    for (let n = 0; n < 50; n++) far.emit({ type: 'response.output_text.delta', response_id: 'r', delta: `${n}` });
    far.connection.cut('reset');
    const events: BidiTurnEvent[] = [];
    for await (const event of session.events()) events.push(event);
    expect(kinds(events)).not.toContain('error');
    expect(events.at(-1)).toMatchObject({ type: 'closed', reason: expect.stringContaining('1006') });
    const report = await session.closed;
    expect(report.reason).toBe('far_side');
    expect(report.calls.map(({ state }) => state)).toEqual(['unconfirmed']);
  });

  it('that ends behind many events at once: the same, the end is heard before results are given up', async () => {
    const { session, far } = await started(
      { habits: { acknowledge: 'never' }, reply: ({ index }) => (index === 0 ? calls(1) : {}) },
      () => 'x',
      // Frames of one write are read at one go, and the one that is too long ends the connection in the same go.
      { maxFrameBytes: 2000, webSocket: (url, init) => wsSocket(Ws, url, { ...init, maxFrameBytes: 1_000_000 }) },
    );
    await session.send({ type: 'text', text: 'look' });
    await arrived(far, 'conversation.item.create', 2);
    far.connection.together(() => {
      const delta = { type: 'response.output_text.delta', response_id: 'r' };
      for (let n = 0; n < 100; n++) far.emit({ ...delta, delta: `${n}` });
      far.emit({ ...delta, delta: 'x'.repeat(3000) });
    });
    const events: BidiTurnEvent[] = [];
    for await (const event of session.events()) events.push(event);
    expect(kinds(events).filter((kind) => kind === 'text')).toHaveLength(100);
    expect(events.at(-1)).toMatchObject({ type: 'closed', reason: expect.stringContaining('1009') });
    expect((await session.closed).calls.map(({ state }) => state)).toEqual(['unconfirmed']);
  });

  it('whose result is refused says so once, by the call', async () => {
    const { session, far } = await started({ reply: ({ index }) => (index === 0 ? calls(1) : {}) }, () => 'x');
    far.intercept = (message, fake) => {
      if (message.type !== 'conversation.item.create' || fake.of('conversation.item.create').length === 1) return false;
      fake.error({ code: 'invalid_value', message: 'Too long.' }, String(message.event_id));
      return true;
    };
    await session.send({ type: 'text', text: 'look' });
    const events = await eventsUntil(session, 'error');
    expect(events.at(-1)).toMatchObject({ message: expect.stringMatching(/call_1.*Too long/) });
    await session.close();
    expect((await session.closed).calls.map(({ state }) => state)).toEqual(['rejected']);
  });

  it('that is closed while it connects leaves no connection', async () => {
    const fake = await fakeOf({ connectFault: () => ({ type: 'silence' }) });
    const controller = new AbortController();
    const reason = new RangeError('enough');
    const starting = startSession({
      provider: openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl }),
      connect: { model: 'm' },
      signal: controller.signal,
    });
    starting.catch(() => {});
    const connection = await fake.server.nextConnection();
    controller.abort(reason);
    await expect(starting).rejects.toBe(reason);
    expect((await connection.closed).code).toBe(1006);
    await turnOfTheLoop();
  });
});
