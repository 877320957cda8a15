import { describe, expect, it } from 'vitest';
import {
  call,
  type GeminiLoopbackOptions,
  pause,
  type Reply,
  say,
  think,
  type UserTurn,
} from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { live, story, tool } from './live.js';

// Each test speaks to a real server on the loopback interface, and ends with a look at what the server found wrong: nothing.

const tools = [tool('look'), tool('book')];
const text = (words: string) => ({ type: 'text', text: words }) as const;

/** Calls `look` once and says what it was told. */
function* looks(turn: UserTurn): Reply {
  if (turn.type !== 'text') return;
  const [answer] = yield call({ name: 'look', args: { for: turn.text }, id: 'c1' });
  yield say(`It is ${answer?.response.output ?? answer?.response.error}.`);
}

describe('a conversation', () => {
  it('says what the model says, in audio and in words, and ends its turn once', async () => {
    const { session, reading, far } = await live();
    await session.send(text('Hello there'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['“You said: Hello there”', 'turn_complete']);
    expect(reading.events.find(({ type }) => type === 'audio')).toMatchObject({ mediaType: 'audio/pcm;rate=24000' });
    expect(reading.events).toContainEqual({ type: 'usage', inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    expect(far.violations).toEqual([]);
  });

  it('hears audio: what the user says comes as `input_text`, and is answered', async () => {
    const { session, reading, far } = await live();
    const loud = Buffer.alloc(3200, 0x40).toString('base64');
    const silent = Buffer.alloc(16_000).toString('base64');
    const audio = (data: string) => session.send({ type: 'audio', data, mediaType: 'audio/pcm;rate=16000' });
    for (const data of [loud, loud, silent]) await audio(data);
    await reading.until('turn_complete');
    expect(reading.events[0]).toEqual({ type: 'input_text', text: '200 ms', final: false });
    expect(story(reading.events)).toEqual(['input_text', '“I heard 200 ms.”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it('in text, where the model still can', async () => {
    const { session, reading, far, peer } = await live({ driver: { modality: 'text' } });
    expect(peer.ofKind('setup')[0]).not.toHaveProperty('outputAudioTranscription');
    await session.send(text('Hi'));
    await reading.until('turn_complete');
    expect(reading.events.some(({ type }) => type === 'audio')).toBe(false);
    expect(story(reading.events)).toEqual(['“You said: Hi”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it.each([
    ['text messages', { binary: false }],
    ['JSON on several lines', { pretty: true }],
    ['empty frames in between', { noise: true }],
    ['fragmented messages', { connected: ({ connection }) => connection.fragment(7) }],
    ['TCP in pieces of three bytes', { connected: ({ connection }) => connection.splitWrites(3) }],
  ] satisfies [string, GeminiLoopbackOptions][])('the same over %s', async (_, far) => {
    const { session, reading } = await live({ far });
    await session.send(text('Grüße, 世界 🙂'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['“You said: Grüße, 世界 🙂”', 'turn_complete']);
  });
});

describe('tools', () => {
  it('one round: the call, its result, the answer, one end', async () => {
    const { session, reading, far, peer } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    expect(await reading.until('tool_call')).toEqual({
      type: 'tool_call',
      id: 'c1',
      name: 'look',
      arguments: '{"for":"rain"}',
    });
    // Settles by what the model says next (R1): nobody moves the driver's clock.
    await session.sendToolResult('c1', 'wet');
    await reading.until('turn_complete');
    expect(peer.ofKind('toolResponse')).toEqual([
      { functionResponses: [{ id: 'c1', name: 'look', response: { output: 'wet' } }] },
    ]);
    expect(story(reading.events)).toEqual(['c1 look{"for":"rain"}', '“It is wet.”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it('that the model waits for are not scheduled', async () => {
    const { session, reading, peer } = await live({
      far: { model: looks },
      driver: { scheduling: 'silent', nonBlocking: ['book'] },
      connect: { tools },
    });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await session.sendToolResult('c1', 'wet');
    expect(peer.ofKind('toolResponse')[0].functionResponses[0]).not.toHaveProperty('scheduling');
  });

  it('an error is an error to the model', async () => {
    const { session, reading, peer } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await session.sendToolResult('c1', 'no window', true);
    await reading.until('turn_complete');
    expect(peer.ofKind('toolResponse')[0].functionResponses[0].response).toEqual({ error: 'no window' });
    expect(story(reading.events)).toContain('“It is no window.”');
  });

  function* both(): Reply {
    const answers = yield call({ name: 'look', id: 'c1' }, { name: 'book', id: 'c2' });
    yield say(answers.map(({ id, response }) => `${id}=${response.output}`).join(' '));
  }

  it('parallel calls are answered one by one, in any order, and each result resolves', async () => {
    const { session, reading, far, clock } = await live({ far: { model: both }, connect: { tools } });
    await session.send(text('go'));
    await reading.until('tool_call', 2);
    const second = session.sendToolResult('c2', 'two');
    // The model waits for the other one: only time tells (R2).
    const peer = far.peer;
    await peer?.message('toolResponse', 1);
    let settled = false;
    void second.then(() => {
      settled = true;
    });
    await clock.advance(499, quiet);
    expect(settled).toBe(false);
    await clock.advance(1, quiet);
    expect(settled).toBe(true);
    await session.sendToolResult('c1', 'one');
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['c1 look{}', 'c2 book{}', '“c2=two c1=one”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it('of Vertex: the turn that is completed at its call is one turn', async () => {
    const { session, reading, far } = await live({
      far: { model: looks, service: 'vertex' },
      driver: {
        vertex: { project: 'p', location: 'us-central1' },
        accessToken: 'ya29.a-token-of-a-test',
      },
      connect: { tools, model: 'gemini-live-2.5-flash' },
    });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await session.sendToolResult('c1', 'wet');
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['c1 look{"for":"rain"}', '“It is wet.”', 'turn_complete']);
    expect(reading.events).toContainEqual({ type: 'usage', inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    expect(far.violations).toEqual([]);
    expect(far.peer?.ofKind('setup')[0].model).toBe(
      'projects/p/locations/us-central1/publishers/google/models/gemini-live-2.5-flash',
    );
  });

  it('of Vertex: a model that says nothing after its call has completed its turn when two seconds have passed', async () => {
    function* silent(): Reply {
      yield call({ name: 'look', id: 'c1' });
      yield pause(1_000_000);
    }
    const { session, reading, clock, far } = await live({
      far: { model: silent, service: 'vertex' },
      driver: { vertex: { project: 'p', location: 'l' }, accessToken: 'ya29.a-token-of-a-test' },
      connect: { tools },
    });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await reading.until('usage');
    await clock.advance(1999, quiet);
    expect(story(reading.events)).toEqual(['c1 look{}']);
    await clock.advance(1, quiet);
    expect(story(reading.events)).toEqual(['c1 look{}', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it('a call without an id gets one of ours, which is left off the answer', async () => {
    function* nameless(): Reply {
      const [answer] = yield call({ name: 'look', id: null });
      yield say(String(answer?.response.output));
    }
    const { session, reading, peer, far } = await live({ far: { model: nameless }, connect: { tools } });
    await session.send(text('go'));
    const { id } = await reading.until('tool_call');
    await session.sendToolResult(id, 'fine');
    await reading.until('turn_complete');
    expect(peer.ofKind('toolResponse')[0].functionResponses).toEqual([{ name: 'look', response: { output: 'fine' } }]);
    expect(far.violations).toEqual([]);
  });

  it('that the model does not wait for: it speaks on, and takes the result up later', async () => {
    function* eager(turn: UserTurn): Reply {
      if (turn.type === 'answers') {
        yield say(`Found: ${turn.answers[0]?.response.output}`);
        return;
      }
      yield call({ name: 'look', id: 'c1' });
      yield say('Meanwhile.');
    }
    const { session, reading, peer, clock, far } = await live({
      far: { model: eager },
      driver: { nonBlocking: ['look'], scheduling: 'when_idle' },
      connect: { tools, model: 'gemini-3.8-live' },
    });
    await session.send(text('go'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['c1 look{}', '“Meanwhile.”', 'turn_complete']);
    const sent = session.sendToolResult('c1', 'it');
    await reading.until('turn_complete', 2);
    // What the model says proves nothing here: it never waited (R2).
    let settled = false;
    void sent.then(() => {
      settled = true;
    });
    await quiet();
    expect(settled).toBe(false);
    await clock.advance(500, quiet);
    await sent;
    expect(story(reading.events).slice(3)).toEqual(['“Found: it”', 'turn_complete']);
    expect(peer.ofKind('setup')[0].tools[0].functionDeclarations).toMatchObject([
      { name: 'look', behavior: 'NON_BLOCKING' },
      { name: 'book', behavior: 'BLOCKING' },
    ]);
    expect(peer.ofKind('toolResponse')[0].functionResponses[0].scheduling).toBe('WHEN_IDLE');
    expect(far.violations).toEqual([]);
  });
});

describe('results that cannot be', () => {
  it('a second one, and one of a call that nobody made, are refused, and nothing is sent (R4)', async () => {
    const { session, reading, peer, far } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await session.sendToolResult('c1', 'wet');
    await expect(session.sendToolResult('c1', 'dry')).rejects.toMatchObject({ code: 'result_refused', callId: 'c1' });
    await expect(session.sendToolResult('c9', 'dry')).rejects.toMatchObject({ code: 'result_refused', callId: 'c9' });
    await session.send(text('again'));
    await peer.message('clientContent', 2);
    expect(peer.ofKind('toolResponse')).toHaveLength(1);
    expect(far.violations).toEqual([]);
  });

  it('one that the service does not survive is unknown, with its reason (R3)', async () => {
    const { session, reading, peer } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    peer.connection.onMessage(() => peer.close(1011, 'Internal error occurred.'));
    await expect(session.sendToolResult('c1', 'wet')).rejects.toMatchObject({
      code: 'result_unknown',
      callId: 'c1',
      message: expect.stringContaining('Internal error occurred. (close code 1011)'),
    });
    await reading.done;
    expect(story(reading.events).at(-1)).toBe('closed: Internal error occurred. (close code 1011)');
  });

  it('one that waits on a connection that takes nothing is unknown when its time is over (R3)', async () => {
    const { session, reading, peer, clock } = await live({
      far: { model: looks },
      connect: { tools },
      driver: { quietMs: 500, writeTimeoutMs: 2000, maxBufferedBytes: 2 ** 30 },
    });
    await session.send(text('rain'));
    await reading.until('tool_call');
    peer.connection.stall();
    // More than the system holds for a reader that reads nothing.
    const data = Buffer.alloc(3_000_000).toString('base64');
    for (let n = 0; n < 4; n++) await session.send({ type: 'audio', data, mediaType: 'audio/pcm;rate=16000' });
    const sent = session.sendToolResult('c1', 'wet');
    const settled = expect(sent).rejects.toMatchObject({ code: 'result_unknown' });
    await clock.advance(2500, quiet);
    await settled;
  });

  it('one that an interruption follows: what is said then belongs to another turn, and shows nothing (R1)', async () => {
    const { session, reading, peer, clock } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    peer.connection.onMessage(() => {});
    let settled = false;
    const sent = session.sendToolResult('c1', 'wet').then(() => {
      settled = true;
    });
    peer.send({ serverContent: { interrupted: true } });
    peer.send({ serverContent: { turnComplete: true } });
    peer.send({ serverContent: { modelTurn: { parts: [{ text: 'Another thing.' }] } } });
    await reading.until('text');
    await quiet();
    expect(settled).toBe(false);
    await clock.advance(500, quiet);
    await sent;
  });

  it('one that is no text is refused, and the call can still be answered', async () => {
    const { session, reading, far } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await expect(session.sendToolResult('c1', { wet: true } as never)).rejects.toMatchObject({ code: 'invalid_input' });
    await session.sendToolResult('c1', 'wet');
    expect(far.violations).toEqual([]);
  });
});

describe('interruptions', () => {
  function* long(turn: UserTurn): Reply {
    if (turn.type === 'text' && turn.text === 'stop') {
      yield say('Stopped.');
      return;
    }
    yield think('a plan');
    yield say('A long story begins.');
    yield pause(10_000);
    yield say('It never ends.');
  }

  it('by words: the model is cut, its owed turnComplete is swallowed, the next turn is its own', async () => {
    const { session, reading, far } = await live({ far: { model: long } });
    await session.send(text('tell'));
    await reading.until('text', 2);
    await session.send(text('stop'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['“A long story begins.”', 'interrupted', '“Stopped.”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });

  it('by speech: at its beginning', async () => {
    const { session, reading, far } = await live({ far: { model: long } });
    await session.send(text('tell'));
    await reading.until('text', 2);
    const data = Buffer.alloc(640, 0x40).toString('base64');
    await session.send({ type: 'audio', data, mediaType: 'audio/pcm;rate=16000' });
    await reading.until('interrupted');
    expect(story(reading.events)).toEqual(['“A long story begins.”', 'interrupted']);
    expect(far.violations).toEqual([]);
  });

  it('while it plays: interrupted, and not complete', async () => {
    const { session, reading, peer } = await live({ far: { playbackMs: 5000 } });
    await session.send(text('hi'));
    await reading.until('text', 2);
    peer.interrupt();
    await session.send(text('go on'));
    await reading.until('text', 4);
    expect(peer.sent).toContainEqual({ serverContent: { generationComplete: true } });
    expect(story(reading.events)).toEqual(['“You said: hi”', 'interrupted', '“You said: go on”']);
  });

  it('without any reason (a phantom): told, and the next turn is whole', async () => {
    const { session, reading, peer } = await live();
    peer.send({ serverContent: { interrupted: true } });
    await reading.until('interrupted');
    await session.send(text('hi'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['interrupted', '“You said: hi”', 'turn_complete']);
  });

  it('by the host: told at once, and what the service still says of the turn is dropped, whether it obeys or not', async () => {
    for (const model of ['gemini-2.5-flash-live', 'gemini-3.1-flash-live']) {
      const clock = new VirtualClock();
      const { session, reading, peer, far } = await live({ far: { model: long, clock }, connect: { model } });
      await session.send(text('tell'));
      await reading.until('text', 2);
      await session.interrupt?.({});
      await reading.until('interrupted');
      // The newer model takes no such message: it speaks on, unheard.
      if (model.includes('3.1')) await clock.advance(10_000, quiet);
      else expect(await peer.message('clientContent', 2)).toEqual({ turnComplete: false });
      await session.send(text('stop'));
      await reading.until('turn_complete');
      expect(story(reading.events)).toEqual(['“A long story begins.”', 'interrupted', '“Stopped.”', 'turn_complete']);
      expect(far.violations).toEqual([]);
    }
  });

  it('by the host, when nothing is being said: acknowledged each time all the same', async () => {
    const { session, reading, far } = await live();
    await session.interrupt?.({});
    await session.interrupt?.({ playedMs: 10 });
    await session.send(text('hi'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['interrupted', 'interrupted', '“You said: hi”', 'turn_complete']);
    expect(far.violations).toEqual([]);
  });
});

describe('calls that are taken back', () => {
  it.each(['before', 'after'] as const)(
    'by id, %s the interruption: a later result is refused and not sent',
    async (withdrawal) => {
      const { session, reading, peer, far } = await live({ far: { model: looks, withdrawal }, connect: { tools } });
      await session.send(text('rain'));
      await reading.until('tool_call');
      peer.interrupt();
      await reading.until('tool_call_cancelled');
      await reading.until('interrupted');
      await expect(session.sendToolResult('c1', 'wet')).rejects.toMatchObject({ code: 'result_refused' });
      await session.abandonToolCall?.('c1');
      await session.send(text('next'));
      await peer.message('clientContent', 2);
      expect(peer.ofKind('toolResponse')).toEqual([]);
      const told = ['withdrawn c1', 'interrupted'];
      expect(story(reading.events).slice(0, 3)).toEqual([
        'c1 look{"for":"rain"}',
        ...(withdrawal === 'before' ? told : told.reverse()),
      ]);
      expect(far.violations).toEqual([]);
    },
  );

  it('while the result is on its way: it rejects', async () => {
    const { session, reading, peer } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    // The answer crosses the withdrawal on the wire.
    peer.connection.onMessage(() => {});
    const sent = session.sendToolResult('c1', 'wet');
    peer.send({ toolCallCancellation: { ids: ['c1'] } });
    await expect(sent).rejects.toMatchObject({ code: 'result_refused', callId: 'c1' });
  });

  it('some of several', async () => {
    function* both(): Reply {
      yield call({ name: 'look', id: 'c1' }, { name: 'book', id: 'c2' });
    }
    const { session, reading, peer, clock, far } = await live({ far: { model: both }, connect: { tools } });
    await session.send(text('go'));
    await reading.until('tool_call', 2);
    peer.withdraw('c1');
    expect(await reading.until('tool_call_cancelled')).toEqual({ type: 'tool_call_cancelled', ids: ['c1'] });
    await expect(session.sendToolResult('c1', 'x')).rejects.toMatchObject({ code: 'result_refused' });
    const sent = session.sendToolResult('c2', 'y');
    await peer.message('toolResponse');
    await clock.advance(500, quiet);
    await sent;
    expect(far.violations).toEqual([]);
  });

  it('abandoned ones get a stub, once, since the model would wait for ever', async () => {
    const { session, reading, peer, far } = await live({
      far: { model: looks, withdrawal: 'none' },
      connect: { tools },
    });
    await session.send(text('rain'));
    await reading.until('tool_call');
    await session.abandonToolCall?.('c1');
    await session.abandonToolCall?.('c1');
    await reading.until('turn_complete');
    expect(peer.ofKind('toolResponse')).toEqual([
      { functionResponses: [{ id: 'c1', name: 'look', response: { error: expect.stringContaining('abandoned') } }] },
    ]);
    await expect(session.sendToolResult('c1', 'wet')).rejects.toMatchObject({ code: 'result_refused' });
    expect(far.violations).toEqual([]);
  });

  it('a call of a turn that was cut before it came is not given, and gets a stub too', async () => {
    function* late(): Reply {
      yield say('I will look.');
      yield pause(100);
      yield call({ name: 'look', id: 'c1' });
    }
    const clock = new VirtualClock();
    const { session, reading, peer, far } = await live({
      far: { model: late, clock },
      // A model that cannot be asked to stop.
      connect: { tools, model: 'gemini-3.1-flash-live' },
    });
    await session.send(text('go'));
    await reading.until('text', 2);
    await session.interrupt?.({});
    await clock.advance(100, quiet);
    await peer.message('toolResponse');
    await session.send(text('hi'));
    expect(story(reading.events)).toEqual(['“I will look.”', 'interrupted']);
    expect(peer.ofKind('toolResponse')[0].functionResponses[0].response).toHaveProperty('error');
    expect(far.violations).toEqual([]);
  });

  it('a call that the wire repeats is given once', async () => {
    const { session, reading, peer } = await live({ far: { model: looks }, connect: { tools } });
    await session.send(text('rain'));
    await reading.until('tool_call');
    peer.send({ toolCall: { functionCalls: [{ id: 'c1', name: 'look', args: {} }] } });
    await session.sendToolResult('c1', 'wet');
    await reading.until('turn_complete');
    expect(reading.events.filter(({ type }) => type === 'tool_call')).toHaveLength(1);
  });
});

describe('turns that fail', () => {
  it('are an error, and complete', async () => {
    const { session, reading, peer } = await live();
    peer.send({ serverContent: { turnComplete: true, turnCompleteReason: 'RESPONSE_REJECTED' } });
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['error: turn failed: RESPONSE_REJECTED', 'turn_complete']);
    await session.send(text('hi'));
    await reading.until('turn_complete', 2);
  });

  it('frames that cannot be read are told to whoever asks, and the session goes on', async () => {
    const found: { code: string; detail: string }[] = [];
    const { session, reading, peer } = await live({
      driver: {
        onDiagnostic: (one) => {
          found.push(one);
          throw new TypeError('of no consequence');
        },
      },
    });
    peer.connection.send('{"serverContent":');
    peer.send({ serverContent: 7 });
    peer.send({ somethingNew: {} });
    await session.send(text('hi'));
    await reading.until('turn_complete');
    expect(story(reading.events)).toEqual(['“You said: hi”', 'turn_complete']);
    expect(found.map(({ code }) => code)).toEqual(['frame_unreadable', 'malformed_frame', 'unknown_frame']);
    expect(found[0]?.detail).toMatch(/^17 characters/);
  });
});
