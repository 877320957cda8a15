import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import {
  call,
  type GeminiLoopback,
  type GeminiLoopbackOptions,
  geminiLoopback,
  pause,
  type Reply,
  say,
  type UserTurn,
} from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { haveRecordings, type Json, recordingsOf } from '../../providers/recordings.js';

const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=any';

/** A client that sends what it is told, right or wrong. */
class Client {
  readonly frames: Json[] = [];
  readonly binary: boolean[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  #waiting: { test(): boolean; resolve(): void }[] = [];

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        for (const { resolve: wake } of this.#waiting) wake();
      });
    });
    this.#socket.on('error', () => {});
    this.#socket.on('message', (data, binary) => {
      this.frames.push(JSON.parse(String(data)));
      this.binary.push(binary);
      for (const entry of this.#waiting) if (entry.test()) entry.resolve();
    });
  }

  static async open(far: GeminiLoopback, to = path): Promise<Client> {
    const client = new Client(far.url.replace('http', 'ws') + to);
    onTestFinished(() => client.#socket.terminate());
    await new Promise((resolve) => {
      client.#socket.once('open', resolve);
      client.#socket.once('error', resolve);
    });
    return client;
  }

  send(...messages: unknown[]): void {
    for (const message of messages) {
      this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    }
  }

  /** Waits for a frame that has that key, or that key in its content. */
  async has(key: string, count = 1): Promise<void> {
    const test = () => this.shape().filter((word) => word.split('+').includes(key)).length >= count;
    if (!test()) await new Promise<void>((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** What came, by the names of the fields, runs as one. */
  shape(): string[] {
    return shapeOf(this.frames);
  }
}

function shapeOf(frames: readonly Json[]): string[] {
  const words: string[] = [];
  for (const frame of frames) {
    const fields = Object.keys(frame).flatMap((key) =>
      key === 'serverContent' ? Object.keys(frame.serverContent) : [key],
    );
    const word = fields.join('+');
    if (word !== words.at(-1)) words.push(word);
  }
  return words;
}

async function open(options: GeminiLoopbackOptions = {}, setup: object | null = {}) {
  const far = await geminiLoopback(options);
  onTestFinished(() => far.close());
  const client = await Client.open(far);
  if (setup) {
    client.send({ setup: { model: 'models/gemini-2.5-flash-live', ...setup } });
    await Promise.race([client.has('setupComplete'), client.closed]);
  }
  return { far, client, peer: far.peers[0] };
}

const text = (words: string, turnComplete = true) => ({
  clientContent: { turns: [{ role: 'user', parts: [{ text: words }] }], turnComplete },
});
const tools = [{ functionDeclarations: [{ name: 'look' }, { name: 'free', behavior: 'NON_BLOCKING' }] }];
const answer = (id: string | undefined, more: object = {}) => ({
  toolResponse: { functionResponses: [{ ...(id ? { id } : {}), name: 'look', response: { output: 'x' }, ...more }] },
});

describe('what the service would not take ends the connection with 1007 and a reason', () => {
  const model = 'models/m';
  it.each([
    ['text that is no JSON', '{', 'Invalid JSON payload'],
    ['a list', [], 'Invalid JSON payload'],
    ['no message', {}, 'expected one message, found none'],
    ['two messages', { setup: { model }, clientContent: {} }, 'expected one message'],
    ['an unknown message', { hello: {} }, 'Unknown name "hello"'],
    ['a message before the set-up', text('hi'), 'expected after setupComplete'],
    ['an unknown field', { setup: { model, voice: 'x' } }, 'Unknown name "voice" at \'setup\''],
    ['an unknown field within', { setup: { model, tools: [{ functions: [] }] } }, "at 'setup.tools[0]'"],
    ['a field of another type', { setup: { model: 7 } }, "Invalid value at 'setup.model'"],
    [
      'a field twice, in both spellings',
      { setup: { model, tools: [], generationConfig: {}, generation_config: {} } },
      'set twice',
    ],
    ['a name of no enum', { setup: { model, generationConfig: { responseModalities: ['SMELL'] } } }, 'one of'],
    [
      'two modalities',
      { setup: { model, generationConfig: { responseModalities: ['AUDIO', 'TEXT'] } } },
      'invalid argument',
    ],
    ['a model without a path', { setup: { model: 'gemini' } }, 'unexpected model name format'],
    [
      'a bad name of a function',
      { setup: { model, tools: [{ functionDeclarations: [{ name: 'a b' }] }] } },
      'invalid function name',
    ],
    [
      'a function twice',
      { setup: { model, tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'a' }] }] } },
      'duplicate',
    ],
    [
      'two kinds of parameters',
      {
        setup: { model, tools: [{ functionDeclarations: [{ name: 'a', parameters: {}, parametersJsonSchema: {} }] }] },
      },
      'mutually exclusive',
    ],
    ['resumption as on Vertex', { setup: { model, sessionResumption: { transparent: true } } }, 'Transparent'],
  ])('before the session: %s', async (_, message, reason) => {
    const { far, client } = await open({}, null);
    client.send(message);
    const closed = await client.closed;
    expect(closed.code).toBe(1007);
    expect(closed.reason).toContain(reason);
    expect(far.violations).toHaveLength(1);
  });

  it.each([
    ['a second set-up', { setup: { model } }, 'expected as the first message'],
    ['audio that is no base64', { realtimeInput: { audio: { data: '?', mimeType: 'audio/pcm' } } }, 'expected base64'],
    [
      'audio of another kind',
      { realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/mp3' } } },
      'expected audio/pcm',
    ],
    ['video that is none', { realtimeInput: { video: { data: 'AAAA', mimeType: 'audio/pcm' } } }, 'expected an image'],
    ['marks of activity that it finds itself', { realtimeInput: { activityStart: {} } }, 'activity control'],
    [
      'an answer without a response',
      { toolResponse: { functionResponses: [{ id: 'c1', name: 'look' }] } },
      'is required',
    ],
    ['an answer that is no object', answer('c1', { response: 'x' }), 'expected an object'],
    ['an answer under another name', answer('c1', { name: 'other' }), 'expected look'],
    ['an answer without the id', answer(undefined), 'not found'],
    ['an answer to nothing', answer('c9'), 'not found'],
    ['a second answer', [answer('c1'), answer('c1')], 'answered before'],
  ])('in the session: %s', async (_, message, reason) => {
    const { far, client } = await open(
      {
        *model() {
          yield call({ name: 'look', id: 'c1' });
        },
      },
      { tools },
    );
    client.send(text('go'));
    await client.has('toolCall');
    client.send(...[message].flat());
    const closed = await client.closed;
    expect([1007, 1008]).toContain(closed.code);
    expect(closed.reason).toContain(reason);
    expect(far.violations).toHaveLength(1);
  });

  it('reasons are cut at 123 bytes, and not within a character', async () => {
    const { client, peer } = await open();
    peer?.close(1011, `${'é'.repeat(61)}é tail`);
    expect((await client.closed).reason).toBe('é'.repeat(61));
  });
});

