import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  type OpenAiLoopback,
  type OpenAiLoopbackOptions,
  openaiLoopback,
  pcm,
} from '../../../src/testing/loopback/openai/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { haveRecordings, type Json, recordingsOf } from '../../providers/recordings.js';

// F1–F4: the fake, by hand, without the driver that it is for.

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A client that sends what it is told to. */
class Client {
  readonly frames: Json[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  #waiting: (() => void)[] = [];

  constructor(url: string, options: { protocols?: string[]; headers?: Record<string, string> } = {}) {
    const { protocols = [], headers = { authorization: 'Bearer k' } } = options;
    this.#socket = new WebSocket(url, protocols, { headers });
    open.push({ close: () => this.#socket.terminate() });
    this.#socket.on('message', (data) => {
      this.frames.push(JSON.parse(String(data)));
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  send(...messages: unknown[]): void {
    for (const message of messages) this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async until(holds: (frames: Json[]) => boolean): Promise<Json[]> {
    while (!holds(this.frames)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.frames;
  }

  untilType(type: string, count = 1): Promise<Json[]> {
    return this.until((frames) => frames.filter((frame) => frame.type === type).length >= count);
  }

  /** The error that a message is answered by. */
  async refusal(message: unknown): Promise<Json> {
    const before = this.frames.filter(({ type }) => type === 'error').length;
    this.send(message);
    const frames = await this.untilType('error', before + 1);
    return frames.filter(({ type }) => type === 'error').at(-1).error;
  }
}

async function pairOf(options: OpenAiLoopbackOptions = {}): Promise<{ fake: OpenAiLoopback; client: Client }> {
  const fake = await openaiLoopback(options);
  open.push(fake);
  const version = options.dialect === 'azure-voice-live' ? '&api-version=1' : '';
  const client = new Client(`${fake.baseUrl}/realtime?model=m${version}`);
  await client.untilType('session.created');
  return { fake, client };
}

const update = (session: object) => ({
  type: 'session.update',
  event_id: 'e1',
  session: { type: 'realtime', ...session },
});
const said = (text: string, id = 'u1') => ({
  type: 'conversation.item.create',
  item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const typesOf = (frames: Json[]) => frames.map(({ type }) => type).filter((type) => !type.endsWith('.delta'));

describe('the greeting', () => {
  it('has the defaults that were recorded', async () => {
    const { client } = await pairOf({ clock: new VirtualClock() });
    const { session } = client.frames[0];
    expect(session).toMatchObject({ type: 'realtime', model: 'm', expires_at: 3600, output_modalities: ['audio'] });
    expect(session.audio.input.turn_detection).toMatchObject({ silence_duration_ms: 200, interrupt_response: true });
  });

  it.each<[string, string, object, number]>([
    ['another path', '/v2/realtime?model=m', {}, 404],
    ['no model', '/v1/realtime', {}, 400],
    ['a model and a call', '/v1/realtime?model=m&call_id=c', {}, 400],
    ['no key', '/v1/realtime?model=m', { headers: {} }, 401],
    ['a bad key', '/v1/realtime?model=m', { headers: { authorization: 'Bearer bad' } }, 401],
    ['a model that is none', '/v1/realtime?model=none', {}, 403],
    ['a subprotocol without realtime', '/v1/realtime?model=m', { protocols: ['other'] }, 400],
  ])('is refused to %s', async (_, path, options, status) => {
    const fake = await openaiLoopback({ keys: ['k'], models: ['m'] });
    open.push(fake);
    const socket = new WebSocket(
      `ws://${fake.server.host}${path}`,
      (options as { protocols?: string[] }).protocols ?? [],
      {
        headers: { authorization: 'Bearer k' },
        ...options,
      },
    );
    const found = await new Promise((resolve) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('open', () => resolve('open'));
      socket.on('error', () => {});
    });
    socket.terminate();
    expect(found).toBe(status);
  });

  it('gives a key for a browser to whoever has a good one', async () => {
    const fake = await openaiLoopback({ keys: ['k'] });
    open.push(fake);
    const url = `http://${fake.server.host}/v1/realtime/client_secrets`;
    expect((await fetch(url, { method: 'POST', headers: { authorization: 'Bearer bad' } })).status).toBe(401);
    expect((await fetch(url)).status).toBe(404);
    const answer = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer k' } });
    const { value } = (await answer.json()) as { value: string };
    const protocols = ['realtime', `openai-insecure-api-key.${value}`];
    const client = new Client(`${fake.baseUrl}/realtime?model=m`, { protocols, headers: {} });
    await client.untilType('session.created');
  });

  it('takes a key as a subprotocol, and chooses the other one', async () => {
    const fake = await openaiLoopback({ keys: ['ek_1'] });
    open.push(fake);
    const socket = new WebSocket(`${fake.baseUrl}/realtime?model=m`, [
      'realtime',
      'openai-insecure-api-key.ek_1',
      'openai-agents-sdk.1',
    ]);
    await new Promise((resolve) => socket.on('open', resolve));
    expect(socket.protocol).toBe('realtime');
    socket.terminate();
  });
});

describe('the set-up', () => {
  it('lays what it is sent over what is there, and shows all of it', async () => {
    const { client } = await pairOf();
    client.send(update({ audio: { output: { voice: 'marin' } }, output_modalities: ['text'] }));
    const frames = await client.untilType('session.updated');
    expect(frames.at(-1).session).toMatchObject({
      output_modalities: ['text'],
      audio: {
        output: { voice: 'marin', format: { rate: 24_000 } },
        input: { turn_detection: { type: 'server_vad' } },
      },
    });
  });

  it.each<[string, object, string]>([
    ['no type', { type: 'session.update', session: {} }, "Missing required parameter: 'session.type'."],
    ['a field that is none', update({ temperature: 1 }), "Unknown parameter: 'session.temperature'."],
    [
      'a field of a tool that is none',
      update({ tools: [{ type: 'function', name: 'f', strict: true }] }),
      "Unknown parameter: 'session.tools[0].strict'.",
    ],
    ['both modalities', update({ output_modalities: ['text', 'audio'] }), "'session.output_modalities'"],
    ['another model', update({ model: 'n' }), 'model'],
  ])('refuses %s', async (_, message, text) => {
    const { client, fake } = await pairOf();
    const error = await client.refusal(message);
    expect(error.message).toContain(text);
    expect(fake.violations).toHaveLength(1);
  });

  it('refuses another voice once audio was sent', async () => {
    const { client } = await pairOf();
    client.send(said('x'), { type: 'response.create' });
    await client.untilType('response.done');
    expect((await client.refusal(update({ audio: { output: { voice: 'marin' } } }))).code).toBe('cannot_update_voice');
  });
});

describe('messages that no client should send', () => {
  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'invalid_json'],
    ['a list', '[]', 'invalid_json'],
    ['no type', {}, 'invalid_event'],
    ['a type that is none', { type: 'response.begin' }, 'invalid_value'],
    ['a field that is none', { type: 'response.create', eventid: 'x' }, 'unknown_parameter'],
    ['audio that is no base64', { type: 'input_audio_buffer.append', audio: 'AAA' }, 'invalid_value'],
    ['too little audio', { type: 'input_audio_buffer.commit' }, 'input_audio_buffer_commit_empty'],
    [
      'a result of no call',
      { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'c', output: '' } },
      'invalid_tool_call_id',
    ],
    [
      'a call with a long id',
      {
        type: 'conversation.item.create',
        item: { type: 'function_call', call_id: 'c'.repeat(33), name: 'f', arguments: '{}' },
      },
      'invalid_value',
    ],
    ['an item id that is too long', said('x', 'i'.repeat(33)), 'invalid_value'],
    [
      'a truncation of no item',
      { type: 'conversation.item.truncate', item_id: 'i', content_index: 0, audio_end_ms: 1 },
      'item_not_found',
    ],
    [
      'a truncation at half a millisecond',
      { type: 'conversation.item.truncate', item_id: 'i', content_index: 0, audio_end_ms: 1.5 },
      'invalid_value',
    ],
    ['metadata that is no text', { type: 'response.create', response: { metadata: { n: 1 } } }, 'invalid_value'],
  ])('%s', async (_, message, code) => {
    const { client, fake } = await pairOf();
    expect((await client.refusal(message)).code).toBe(code);
    expect(fake.violations).toHaveLength(1);
  });

  it('an id of an item that is taken', async () => {
    const { client } = await pairOf();
    client.send(said('x'));
    expect((await client.refusal(said('y'))).code).toBe('item_id_already_exists');
  });

  it('a truncation behind the end, and one of the user’s own words', async () => {
    const { client } = await pairOf({ reply: () => ({ text: 'a', audioMs: 500 }) });
    client.send(said('x'), { type: 'response.create' });
    const frames = await client.untilType('response.done');
    const truncate = (item_id: string, audio_end_ms: number) => ({
      type: 'conversation.item.truncate',
      item_id,
      content_index: 0,
      audio_end_ms,
    });
    const item = frames.find(({ type }) => type === 'response.output_item.added').item.id;
    expect((await client.refusal(truncate(item, 501))).message).toMatch(/already shorter than 501ms/);
    expect((await client.refusal(truncate('u1', 1))).code).toBe('unsupported_content_type');
    client.send(truncate(item, 500));
    await client.untilType('conversation.item.truncated');
  });
});

describe('responses', () => {
  it('one at a time; a cancel of none is refused; metadata comes back', async () => {
    const { client, fake } = await pairOf({ pace: 'stepwise' });
    expect((await client.refusal({ type: 'response.cancel' })).code).toBe('response_cancel_not_active');
    client.send({ type: 'response.create', response: { metadata: { k: 'v' } } });
    const error = await client.refusal({ type: 'response.create', event_id: 'second' });
    expect(error).toMatchObject({ code: 'conversation_already_has_active_response', event_id: 'second' });
    fake.session.finish();
    const frames = await client.untilType('response.done');
    expect(frames.find(({ type }) => type === 'response.done').response.metadata).toEqual({ k: 'v' });
    // Both cross what the service does, and are no fault of the client.
    expect(fake.violations).toEqual([]);
  });

  it('a cut ends what is open: incomplete items, a call with half its arguments, one cancelled', async () => {
    const { client, fake } = await pairOf({
      pace: 'stepwise',
      habits: { stragglers: 1 },
      reply: () => ({ text: 'One.', calls: [{ name: 'f', arguments: '{"long":"argument"}' }] }),
    });
    client.send(update({ output_modalities: ['text'] }), { type: 'response.create' });
    await client.untilType('session.updated');
    while (fake.session.activeResponse === undefined) await new Promise((resolve) => setImmediate(resolve));
    fake.session.stepPast('response.function_call_arguments.delta');
    const before = client.frames.length;
    client.send({ type: 'response.cancel' });
    await client.untilType('response.done');
    const rest = client.frames.slice(Math.max(before, 0)).filter(({ type }) => type.startsWith('response.'));
    expect(rest.slice(-4).map(({ type }) => type)).toEqual([
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(rest.at(-3).arguments).toBe('{"long":"arg'.slice(0, 12));
    expect(rest.at(-2).item.status).toBe('incomplete');
    expect(rest.at(-1).response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'client_cancelled' },
      output: [{ status: 'completed' }, { status: 'incomplete' }],
    });
  });

  it('one each so many milliseconds, by the clock', async () => {
    const clock = new VirtualClock();
    const { client } = await pairOf({ pace: { ms: 20 }, clock });
    client.send({ type: 'response.create' });
    await client.untilType('response.created');
    expect(client.frames.some(({ type }) => type === 'response.done')).toBe(false);
    await clock.advance(1000, async () => {});
    await client.untilType('response.done');
  });
});

describe('what it hears', () => {
  it('is speech in loud audio, its end in silence, and an answer', async () => {
    const { client } = await pairOf();
    const append = (audio: string) => ({ type: 'input_audio_buffer.append', audio });
    client.send(append(pcm(100, 'silence')), append(pcm(300, 'speech')), append(pcm(200, 'silence')));
    const frames = await client.untilType('response.done');
    expect(typesOf(frames).slice(1, 7)).toEqual([
      ...['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped', 'input_audio_buffer.committed'],
      ...['conversation.item.added', 'conversation.item.done', 'response.created'],
    ]);
    expect(frames[1].audio_start_ms).toBe(100);
  });
});

describe.runIf(haveRecordings)('the order of frames is the recorded one', () => {
  /** What a recording and the fake have in common: types, without deltas, and without what is told of now and then. */
  const order = (frames: readonly Json[]) =>
    frames
      .map(({ type }) => type as string)
      .filter((type) => !/delta$|^rate_limits|input_audio_transcription|^ping$|^conversation\.created$/.test(type));

  /** The fake is asked what the recorded client asked. */
  async function asked(options: OpenAiLoopbackOptions, setUp: object, result = true): Promise<Json[]> {
    const { client } = await pairOf(options);
    client.send({ type: 'session.update', session: setUp }, said('What is the weather?'), { type: 'response.create' });
    await client.untilType('response.done');
    if (result) {
      const call = client.frames.find(({ type }) => type === 'response.function_call_arguments.done');
      const item = { type: 'function_call_output', call_id: call.call_id, output: 'fog' };
      client.send({ type: 'conversation.item.create', item }, { type: 'response.create' });
      await client.untilType('response.done', 2);
    }
    return client.frames;
  }

  const recorded = (prefix: string) => {
    const [recording] = recordingsOf('openai', 'recorded').filter(({ name }) => name.startsWith(prefix));
    expect.assert(recording !== undefined, `${prefix} is missing`);
    return recording.server;
  };
  const call = { name: 'get_weather', arguments: '{ "city": "London" }' };
  const reply: OpenAiLoopbackOptions['reply'] = ({ index }) =>
    index === 0 ? { calls: [call] } : { text: 'It is foggy.' };

  it('a tool round of OpenAI', async () => {
    const frames = await asked({ reply }, { type: 'realtime', output_modalities: ['text'] });
    expect(order(frames)).toEqual(order(recorded('text-tool-round')));
  });

  it('a tool round of Azure Voice Live', async () => {
    const frames = await asked({ reply, dialect: 'azure-voice-live' }, { modalities: ['text'] });
    expect(order(frames)).toEqual(order(recorded('dialect-azure-voice-live')));
  });

  it('a tool round of xAI, with speech before the call', async () => {
    const spoken: OpenAiLoopbackOptions['reply'] = ({ index }) =>
      index === 0 ? { text: 'One moment.', calls: [call] } : { text: 'It is foggy.' };
    const frames = await asked({ reply: spoken, dialect: 'xai' }, {});
    expect(order(frames)).toEqual(order(recorded('dialect-xai-tool-round')));
  });

  it('a turn by speech', async () => {
    const { client, fake } = await pairOf();
    client.send({ type: 'session.update', session: { type: 'realtime' } });
    await client.untilType('session.updated');
    fake.session.speechStarts();
    fake.session.speechStops();
    await client.untilType('response.done');
    expect(order(client.frames)).toEqual(order(recorded('audio-vad-turn')));
  });
});
