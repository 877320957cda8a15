import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type GeminiLiveOptions, geminiLive } from '../../../src/providers/gemini-live/index.js';
import type { GeminiLoopbackOptions } from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { against, key, live, Reading, server, story, tool } from './live.js';

const model = 'gemini-2.5-flash-live';

/** What a `connect` against such a server rejects with. */
async function refusal(far: GeminiLoopbackOptions, options: Partial<GeminiLiveOptions> = {}): Promise<unknown> {
  const loopback = await server(far);
  return rejection(geminiLive(against(loopback, options)).connect({ model }));
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it connected'),
    (error: unknown) => error,
  );
}

const body = (code: number, message: string) => JSON.stringify({ error: { code, message, status: 'SOME_STATUS' } });

describe('connect rejects with the reason of the service', () => {
  it.each([
    ['a key that is not good', { keys: ['another'] }, 1007, 'API key not valid. Please pass a valid API key.'],
    [
      'a model that is not there',
      { models: ['other'] },
      1008,
      'models/gemini-2.5-flash-live is not found for API version v1beta',
    ],
    [
      'no quota',
      { setup: { code: 1011, reason: 'You exceeded your current quota' } },
      1011,
      'exceeded your current quota',
    ],
    ['a clean close', { setup: { code: 1000, reason: '' } }, 1000, 'close code 1000'],
  ] satisfies [string, GeminiLoopbackOptions, number, string][])('%s: a close frame', async (_, far, code, reason) => {
    const error = await refusal(far);
    expect(error).toMatchObject({ code: 'connect_failed', closeCode: code, status: undefined });
    expect(String(error)).toContain(reason);
    expect(String(error)).toContain(`close code ${code}`);
  });

  it.each([401, 403, 404, 429, 500, 503])('HTTP %i at the upgrade', async (status) => {
    const error = await refusal({ upgrade: () => ({ refuse: status, body: body(status, 'Not today.') }) });
    expect(error).toMatchObject({ code: 'connect_failed', status, reason: `Not today. (HTTP ${status})` });
  });

  it('a page of a proxy, shortened and without control characters', async () => {
    const page = `<html>\n\u001b[31m${'x'.repeat(3000)}`;
    const error = await refusal({ upgrade: () => ({ refuse: 502, body: page, contentType: 'text/html' }) });
    expect(error).toMatchObject({ code: 'connect_failed', status: 502 });
    expect(String(error).length).toBeLessThan(800);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(String(error)).not.toMatch(/[\u0000-\u001f]/);
  });

  it('a connection that is cut before it stands', async () => {
    const error = await refusal({ connected: (peer) => peer.cutAt({ received: 1 }) });
    expect(error).toMatchObject({ code: 'connect_failed', closeCode: 1006 });
  });

  it('an error frame in the place of setupComplete', async () => {
    const far = await server({ setup: 'silence' });
    const connecting = rejection(geminiLive(against(far)).connect({ model }));
    const peer = await far.nextPeer();
    await peer.message('setup');
    peer.send({ error: { code: 400, message: 'No such voice.' } });
    expect(await connecting).toMatchObject({ code: 'connect_failed', reason: 'No such voice.' });
    await peer.connection.closed;
  });

  it('nobody who listens', async () => {
    const far = await server();
    const options = against(far);
    await far.close();
    const error = await rejection(geminiLive(options).connect({ model }));
    expect(error).toMatchObject({ code: 'connect_failed', status: undefined, closeCode: undefined });
    expect(String(error)).toContain('ECONNREFUSED');
  });

  it('a factory that throws, and one whose socket is of no use', async () => {
    const url = await server().then((far) => far.url);
    const thrown = geminiLive({ apiKey: key, baseUrl: url, webSocket: (to) => expect.fail(`no socket to ${to}`) });
    const error = await rejection(thrown.connect({ model }));
    expect(error).toMatchObject({ code: 'connect_failed' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(key);
    const useless = geminiLive({ apiKey: key, baseUrl: url, webSocket: () => ({}) as never });
    expect(await rejection(useless.connect({ model }))).toMatchObject({ code: 'connect_failed' });
  });
});

describe('connect is bounded', () => {
  it.each([
    ['an upgrade that is never answered', true],
    ['a set-up that is never answered', false],
  ])('%s', async (_, hang) => {
    let asked = () => {};
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const far = await server({
      setup: 'silence',
      upgrade: () => {
        asked();
        return hang ? { hang } : undefined;
      },
    });
    const clock = new VirtualClock();
    const connecting = rejection(geminiLive(against(far, { clock, connectTimeoutMs: 3000 })).connect({ model }));
    await reached;
    await clock.advance(2999, quiet);
    expect(clock.pending).toBe(1);
    await clock.advance(1, quiet);
    expect(await connecting).toMatchObject({ code: 'connect_timeout', timeoutMs: 3000 });
    expect(clock.pending).toBe(0);
    await far.peer?.connection.closed;
  });

  it('a factory that never gives its socket, and one that gives it late: it is closed', async () => {
    const clock = new VirtualClock();
    const far = await server();
    let give = (_: never) => {};
    const webSocket = () =>
      new Promise<never>((resolve) => {
        give = resolve;
      });
    const connecting = rejection(
      geminiLive(against(far, { clock, webSocket, connectTimeoutMs: 5 })).connect({ model }),
    );
    await quiet();
    await clock.advance(5, quiet);
    expect(await connecting).toMatchObject({ code: 'connect_timeout' });
    const calls: string[] = [];
    const late = { readyState: 0, addEventListener: () => {}, terminate: () => calls.push('terminate') };
    give(late as never);
    await quiet();
    expect(calls).toEqual(['terminate']);
  });
});

describe('abort', () => {
  const reason = new TypeError('the host has had enough');

  it('before: nothing is tried', async () => {
    const far = await server();
    const error = await rejection(geminiLive(against(far)).connect({ model, signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(far.peers).toEqual([]);
  });

  it.each([
    ['while the socket is made', 'factory'],
    ['while the upgrade is not answered', 'upgrade'],
    ['while the set-up is not answered', 'setup'],
  ])('%s', async (_, phase) => {
    const controller = new AbortController();
    const clock = new VirtualClock();
    let asked = () => {};
    const reached = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const far = await server({
      setup: 'silence',
      upgrade: () => {
        if (phase === 'upgrade') asked();
        return phase === 'upgrade' ? { hang: true } : undefined;
      },
      connected: (peer) => void peer.message('setup').then(asked),
    });
    const webSocket: GeminiLiveOptions['webSocket'] = () => {
      asked();
      return new Promise<never>(() => {});
    };
    const options = against(far, { clock, ...(phase === 'factory' ? { webSocket } : {}) });
    const connecting = rejection(geminiLive(options).connect({ model, signal: controller.signal }));
    await reached;
    controller.abort(reason);
    expect(await connecting).toBe(reason);
    expect(clock.pending).toBe(0);
    if (phase === 'setup') expect(await far.peer?.connection.closed).toMatchObject({ code: 1006 });
  });

  it.each(['idle', 'speaking', 'a call is open', 'a result is on its way', 'closing'])(
    'while the session is %s',
    async (phase) => {
      const controller = new AbortController();
      const { session, reading, peer, clock } = await live({
        far: {
          *model() {
            if (phase === 'speaking') {
              yield { type: 'say', text: 'One two three.' };
              yield { type: 'pause', ms: 1000 };
            }
            yield { type: 'call', calls: [{ name: 'look', id: 'c1' }] };
          },
        },
        connect: { tools: [tool('look')], signal: controller.signal },
      });
      let result: Promise<unknown> | undefined;
      if (phase !== 'idle') await session.send({ type: 'text', text: 'go' });
      if (phase === 'speaking') await reading.until('text');
      if (phase.includes('call') || phase.includes('result')) await reading.until('tool_call');
      if (phase.includes('result')) {
        peer.connection.onMessage(() => {});
        result = rejection(session.sendToolResult('c1', 'x'));
      }
      if (phase === 'closing') void session.close();
      // what was handed out before is the reader's
      await quiet();
      const before = reading.events.length;
      controller.abort(reason);
      await reading.done;
      expect(reading.events).toHaveLength(before);
      if (result) expect(await result).toMatchObject({ code: 'result_unknown' });
      await expect(session.send({ type: 'text', text: 'x' })).rejects.toMatchObject({ code: 'session_ended' });
      await expect(session.sendToolResult('c1', 'x')).rejects.toMatchObject({ code: 'session_ended' });
      await session.close();
      expect(await peer.connection.closed).toMatchObject({ code: 1000 });
      expect(clock.pending).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    },
  );
});

describe('keys', () => {
  it('travel in the URL, an ephemeral token to the endpoint that takes it, an OAuth token in a header', async () => {
    const developer = await live();
    expect(developer.peer.connection.request).toMatchObject({
      path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    });
    expect(developer.peer.connection.request.query.get('key')).toBe(key);
    expect(developer.peer.connection.request.protocols).toEqual([]);

    const ephemeral = await live({ driver: { accessToken: 'auth_tokens/abc+def' } });
    expect(ephemeral.peer.connection.request.path).toContain(
      'v1alpha.GenerativeService.BidiGenerateContentConstrained',
    );
    expect(ephemeral.peer.connection.request.query.get('access_token')).toBe('auth_tokens/abc+def');

    const vertex = await live({
      far: { service: 'vertex' },
      driver: { accessToken: 'ya29.some-token', vertex: { project: 'p', location: 'us-central1' } },
    });
    expect(vertex.peer.connection.request.headers.authorization).toBe('Bearer ya29.some-token');
    expect([...vertex.peer.connection.request.query]).toEqual([]);
  });

  it('may come from a function, asked at each connect; a late one makes no socket', async () => {
    const far = await server({ keys: ['auth_tokens/1', 'auth_tokens/2'] });
    let asked = 0;
    const accessToken = async () => `auth_tokens/${++asked}`;
    const provider = geminiLive(against(far, { accessToken }));
    await (await provider.connect({ model })).close();
    await (await provider.connect({ model })).close();
    expect(asked).toBe(2);
    const error = await rejection(provider.connect({ model }));
    expect(error).toMatchObject({ code: 'connect_failed', closeCode: 1007 });

    const bad = geminiLive(against(far, { accessToken: () => 'two words' }));
    expect(String(await rejection(bad.connect({ model })))).toMatch(/accessToken.*visible ASCII/);
    const failing = geminiLive(against(far, { accessToken: () => Promise.reject(new TypeError('no token for you')) }));
    expect(await rejection(failing.connect({ model }))).toMatchObject({ reason: 'no token for you' });

    const controller = new AbortController();
    let give = (_: string) => {};
    let made = 0;
    const late = geminiLive(
      against(far, {
        webSocket: () => {
          made++;
          return new Promise<never>(() => {});
        },
        accessToken: () =>
          new Promise((resolve) => {
            give = resolve;
          }),
      }),
    );
    const connecting = rejection(late.connect({ model, signal: controller.signal }));
    await quiet();
    controller.abort('enough');
    expect(await connecting).toBe('enough');
    give('auth_tokens/1');
    await quiet();
    expect(made).toBe(0);
  });

  it('appear nowhere: in no error, no event, no object', async () => {
    const shown: unknown[] = [];
    const echo = (message: string) => `${message} ${key} ${encodeURIComponent(key)}`;
    shown.push(await refusal({ upgrade: () => ({ refuse: 403, body: body(403, echo('bad')) }) }));
    shown.push(await refusal({ setup: { code: 1007, reason: echo('no') } }));
    shown.push(await refusal({ upgrade: () => ({ refuse: 500, body: echo('page'), contentType: 'text/html' }) }));
    const loopback = await server();
    const webSocket: GeminiLiveOptions['webSocket'] = (url) => {
      throw new SyntaxError(`Invalid URL: ${url}`);
    };
    shown.push(await rejection(geminiLive(against(loopback, { webSocket })).connect({ model })));
    const { session, reading, peer } = await live();
    peer.send({ error: { message: echo('told') } });
    await reading.until('error');
    peer.close(1011, echo('gone'));
    await reading.done;
    const provider = geminiLive(against(loopback));
    shown.push(session, reading.events, provider, JSON.stringify(provider), JSON.stringify(session));
    expect(story(reading.events)).toEqual(['error: told [key] [key]', 'closed: gone [key] [key] (close code 1011)']);
    // One that stands in the URL in other characters is found in those too, and whole.
    const token = 'auth_tokens/abc+def';
    const encoded = encodeURIComponent(token);
    const refused = await refusal({ setup: { code: 1008, reason: `${encoded} and ${token}` } }, { accessToken: token });
    expect(refused).toMatchObject({ reason: '[key] and [key] (close code 1008)' });
    for (const value of shown) expect(inspect(value, { depth: 20, showHidden: true })).not.toContain(key);
    expect(shown.slice(0, 4).map(String).join()).toContain('[key]');
  });

  it.each([
    ['none', {}],
    ['no options', undefined as never],
    ['a Vertex that is none', { accessToken: key, vertex: null as never }],
    ['two', { apiKey: key, accessToken: 'auth_tokens/1' }],
    ['one with a line break', { apiKey: `${key}\r\nX: y` }],
    ['an empty one', { apiKey: '' }],
    ['a key for Vertex', { apiKey: key, vertex: { project: 'p', location: 'l' } }],
    ['a location that is another host', { accessToken: key, vertex: { project: 'p', location: 'evil.example/' } }],
    ['a URL with a query', { apiKey: key, baseUrl: `https://h/?key=${key}` }],
    ['a URL with a password', { apiKey: key, baseUrl: `https://user:${key}@h` }],
    ['a URL of another scheme', { apiKey: key, baseUrl: 'ftp://h' }],
    ['no URL', { apiKey: key, baseUrl: key }],
  ] as [string, GeminiLiveOptions][])('%s: refused at once, unseen', (_, options) => {
    const made = () => geminiLive(options);
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    try {
      made();
    } catch (error) {
      expect(inspect(error)).not.toContain(key);
    }
  });
});

describe('options and parameters are checked', () => {
  it.each([
    { modality: 'video' },
    { voice: '' },
    { turnDetection: { silenceMs: -1 } },
    { turnDetection: { prefixPaddingMs: Number.NaN } },
    { turnDetection: 'manual' },
    { nonBlocking: [1] },
    { scheduling: 'INTERRUPT' },
    { setup: [] },
    { connectTimeoutMs: 0 },
    { connectTimeoutMs: 2 ** 31 },
    { quietMs: 1.5 },
    { maxFrameBytes: 0 },
    { maxUnreadEvents: Number.POSITIVE_INFINITY },
  ])('%o', (options) => {
    expect(() => geminiLive({ apiKey: key, ...(options as object) })).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it.each([
    { model: '' },
    { model: 'a b' },
    { model: 'm', resume: 7 },
    { model: 'm', resume: '' },
    { model: 'm', history: {} },
    { model: 'm', history: [{ role: 'user' }] },
    { model: 'm', history: [{ role: 'system', text: 'x' }] },
    { model: 'm', history: [{ role: 'tool', id: 'c', name: 'n', arguments: {}, output: 'x' }] },
  ])('%o', async (params) => {
    const far = await server();
    const error = await rejection(geminiLive(against(far)).connect(params as never));
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(far.peers).toEqual([]);
  });

  it('input: media types, base64, and what is neither', async () => {
    const { session, far } = await live();
    const bad = [
      { type: 'audio', data: 'AAAA', mediaType: 'audio/mp3' },
      { type: 'audio', data: 'AAAA', mediaType: 'audio/pcm;rate=-1' },
      { type: 'audio', data: 'not base64', mediaType: 'audio/pcm' },
      { type: 'audio', data: 'AAA', mediaType: 'audio/pcm' },
      { type: 'audio', data: '', mediaType: 'audio/pcm' },
      { type: 'text', text: 7 },
      { type: 'video' },
      null,
    ];
    for (const input of bad) {
      await expect(session.send(input as never)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    expect(far.peer?.ofKind('realtimeInput')).toEqual([]);
  });
});

describe('a set-up', () => {
  it('says what the options say, and is taken', async () => {
    const { peer, far } = await live({
      driver: {
        voice: 'Kore',
        language: 'de-DE',
        compression: true,
        turnDetection: { startSensitivity: 'low', silenceMs: 300, interrupts: false },
        transcripts: { input: false },
        setup: { generationConfig: { temperature: 0.2 }, proactivity: { proactiveAudio: true } },
      },
      connect: { system: 'Be brief.', tools: [tool('look')] },
    });
    expect(peer.ofKind('setup')).toEqual([
      {
        model: 'models/gemini-2.5-flash-live',
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } }, languageCode: 'de-DE' },
          temperature: 0.2,
        },
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [
          {
            functionDeclarations: [
              { name: 'look', description: 'does look', parametersJsonSchema: { type: 'object', properties: {} } },
            ],
          },
        ],
        realtimeInputConfig: {
          automaticActivityDetection: { startOfSpeechSensitivity: 'START_SENSITIVITY_LOW', silenceDurationMs: 300 },
          activityHandling: 'NO_INTERRUPTION',
        },
        outputAudioTranscription: {},
        sessionResumption: {},
        contextWindowCompression: { slidingWindow: {} },
        proactivity: { proactiveAudio: true },
      },
    ]);
    expect(far.violations).toEqual([]);
  });

  it.each([
    ['gemini-2.5-flash-native-audio-preview-09-2025', undefined, 'clientContent'],
    ['models/gemini-3.1-flash-live-preview', undefined, 'realtimeInput'],
    ['gemini-3.8-live', 'BLOCKING', 'clientContent'],
    ['gemini-live-2.5-flash', undefined, 'clientContent'],
    ['something-of-my-own', undefined, 'clientContent'],
  ])('of %s: tools are declared %s, text goes out as %s', async (name, behavior, kind) => {
    const { session, reading, peer, far } = await live({ connect: { model: name, tools: [tool('look')] } });
    expect(peer.ofKind('setup')[0].tools[0].functionDeclarations[0].behavior).toBe(behavior);
    await session.send({ type: 'text', text: 'hi' });
    await reading.until('turn_complete');
    expect(peer.received.at(-1)?.kind).toBe(kind);
    expect(far.violations).toEqual([]);
  });
});

describe('history', () => {
  const history = [
    { role: 'user', text: 'Book a room.' },
    { role: 'tool', id: 't1', name: 'book', arguments: '{"room":7}', output: 'booked', isError: false },
    { role: 'tool', id: 't2', name: 'book', arguments: 'no json', output: 'refused', isError: true },
    { role: 'assistant', text: 'Room 7 it is.' },
    { role: 'tool', id: 't3', name: 'book', arguments: '[1]', output: 'no', isError: true },
  ] as const;

  it.each(['gemini-2.5-flash-live', 'gemini-3.1-flash-live-preview', 'gemini-3.8-live'])(
    'is there before the first word, and answered by nothing: %s',
    async (name) => {
      const { session, reading, peer, far } = await live({ connect: { model: name, history } });
      await session.send({ type: 'text', text: 'Thanks' });
      await reading.until('turn_complete');
      expect(story(reading.events)).toEqual(['“You said: Thanks”', 'turn_complete']);
      expect(peer.context[6]).toEqual({
        role: 'model',
        parts: [{ functionCall: { id: 't3', name: 'book', args: { arguments: '[1]' } } }],
      });
      expect(peer.context.slice(0, 6)).toEqual([
        { role: 'user', parts: [{ text: 'Book a room.' }] },
        { role: 'model', parts: [{ functionCall: { id: 't1', name: 'book', args: { room: 7 } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 't1', name: 'book', response: { output: 'booked' } } }] },
        { role: 'model', parts: [{ functionCall: { id: 't2', name: 'book', args: { arguments: 'no json' } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 't2', name: 'book', response: { error: 'refused' } } }] },
        { role: 'model', parts: [{ text: 'Room 7 it is.' }] },
      ]);
      expect(far.violations).toEqual([]);
    },
  );
});

describe('resumption', () => {
  it('goes on where the handle was given, without the history', async () => {
    const far = await server();
    const provider = geminiLive(against(far));
    const first = await provider.connect({ model });
    expect(first.resumption?.()).toBeUndefined();
    const reading = new Reading(first);
    await first.send({ type: 'text', text: 'I am Ada' });
    await reading.until('turn_complete');
    // The handle comes right behind it; an answer to something else shows that it came.
    await first.send({ type: 'text', text: 'Still Ada' });
    await reading.until('turn_complete', 2);
    const handle = first.resumption?.();
    expect(handle).toMatch(/^handle-[12]$/);
    await first.close();
    expect(first.resumption?.()).toBe(handle);

    const second = await provider.connect({ model, resume: handle, history: [{ role: 'user', text: 'Not again' }] });
    expect(JSON.stringify(far.peer?.context)).toContain('I am Ada');
    await second.send({ type: 'text', text: 'Who am I?' });
    await far.peer?.message('clientContent');
    expect(far.peer?.received.map(({ kind }) => kind)).toEqual(['setup', 'clientContent']);
    expect(far.peer?.ofKind('clientContent')[0].turns[0].parts[0].text).toBe('Who am I?');
    await second.close();
    expect(far.violations).toEqual([]);
  });

  it('a handle that is stale: connect rejects with the reason', async () => {
    const far = await server();
    const error = await rejection(geminiLive(against(far)).connect({ model, resume: 'handle-of-last-week' }));
    expect(error).toMatchObject({ code: 'connect_failed', closeCode: 1008 });
    expect(String(error)).toContain('session not found');
  });

  it('while the model waits for a call there is no handle', async () => {
    const { session, reading, far } = await live({
      far: {
        *model() {
          yield { type: 'call', calls: [{ name: 'look', id: 'c1' }] };
        },
      },
      connect: { tools: [tool('look')] },
    });
    await session.send({ type: 'text', text: 'go' });
    await reading.until('tool_call');
    expect(session.resumption?.()).toBeUndefined();
    expect(far.violations).toEqual([]);
  });
});