describe('upgrades', () => {
  it.each([
    ['one slash', path, 101],
    ['two slashes', `/${path}`, 101],
    ['v1alpha', path.replace('v1beta', 'v1alpha'), 101],
    ['v1, which newer clients ask for', path.replace('v1beta', 'v1'), 101],
    [
      'an ephemeral token',
      '/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained?access_token=t',
      101,
    ],
    [
      'an ephemeral token that is missing',
      '/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained',
      403,
    ],
    ['another path', '/ws/other', 404],
  ])('%s', async (_, to, status) => {
    const far = await geminiLoopback();
    onTestFinished(() => far.close());
    await Client.open(far, to);
    expect(far.peers).toHaveLength(status === 101 ? 1 : 0);
  });

  it('a bad key is taken, and then closed with 1007', async () => {
    const { client, far } = await open({ keys: ['good'] }, null);
    expect(await client.closed).toEqual({ code: 1007, reason: 'API key not valid. Please pass a valid API key.' });
    expect(far.violations).toEqual([]);
  });
});

describe('frames', () => {
  it('are binary, compact and bare, or text, on several lines and with noise', async () => {
    const plain = await open();
    expect(plain.client.binary).toEqual([true]);
    const other = await open({ binary: false, noise: true, pretty: true });
    other.client.send(text('hi'));
    await other.client.has('turnComplete');
    expect(other.client.binary).not.toContain(true);
    expect(other.client.frames.filter((frame) => JSON.stringify(frame) === '{"serverContent":{}}')).not.toEqual([]);
  });

  it('snake_case is taken too', async () => {
    const { client, far } = await open({}, { generation_config: { response_modalities: ['TEXT'] } });
    client.send({ client_content: { turns: [{ parts: [{ text: 'hi' }] }], turn_complete: true } });
    await client.has('turnComplete');
    expect(client.shape()).toContain('modelTurn');
    expect(far.violations).toEqual([]);
  });
});

