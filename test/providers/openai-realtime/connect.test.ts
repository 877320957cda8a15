import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ConnectFailedError, ConnectTimeoutError, isCommitpointError } from '../../../src/contract/errors.js';
import type { BidiConnectParams } from '../../../src/contract/provider.js';
import { type WebSocketFactory, wsSocket } from '../../../src/contract/web-socket.js';
import {
  type OpenAiRealtimeDialect,
  type OpenAiRealtimeOptions,
  openaiRealtime,
} from '../../../src/providers/openai-realtime/index.js';
import type { OpenAiConnectFault, OpenAiLoopback } from '../../../src/testing/loopback/openai/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { words } from '../steps.js';
import { connected, fakeOf, key, say, settled, turnOfTheLoop } from './far.js';

// N1–N3, and that a key is never seen.

/** The package `ws`, whatever else the platform has: it tells of an HTTP status. */
const ws: WebSocketFactory = (url, init) => wsSocket(WebSocket as unknown as Parameters<typeof wsSocket>[0], url, init);

/** How a connect ends that has to fail. */
async function failure(
  fake: OpenAiLoopback,
  options: Partial<OpenAiRealtimeOptions> = {},
  params: Partial<BidiConnectParams> = {},
): Promise<unknown> {
  const provider = openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl, webSocket: ws, ...options });
  try {
    const session = await provider.connect({ model: 'gpt-realtime', ...params });
    await session.close();
  } catch (error) {
    return error;
  }
  throw new RangeError('the connect did not fail');
}

describe('a connect that fails has the reason of the service', () => {
  it.each<[string, OpenAiConnectFault, RegExp]>([
    [
      '401',
      { type: 'refuse', status: 401, message: `Incorrect API key provided: ${key}.` },
      /HTTP 401: Incorrect API key provided: \[key\]\.$/,
    ],
    ['403', { type: 'refuse', status: 403, message: 'No access to the model.' }, /HTTP 403: No access to the model\.$/],
    ['404', { type: 'refuse', status: 404, message: 'No such URL.' }, /HTTP 404: No such URL\.$/],
    ['429', { type: 'refuse', status: 429, message: 'Slow down.' }, /HTTP 429: Slow down\.$/],
    [
      'an error after the connection was taken',
      { type: 'error', code: 'invalid_api_key', message: 'Bad key.' },
      /: invalid_api_key: Bad key\.$/,
    ],
    [
      'a close',
      { type: 'close', code: 3000, reason: 'invalid_request_error.invalid_api_key' },
      /invalid_request_error\.invalid_api_key \(close code 3000\)$/,
    ],
    ['a close without a reason', { type: 'close', code: 1011, reason: '' }, /close code 1011$/],
    ['a cut', { type: 'cut' }, /close code 1006$/],
    [
      'a set-up that is refused',
      { type: 'refuse_set_up', code: 'invalid_value', message: 'Unknown voice.' },
      /: invalid_value: Unknown voice\.$/,
    ],
  ])('%s', async (_, fault, reason) => {
    const fake = await fakeOf({ connectFault: () => fault });
    const error = await failure(fake);
    expect(error).toBeInstanceOf(ConnectFailedError);
    expect(String(error)).toMatch(reason);
    expect(String(error)).toContain(`openai at ${fake.baseUrl}/realtime`);
    if (fault.type === 'refuse') expect(error).toMatchObject({ status: fault.status });
    if (fault.type === 'close') expect(error).toMatchObject({ closeCode: fault.code });
  });

  it('a host where nobody listens', async () => {
    const fake = await fakeOf();
    await fake.close();
    expect(String(await failure(fake))).toMatch(/connect to openai at .* failed: .*ECONNREFUSED/);
  });

  it('a key that the service does not know, and gives back whole', async () => {
    const fake = await fakeOf({ keys: ['sk-another-key'] });
    expect(String(await failure(fake))).toMatch(/HTTP 401: Incorrect API key provided: \[key\]\.$/);
  });

  it('a socket whose maker throws with the URL in its message', async () => {
    const fake = await fakeOf();
    const error = await failure(fake, {
      dialect: 'azure',
      auth: 'headerless',
      webSocket: (url) => {
        throw new SyntaxError(`no socket for ${url}`);
      },
    });
    expect(String(error)).toMatch(/: no socket for \[key\]$/);
  });
});

