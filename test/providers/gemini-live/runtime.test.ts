import { describe, expect, it, onTestFinished } from 'vitest';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { defineTool, startSession } from '../../../src/runtime/index.js';
import {
  call,
  type GeminiLoopbackOptions,
  type GeminiPeer,
  pause,
  type Reply,
  say,
} from '../../../src/testing/loopback/gemini/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { against, server } from './live.js';

// The driver under a real session: what the host sees, and what becomes of the calls.

function* looks(): Reply {
  const [answer] = yield call({ name: 'look', args: { for: 'rain' }, id: 'c1' });
  yield say(`It is ${answer?.response.output ?? answer?.response.error}.`);
}

async function started(options: GeminiLoopbackOptions, execute: () => unknown = () => 'wet') {
  const far = await server({ model: looks, ...options });
  const look = defineTool({ name: 'look', description: 'looks', input: { type: 'object' }, execute });
  const session = await startSession({
    provider: geminiLive(against(far, { clock: new VirtualClock() })),
    tools: [look],
    connect: { model: 'gemini-2.5-flash-live' },
  });
  onTestFinished(() => session.close().catch(() => {}));
  return { far, session, peer: far.peer as GeminiPeer };
}

describe('a session with Gemini Live', () => {
  it('completes a call, and closes', async () => {
    const { session, far } = await started({});
    await session.send({ type: 'text', text: 'go' });
    const types: string[] = [];
    for await (const event of session.events()) {
      if (event.type !== types.at(-1) && event.type !== 'audio') types.push(event.type);
      if (event.type === 'turn_complete') break;
    }
    expect(types.filter((type) => type !== 'text')).toEqual(['tool_started', 'tool_completed', 'turn_complete']);
    await session.close();
    expect((await session.closed).calls).toEqual([{ id: 'c1', name: 'look', state: 'completed' }]);
    expect(far.violations).toEqual([]);
  });

  it('whose connection is lost while a result is on its way: unconfirmed, not refused', async () => {
    const { session, peer } = await started({});
    peer.cutAt({ received: 3 });
    await session.send({ type: 'text', text: 'go' });
    const report = await session.closed;
    expect(report).toMatchObject({ reason: 'far_side', calls: [{ id: 'c1', state: 'unconfirmed' }] });
  });

  it('which is interrupted: the call is abandoned, and the model gets a stub', async () => {
    const { session, peer, far } = await started({ withdrawal: 'none' }, () => new Promise(() => {}));
    await session.send({ type: 'text', text: 'go' });
    for await (const event of session.events()) {
      if (event.type === 'tool_started') peer.send({ serverContent: { interrupted: true } });
      if (event.type === 'tool_abandoned') break;
    }
    const answer = await peer.message('toolResponse');
    expect(answer.functionResponses[0]).toMatchObject({ id: 'c1', response: { error: expect.any(String) } });
    await session.close();
    expect((await session.closed).calls).toMatchObject([{ state: 'abandoned' }]);
    expect(far.violations).toEqual([]);
  });

  it('which the service takes a call back from: abandoned, and nothing is sent', async () => {
    const { session, peer, far } = await started({}, () => new Promise(() => {}));
    await session.send({ type: 'text', text: 'go' });
    for await (const event of session.events()) {
      if (event.type === 'tool_started') peer.withdraw('c1');
      if (event.type === 'tool_abandoned') break;
    }
    await session.send({ type: 'text', text: 'and now?' });
    await peer.message('clientContent', 2);
    expect(peer.ofKind('toolResponse')).toEqual([]);
    expect(far.violations).toEqual([]);
  });

  it('which the host interrupts: acknowledged', async () => {
    const { session, far } = await started({
      *model() {
        yield say('A long story.');
        yield pause(1000);
      },
    });
    await session.send({ type: 'text', text: 'go' });
    const types: string[] = [];
    for await (const event of session.events()) {
      types.push(event.type);
      if (types.length === 2) await session.interrupt();
      if (event.type === 'interrupted') break;
    }
    expect(types.at(-1)).toBe('interrupted');
    expect(far.violations).toEqual([]);
  });

  it('which is aborted while it connects: the reason, and no socket is left', async () => {
    const controller = new AbortController();
    const far = await server({ setup: 'silence' });
    const starting = startSession({
      provider: geminiLive(against(far)),
      connect: { model: 'gemini-2.5-flash-live' },
      signal: controller.signal,
    });
    const failed = expect(starting).rejects.toBe('enough');
    const peer = await far.nextPeer();
    await peer.message('setup');
    controller.abort('enough');
    await failed;
    await peer.connection.closed;
  });
});