describe('turns', () => {
  function* long(turn: UserTurn): Reply {
    yield say(turn.type === 'text' ? turn.text : turn.type);
    yield pause(100);
    yield say('more');
  }

  it('end in generationComplete, a delay while it plays, and turnComplete with usage', async () => {
    const clock = new VirtualClock();
    const { client } = await open({ clock, playbackMs: 50 }, { outputAudioTranscription: {} });
    client.send(text('hi'));
    await client.has('generationComplete');
    await quiet();
    expect(client.shape()).toEqual([
      'setupComplete',
      'outputTranscription',
      'modelTurn',
      'outputTranscription',
      'modelTurn',
      'generationComplete',
    ]);
    await clock.advance(50, quiet);
    await client.has('turnComplete');
    expect(client.frames.at(-1)).toEqual({
      serverContent: { turnComplete: true },
      usageMetadata: { promptTokenCount: 10, responseTokenCount: 5, totalTokenCount: 15 },
    });
  });

  it('are cut without generationComplete while the model speaks (T2), and with it while it plays (T3)', async () => {
    const clock = new VirtualClock();
    const speaking = await open({ clock, model: long });
    speaking.client.send(text('one'));
    await speaking.client.has('modelTurn');
    speaking.client.send(text('two', false));
    await speaking.client.has('turnComplete');
    expect(speaking.client.shape()).toEqual([
      'setupComplete',
      'modelTurn',
      'interrupted',
      'turnComplete+usageMetadata',
    ]);
    await clock.advance(1000, quiet);
    expect(speaking.client.frames).toHaveLength(4);

    const playing = await open({ playbackMs: 50 });
    playing.client.send(text('one'));
    await playing.client.has('generationComplete');
    playing.peer?.interrupt();
    await playing.client.has('turnComplete');
    expect(playing.client.shape().slice(-3)).toEqual([
      'generationComplete',
      'interrupted',
      'turnComplete+usageMetadata',
    ]);
  });

  it('content that does not complete a turn is kept, and answered with the next that does', async () => {
    const { client, peer } = await open();
    client.send(text('first', false), text('second'));
    await client.has('turnComplete');
    expect(JSON.stringify(peer?.context)).toMatch(/first.*second/);
    expect(client.frames.filter((frame) => frame.serverContent?.turnComplete)).toHaveLength(1);
  });

  it('by speech: it begins with what is loud, ends with so much silence, interrupts or waits', async () => {
    const loud = Buffer.alloc(3200, 0x40).toString('base64');
    const silent = (ms: number) => Buffer.alloc(32 * ms).toString('base64');
    const audio = (data: string) => ({ realtimeInput: { audio: { data, mimeType: 'audio/pcm;rate=16000' } } });
    const detection = { automaticActivityDetection: { silenceDurationMs: 300 } };
    const { client, peer } = await open(
      { model: long },
      { realtimeInputConfig: detection, inputAudioTranscription: {} },
    );
    client.send(audio(silent(1000)), audio(loud), audio(silent(299)));
    await peer?.message('realtimeInput', 3);
    await quiet();
    expect(client.shape()).toEqual(['setupComplete']);
    client.send(audio(silent(1)));
    await client.has('modelTurn');
    expect(client.frames[1]).toEqual({ serverContent: { inputTranscription: { text: '100 ms' } } });
    client.send(audio(loud));
    await client.has('interrupted');

    const patient = await open(
      { model: long },
      { realtimeInputConfig: { ...detection, activityHandling: 'NO_INTERRUPTION' } },
    );
    patient.client.send(text('hi'));
    await patient.client.has('modelTurn');
    patient.client.send(audio(loud), { realtimeInput: { audioStreamEnd: true } });
    await patient.peer?.message('realtimeInput', 2);
    expect(patient.client.shape()).not.toContain('interrupted');
  });

  it('with marks of activity, where the client makes them', async () => {
    const manual = { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } };
    const { client, far } = await open({}, manual);
    client.send(
      { realtimeInput: { activityStart: {} } },
      { realtimeInput: { audio: { data: Buffer.alloc(3200).toString('base64'), mimeType: 'audio/pcm;rate=16000' } } },
      { realtimeInput: { activityEnd: {} } },
    );
    await client.has('turnComplete');
    expect(far.violations).toEqual([]);
    client.send({ realtimeInput: { audioStreamEnd: true } });
    expect((await client.closed).code).toBe(1007);
  });

  it('the initial history is read to its end and answered by nothing; other content of a 3.1 model is refused', async () => {
    const { client, peer, far } = await open(
      {},
      { model: 'models/gemini-3.1-flash-live', historyConfig: { initialHistoryInClientContent: true } },
    );
    client.send(text('old', false), text('older'), { realtimeInput: { text: 'new' } });
    await client.has('turnComplete');
    expect(JSON.stringify(peer?.context)).toMatch(/old.*older.*new/);
    expect(far.violations).toEqual([]);
    client.send(text('again'));
    expect((await client.closed).code).toBe(1007);
  });
});