describe('a connect that gets no answer ends in time, and the socket with it', () => {
  it.each<[string, OpenAiConnectFault]>([
    ['the upgrade is never answered', { type: 'hang' }],
    ['nothing is ever said', { type: 'silence' }],
    ['the set-up is never answered', { type: 'no_set_up' }],
  ])('%s', async (_, fault) => {
    const clock = new VirtualClock();
    const fake = await fakeOf({ connectFault: () => fault });
    const failed = failure(fake, { clock, connectTimeoutMs: 500 });
    await turnsOfTheLoop(20);
    await clock.advance(499, turnOfTheLoop);
    const early = await Promise.race([failed, turnsOfTheLoop(5).then(() => 'pending')]);
    expect(early).toBe('pending');
    await clock.advance(1, turnOfTheLoop);
    const error = await failed;
    expect(error).toBeInstanceOf(ConnectTimeoutError);
    expect(error).toMatchObject({ timeoutMs: 500 });
    for (const connection of fake.server.connections) await connection.closed;
    expect(clock.pending).toBe(0);
  });

  it('a key that never comes', async () => {
    const clock = new VirtualClock();
    const fake = await fakeOf();
    const failed = failure(fake, { clock, connectTimeoutMs: 500, apiKey: () => new Promise<string>(() => {}) });
    await clock.advance(500, turnOfTheLoop);
    expect(await failed).toBeInstanceOf(ConnectTimeoutError);
    expect(fake.server.connections).toEqual([]);
  });
});

describe('an abort', () => {
  const reason = { code: 'enough' };

  it('before: nothing is connected', async () => {
    const fake = await fakeOf();
    expect(await failure(fake, {}, { signal: AbortSignal.abort(reason) })).toBe(reason);
    expect(fake.server.connections).toEqual([]);
  });

  it.each<[string, OpenAiConnectFault]>([
    ['while the upgrade is on its way', { type: 'hang' }],
    ['while the greeting is waited for', { type: 'silence' }],
    ['while the set-up is waited for', { type: 'no_set_up' }],
  ])('%s: the exact reason, and the socket goes', async (_, fault) => {
    const controller = new AbortController();
    const fake = await fakeOf({ connectFault: () => fault });
    const failed = failure(fake, {}, { signal: controller.signal });
    if (fault.type === 'silence') await fake.server.nextConnection();
    else if (fault.type === 'no_set_up') await fake.nextSession();
    else await turnsOfTheLoop(20);
    controller.abort(reason);
    expect(await failed).toBe(reason);
    for (const connection of fake.server.connections) await connection.closed;
  });

  it('in the very moment of the request', async () => {
    const controller = new AbortController();
    const fake = await fakeOf();
    const failed = failure(fake, {}, { signal: controller.signal });
    controller.abort(reason);
    expect(await failed).toBe(reason);
    await turnsOfTheLoop(20);
    for (const connection of fake.server.connections) await connection.closed;
  });

  it('while the history is taken', async () => {
    const controller = new AbortController();
    const fake = await fakeOf({ habits: { acknowledge: 'never' } });
    const next = fake.nextSession();
    const failed = failure(fake, {}, { signal: controller.signal, history: [{ role: 'user', text: 'hi' }] });
    const far = await next;
    while (far.of('conversation.item.create').length === 0) await turnOfTheLoop();
    controller.abort(reason);
    expect(await failed).toBe(reason);
    await far.connection.closed;
  });
});

