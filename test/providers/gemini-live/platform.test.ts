import { describe, expect, it, onTestFinished } from 'vitest';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { call, type GeminiLoopbackOptions, say } from '../../../src/testing/loopback/gemini/index.js';
import { key, Reading, server, story, tool } from './live.js';

// With whatever WebSocket the platform has: the global one of Node 22 and later, else that of the package `ws`.

async function connect(options: GeminiLoopbackOptions = {}) {
  const far = await server(options);
  return geminiLive({ apiKey: key, baseUrl: far.url }).connect({
    model: 'gemini-2.5-flash-live',
    tools: [tool('look')],
  });
}

describe('the WebSocket of the platform', () => {
  it('carries a tool round, and closes', async () => {
    const session = await connect({
      *model() {
        const [answer] = yield call({ name: 'look', id: 'c1' });
        yield say(`It is ${answer?.response.output}.`);
      },
    });
    onTestFinished(() => session.close());
    const reading = new Reading(session);
    await session.send({ type: 'text', text: 'rain' });
    await reading.until('tool_call');
    await session.sendToolResult('c1', 'wet');
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['c1 look{}', '“It is wet.”', 'turn_complete']);
    await session.close();
    await reading.done;
  });

  it('tells why the service closed', async () => {
    await expect(connect({ keys: ['another'] })).rejects.toMatchObject({
      code: 'connect_failed',
      closeCode: 1007,
      reason: expect.stringContaining('API key not valid'),
    });
  });

  it.each([
    ['a refused upgrade', { upgrade: () => ({ refuse: 403 }) }],
    ['a connection that is cut', { connected: (peer) => peer.cutAt({ received: 1 }) }],
  ] satisfies [string, GeminiLoopbackOptions][])('rejects for %s, and shows no key', async (_, options) => {
    const error = await connect(options).then(
      () => expect.fail('it connected'),
      (refused: unknown) => refused,
    );
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(String(error)).not.toContain(key);
  });

  it('takes Vertex only where it takes headers', async () => {
    const far = await server({ service: 'vertex' });
    const vertex = { project: 'p', location: 'l' };
    const provider = geminiLive({ accessToken: 'ya29.a-token-of-a-test', vertex, baseUrl: far.url });
    const connecting = provider.connect({ model: 'gemini-live-2.5-flash' });
    if (typeof globalThis.WebSocket === 'function') {
      await expect(connecting).rejects.toMatchObject({ code: 'not_supported' });
    } else await (await connecting).close();
  });
});