describe('calls', () => {
  const two = function* (): Reply {
    const answers = yield call({ name: 'look', id: 'c1' }, { name: 'look', id: 'c2' });
    yield say(`${answers.length}`);
  };
  const text1 = { generationConfig: { responseModalities: ['TEXT'] }, tools };

  it('the model waits for all answers, or goes on at the first', async () => {
    const all = await open({ model: two }, text1);
    all.client.send(text('go'));
    await all.client.has('toolCall');
    all.client.send(answer('c2'));
    await all.peer?.message('toolResponse');
    expect(all.client.shape()).not.toContain('modelTurn');
    all.client.send(answer('c1'));
    await all.client.has('modelTurn');
    expect(
      all.client.frames.find((frame) => frame.serverContent?.modelTurn)?.serverContent.modelTurn.parts[0].text,
    ).toBe('2');

    const first = await open({ model: two, waitsForAll: false }, text1);
    first.client.send(text('go'));
    await first.client.has('toolCall');
    first.client.send(answer('c2'));
    await first.client.has('modelTurn');
    first.client.send(answer('c1'));
    await first.peer?.message('toolResponse', 2);
    expect(first.far.violations).toEqual([]);
  });

  it.each([
    ['before', ['toolCallCancellation', 'interrupted', 'turnComplete+usageMetadata']],
    ['after', ['interrupted', 'toolCallCancellation', 'turnComplete+usageMetadata']],
    ['none', ['interrupted', 'turnComplete+usageMetadata']],
  ] as const)('are withdrawn %s an interruption', async (withdrawal, shape) => {
    const { client, peer } = await open({ model: two, withdrawal }, text1);
    client.send(text('go'));
    await client.has('toolCall');
    peer?.interrupt();
    await client.has('turnComplete');
    expect(client.shape().slice(2)).toEqual(shape);
  });

  it.each([
    ['ignore', undefined],
    ['refuse', 1008],
  ] as const)('an answer to a call that is withdrawn: %s', async (lateAnswers, code) => {
    const { client, peer, far } = await open({ model: two, lateAnswers }, text1);
    client.send(text('go'));
    await client.has('toolCall');
    peer?.withdraw('c1');
    await client.has('toolCallCancellation');
    client.send(answer('c1'));
    await peer?.message('toolResponse');
    if (code === undefined) expect(peer?.connection.isOpen).toBe(true);
    else expect(await client.closed).toMatchObject({ code });
    expect(far.violations).toEqual([]);
  });

  it('on Vertex: the turn is completed at its calls, and again after the answer (T4)', async () => {
    const far = await geminiLoopback({ model: two, service: 'vertex' });
    onTestFinished(() => far.close());
    const client = await Client.open(far, '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent');
    client.send({
      setup: {
        ...text1,
        tools: [{ functionDeclarations: [{ name: 'look' }] }],
        model: 'projects/p/locations/l/publishers/google/models/m',
      },
    });
    client.send(text('go'));
    await client.has('turnComplete');
    client.send(answer('c1'), answer('c2'));
    await client.has('turnComplete', 2);
    const half = ['generationComplete', 'turnComplete+usageMetadata'];
    expect(client.shape()).toEqual(['setupComplete', 'toolCall', ...half, 'modelTurn', ...half]);
    expect(client.frames.at(-1).usageMetadata).toHaveProperty('candidatesTokenCount');
  });

  it.each([
    ['INTERRUPT', ['interrupted', 'turnComplete+usageMetadata', 'modelTurn']],
    ['WHEN_IDLE', []],
    ['SILENT', []],
  ])('a result that nobody waits for, scheduled %s', async (scheduling, shape) => {
    const clock = new VirtualClock();
    const { client, peer } = await open(
      {
        clock,
        *model(turn) {
          if (turn.type === 'answers') {
            yield say('So.');
            return;
          }
          yield call({ name: 'free', id: 'c1' });
          yield say('Meanwhile');
          yield pause(100);
        },
      },
      text1,
    );
    client.send(text('go'));
    await client.has('modelTurn');
    const before = client.shape().length;
    client.send(answer('c1', { name: 'free', scheduling }));
    await peer?.message('toolResponse');
    if (shape.length > 0) await client.has('modelTurn', 2);
    expect(client.shape().slice(before, before + shape.length)).toEqual(shape);
    await clock.advance(100, quiet);
    await client.has('turnComplete', scheduling === 'SILENT' ? 1 : 2);
    expect(client.shape().filter((word) => word === 'modelTurn')).toHaveLength(scheduling === 'SILENT' ? 1 : 2);
  });
});