describe('how the key travels', () => {
  const cases: [OpenAiRealtimeDialect, 'header' | 'headerless', (request: Shown) => unknown, unknown][] = [
    ['openai', 'header', ({ headers }) => headers.authorization, `Bearer ${key}`],
    ['openai', 'headerless', ({ protocols }) => protocols, ['realtime', `openai-insecure-api-key.${key}`]],
    ['azure', 'header', ({ headers }) => headers['api-key'], key],
    ['azure', 'headerless', ({ query }) => query.get('api-key'), key],
    ['azure-voice-live', 'header', ({ headers }) => headers['api-key'], key],
    ['azure-voice-live', 'headerless', ({ query }) => query.get('api-key'), key],
    ['xai', 'header', ({ headers }) => headers.authorization, `Bearer ${key}`],
    ['xai', 'headerless', ({ protocols }) => protocols, ['realtime', `xai-client-secret.${key}`]],
  ];
  it.each(cases)('%s, %s', async (dialect, auth, read, expected) => {
    const { far } = await connected({
      fake: { dialect, keys: [key] },
      driver: { auth, webSocket: ws, headers: { 'OpenAI-Safety-Identifier': 'user-7' } },
    });
    const { request } = far.connection;
    expect(read(request)).toEqual(expected);
    expect(request.headers['openai-safety-identifier']).toBe(auth === 'header' ? 'user-7' : undefined);
    if (auth === 'headerless') expect(request.headers.authorization).toBeUndefined();
  });

  it('a token travels as a bearer in every dialect', async () => {
    const { far } = await connected({
      fake: { dialect: 'azure' },
      driver: { apiKey: undefined as never, accessToken: async () => 'ey-token-1', webSocket: ws },
    });
    expect(far.connection.request.headers.authorization).toBe('Bearer ey-token-1');
  });

  it('a short-lived key is got for each connection', async () => {
    let count = 0;
    const fake = await fakeOf();
    const provider = openaiRealtime({ apiKey: () => `ek_number_${++count}`, baseUrl: fake.baseUrl });
    for (let n = 0; n < 2; n++) await (await provider.connect({ model: 'm' })).close();
    const keys = fake.sessions.map(
      ({ connection: { request } }) => request.headers.authorization ?? request.protocols[1],
    );
    expect(keys.map((text) => text?.slice(-1))).toEqual(['1', '2']);
  });

  it('a key that cannot travel is refused before anything is sent, and not shown', async () => {
    const fake = await fakeOf();
    const error = await failure(fake, { apiKey: 'a/key=that,cannot', auth: 'headerless' });
    expect(isCommitpointError(error) && error.code).toBe('invalid_input');
    expect(String(error)).not.toContain('cannot,');
    expect(String(error)).not.toContain('a/key');
    expect(fake.server.connections).toEqual([]);
  });
});

type Shown = OpenAiLoopback['session']['connection']['request'];

describe('options', () => {
  const good = { apiKey: key };
  it.each<[string, object]>([
    ['no key', {}],
    ['an empty key', { apiKey: '' }],
    ['a key with a line break', { apiKey: `${key}\r\nX-Header: 1` }],
    ['a key and a token', { ...good, accessToken: key }],
    ['no base URL for azure', { ...good, dialect: 'azure' }],
    ['a base URL that is none', { ...good, baseUrl: 'api.openai.com' }],
    ['a base URL with a password', { ...good, baseUrl: `https://user:${key}@host/v1` }],
    ['a base URL of another scheme', { ...good, baseUrl: 'ftp://host/v1' }],
    ['both modalities', { ...good, modalities: ['audio', 'text'] }],
    ['a detection of no type', { ...good, turnDetection: { threshold: 0.5 } }],
    ['a threshold that is no number', { ...good, turnDetection: { type: 'server_vad', threshold: Number.NaN } }],
    ['a time of half a millisecond', { ...good, connectTimeoutMs: 0.5 }],
    ['a time that no timer takes', { ...good, closeTimeoutMs: 2 ** 31 }],
    ['a format that is none', { ...good, inputFormat: 'audio/mp3' }],
    ['a header with a line break', { ...good, headers: { 'X-A': `a\r\nb${key}` } }],
    ['a dialect that is none', { ...good, dialect: 'acme' }],
    ['text for xai', { ...good, dialect: 'xai', modalities: ['text'] }],
    ['no object', null as unknown as object],
  ])('%s is refused at once, with a typed error, and no key in it', (_, options) => {
    let error: unknown;
    try {
      openaiRealtime(options as OpenAiRealtimeOptions);
    } catch (thrown) {
      error = thrown;
    }
    expect(isCommitpointError(error), String(error)).toBe(true);
    expect(String(error)).not.toContain(key);
  });

  it.each([
    ['no model', { model: '' }],
    ['a model that is no text', { model: 7 as never }],
    ['an earlier session to resume', { resume: { handle: 'h' } }],
    ['a history that is none', { history: [{ role: 'narrator', text: 'x' }] as never }],
  ])('of connect: %s', async (_, params) => {
    const fake = await fakeOf();
    const error = await failure(fake, {}, params);
    expect(isCommitpointError(error), String(error)).toBe(true);
    expect(fake.server.connections).toEqual([]);
  });

  it('fields of the service are laid over ours, and its refusal of one is the reason', async () => {
    const { far } = await connected({
      driver: { session: { audio: { output: { speed: 1.5 } }, tool_choice: 'required' } },
    });
    expect(far.session).toMatchObject({
      tool_choice: 'required',
      audio: { output: { speed: 1.5, format: { type: 'audio/pcm' } } },
    });
    const fake = await fakeOf();
    const error = await failure(fake, { session: { temperature: 1 } });
    fake.session.violations.length = 0;
    expect(String(error)).toContain("Unknown parameter: 'session.temperature'.");
  });
});

describe('what was said before', () => {
  const history = [
    { role: 'user', text: 'What is the weather?' },
    {
      role: 'tool',
      id: '0f6dd0ba-6c1e-4d2c-8a57-5b1b7cf3a111',
      name: 'look',
      arguments: '{}',
      output: 'fog',
      isError: false,
    },
    { role: 'tool', id: 'call_7', name: 'look', arguments: '{}', output: 'no', isError: true },
    { role: 'assistant', text: 'Foggy.' },
  ] as const;

  it.each<OpenAiRealtimeDialect>(['openai', 'azure', 'azure-voice-live', 'xai'])(
    '%s: is in the conversation when connect resolves',
    async (dialect) => {
      const pair = await connected({ fake: { dialect }, params: { history } });
      expect(pair.far.items.map(({ type, role, call_id: id, output }) => [type, role ?? id, output])).toEqual([
        ['message', 'user', undefined],
        ['function_call', expect.stringMatching(/^call_cp_item_\d+$/), undefined],
        ['function_call_output', expect.stringMatching(/^call_cp_item_\d+$/), 'fog'],
        ['function_call', 'call_7', undefined],
        ['function_call_output', 'call_7', '{"error":"no"}'],
        ['message', 'assistant', undefined],
      ]);
      await say(pair.session);
      await pair.log.untilType('turn_complete');
      expect(words(await settled(pair)).filter((word) => word.startsWith('call'))).toEqual([]);
    },
  );

  it('an entry that the service refuses is the reason', async () => {
    const fake = await fakeOf();
    const next = fake.nextSession();
    const failed = failure(fake, {}, { history });
    (await next).intercept = (message, far) => {
      if (message.type !== 'conversation.item.create') return false;
      far.error({ code: 'invalid_value', message: 'No such content.' }, String(message.event_id));
      return true;
    };
    expect(String(await failed)).toMatch(/failed: invalid_value: No such content\.$/);
  });
});

async function turnsOfTheLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await turnOfTheLoop();
}