describe('resumption, and going away', () => {
  it('a handle after each turn, none while a call is open; the next session knows what was said', async () => {
    const { client, far } = await open({}, { sessionResumption: {} });
    client.send(text('I am Ada'));
    await client.has('sessionResumptionUpdate');
    const { newHandle } = client.frames.at(-1).sessionResumptionUpdate;
    const again = await Client.open(far);
    again.send({ setup: { model: 'models/gemini-2.5-flash-live', sessionResumption: { handle: newHandle } } });
    await again.has('setupComplete');
    expect(JSON.stringify(far.peers[1]?.context)).toContain('I am Ada');
  });

  it('announces its end, and ends', async () => {
    const clock = new VirtualClock();
    const { client, peer } = await open({ clock });
    peer?.goAway(10_000);
    await client.has('goAway');
    expect(client.frames.at(-1)).toEqual({ goAway: { timeLeft: '10s' } });
    await clock.advance(10_000, quiet);
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
  });
});

describe.runIf(haveRecordings)('against recordings of the service', () => {
  it.each(recordingsOf('gemini', 'recorded'))(
    'every message of the recorded client is taken: $name',
    async ({ frames }) => {
      const { far, client, peer } = await open({ recording: frames }, null);
      const messages = frames.flatMap((frame) => (frame.dir === 'c2s' && 'data' in frame ? [frame.data] : []));
      client.send(...messages);
      expect(await client.closed).toMatchObject({ code: 1000 });
      expect(far.violations).toEqual([]);
      expect(peer?.received).toHaveLength(messages.length);
      expect(client.frames).toEqual(
        frames.flatMap((frame) => (frame.dir === 's2c' && 'data' in frame ? [frame.data] : [])),
      );
    },
  );

  it('a tool round and a barge-in have the shape that was recorded', async () => {
    const recorded = (name: string) =>
      shapeOf(recordingsOf('gemini', 'recorded').find((recording) => recording.name.startsWith(name))?.server ?? []);
    // What the model says in between comes in an order of its own each time.
    const bare = (shape: string[]) => shape.filter((word) => !/modelTurn|Transcription/.test(word));

    const round = await open(
      {
        *model() {
          yield call({ name: 'look', id: 'c1' });
          yield say('Done it is.');
        },
      },
      { tools, outputAudioTranscription: {} },
    );
    round.client.send(text('go'));
    await round.client.has('toolCall');
    round.client.send(answer('c1'));
    await round.client.has('turnComplete');
    expect(bare(round.client.shape())).toEqual(bare(recorded('text-tool-round.gemini-2.5')));

    const cut = await open({ playbackMs: 1000 });
    cut.client.send(text('go'));
    await cut.client.has('generationComplete');
    cut.peer?.interrupt();
    await cut.client.has('turnComplete');
    const shape = bare(recorded('barge-in'));
    expect(bare(cut.client.shape())).toEqual(shape.slice(0, shape.indexOf('turnComplete+usageMetadata') + 1));
  });
});
