import { describe, expect, it } from 'vitest';
import { type GeminiLiveMappingOptions, geminiLiveMapping } from '../../src/providers/gemini-live/index.js';
import {
  audio,
  cancellation,
  content,
  generationComplete,
  interrupted,
  parts,
  text,
  thought,
  toolCall,
  transcript,
  turnComplete,
  usage,
} from './gemini-frames.js';
import { feed, words } from './steps.js';

const play = (...frames: unknown[]) => feed(geminiLiveMapping(), frames);
const said = (...frames: unknown[]) => words(play(...frames).events);
const look = (id: string) => `call:${id}:look:{"a":1}`;

/** As `said`, and at the end of the input what is held is released. */
function saidToTheEnd(frames: readonly unknown[], options: GeminiLiveMappingOptions = {}): string[] {
  const mapping = geminiLiveMapping(options);
  const { events } = feed(mapping, frames);
  return words([...events, ...mapping.release().events]);
}

describe('output', () => {
  it.each([
    ['audio', { inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } }, 'audio/pcm;rate=24000'],
    ['audio of Vertex', { inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }, 'audio/pcm'],
    ['audio without a type', { inlineData: { data: 'AAAA' } }, 'audio/pcm;rate=24000'],
    ['snake_case', { inline_data: { mime_type: 'audio/pcm', data: 'AAAA' } }, 'audio/pcm'],
  ])('%s', (_, part, mediaType) => {
    expect(play(parts(part)).events).toEqual([{ type: 'audio', data: 'AAAA', mediaType }]);
  });

  it.each([
    ['a thought', { text: 'hm', thought: true }],
    ['code', { executableCode: { code: 'print(1)' } }],
    ['the result of code', { codeExecutionResult: { output: '1' } }],
    ['a picture', { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    ['empty text', { text: '' }],
    ['an empty part', {}],
  ])('is not made of %s', (_, part) => {
    expect(play(parts(part))).toEqual({ events: [], facts: [], holds: [] });
  });

  it('is the text of parts and the transcript of speech, in order', () => {
    expect(said(text('a'), transcript('b'), parts({ text: 'c' }, { inlineData: { data: 'AAAA' } }))).toEqual([
      'text:a',
      'text:b',
      'text:c',
      'audio:AAAA',
    ]);
  });
});

describe('one frame with several messages', () => {
  it('is taken in the order content, transcripts, calls, withdrawals, interrupted, usage, turnComplete', () => {
    const frame = {
      goAway: { timeLeft: '10s' },
      usageMetadata: { totalTokenCount: 3 },
      toolCallCancellation: { ids: ['t0'] },
      toolCall: toolCall('t1').toolCall,
      serverContent: {
        turnComplete: true,
        interrupted: true,
        inputTranscription: { text: 'u' },
        outputTranscription: { text: 'b' },
        modelTurn: { parts: [{ text: 'a' }] },
      },
    };
    expect(said(frame)).toEqual([
      'text:a',
      'text:b',
      'heard:u:piece',
      look('t1'),
      'withdrawn:t0',
      'interrupted',
      'usage',
      'expiring:10000',
    ]);
  });

  it('in snake_case means the same', () => {
    const frame = {
      server_content: {
        model_turn: { parts: [{ text: 'a' }] },
        output_transcription: { text: 'b' },
        turn_complete: true,
      },
      usage_metadata: { prompt_token_count: 1, response_token_count: 2, total_token_count: 3 },
    };
    expect(play(frame).events).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'usage', inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      { type: 'turn_complete' },
    ]);
    expect(said({ tool_call: { function_calls: [{ id: 't1', name: 'look', args: { a_b: 1 } }] } })).toEqual([
      'call:t1:look:{"a_b":1}',
    ]);
    expect(said({ tool_call_cancellation: { ids: ['t1'] } }, { go_away: { time_left: '1s' } })).toEqual([
      'withdrawn:t1',
      'expiring:1000',
    ]);
  });
});

describe('where a turn ends', () => {
  it.each([
    ['normally', [text('a'), generationComplete, turnComplete], ['text:a', 'turn_complete']],
    ['not at generationComplete', [text('a'), generationComplete], ['text:a']],
    ['cut while it generates (G1)', [text('a'), interrupted, turnComplete], ['text:a', 'interrupted']],
    ['cut while it plays (G1)', [text('a'), generationComplete, interrupted, turnComplete], ['text:a', 'interrupted']],
    [
      'cut, with stragglers before the fence (G1)',
      [text('a'), interrupted, text('b'), audio('AAAA'), transcript('c'), toolCall('t1'), thought('d'), turnComplete],
      ['text:a', 'interrupted'],
    ],
    [
      'cut, and the next one completes',
      [text('a'), interrupted, turnComplete, text('b'), turnComplete],
      ['text:a', 'interrupted', 'text:b', 'turn_complete'],
    ],
    ['cut while it thinks (G1)', [thought('a'), interrupted, text('b'), turnComplete], ['interrupted']],
    [
      'cut, told once (G2)',
      [text('a'), interrupted, interrupted, turnComplete, interrupted],
      ['text:a', 'interrupted'],
    ],
    [
      'cut after its turnComplete (G2)',
      [text('a'), turnComplete, interrupted, text('b'), turnComplete],
      ['text:a', 'turn_complete', 'interrupted', 'text:b', 'turn_complete'],
    ],
    [
      'after a phantom interruption (G2)',
      [interrupted, text('a'), turnComplete],
      ['interrupted', 'text:a', 'turn_complete'],
    ],
    [
      'after a phantom with a turnComplete of its own (G4)',
      [interrupted, turnComplete, text('a'), turnComplete],
      ['interrupted', 'text:a', 'turn_complete'],
    ],
    [
      'after a trailing transcript, which makes no turnComplete owed',
      [text('a'), turnComplete, transcript('b'), interrupted, text('c'), turnComplete],
      ['text:a', 'turn_complete', 'text:b', 'interrupted', 'text:c', 'turn_complete'],
    ],
    [
      'cut after generationComplete, with nothing but a transcript so far (G1)',
      [transcript('a'), generationComplete, interrupted, text('b'), turnComplete],
      ['text:a', 'interrupted'],
    ],
    [
      'cut, with a generationComplete before the fence (G1, G4)',
      [text('a'), interrupted, generationComplete, turnComplete, turnComplete],
      ['text:a', 'interrupted'],
    ],
    [
      'cut after a call that is of no account then (G3)',
      [toolCall('t1'), interrupted, turnComplete, thought('x'), turnComplete],
      [look('t1'), 'interrupted', 'turn_complete'],
    ],
    [
      'after a phantom, with the user heard before its turnComplete (G4)',
      [interrupted, content({ inputTranscription: { text: 'u' } }), turnComplete, text('a'), turnComplete],
      ['interrupted', 'heard:u:piece', 'text:a', 'turn_complete'],
    ],
    [
      'with nothing but a transcript',
      [text('a'), turnComplete, transcript('b'), turnComplete],
      ['text:a', 'turn_complete', 'text:b', 'turn_complete'],
    ],
    ['told once (G4)', [text('a'), turnComplete, turnComplete, usage], ['text:a', 'turn_complete', 'usage']],
    ['with nothing said, at the start', [turnComplete], ['turn_complete']],
    [
      'with nothing said, after something was heard',
      [text('a'), turnComplete, content({ inputTranscription: { text: 'u' } }), turnComplete],
      ['text:a', 'turn_complete', 'heard:u:piece', 'turn_complete'],
    ],
    [
      'with nothing said, for a stated reason',
      [text('a'), turnComplete, content({ turnComplete: true, turnCompleteReason: 'NEED_MORE_INPUT' })],
      ['text:a', 'turn_complete', 'turn_complete'],
    ],
    ['with noise', [content({}), text('a'), content({}), turnComplete, content({})], ['text:a', 'turn_complete']],
  ])('%s', (_, frames, expected) => {
    expect(said(...frames)).toEqual(expected);
  });

  it.each([
    'MALFORMED_FUNCTION_CALL',
    'RESPONSE_REJECTED',
    'PROHIBITED_INPUT_CONTENT',
    'IMAGE_PROHIBITED_INPUT_CONTENT',
    'GENERATED_AUDIO_SAFETY',
  ])('with an error first: %s', (turnCompleteReason) => {
    const failed = content({ turnComplete: true, turnCompleteReason });
    expect(said(text('a'), failed)).toEqual(['text:a', `error:turn failed: ${turnCompleteReason}`, 'turn_complete']);
    // No answer comes after a failure, so there is nothing to hold it for.
    expect(said(toolCall('t1'), failed)).toEqual([
      look('t1'),
      `error:turn failed: ${turnCompleteReason}`,
      'turn_complete',
    ]);
    expect(said(text('a'), interrupted, failed)).toEqual(['text:a', 'interrupted']);
  });
});

describe('a turnComplete right after a blocking call (G3)', () => {
  it('is held for two seconds', () => {
    const { events, holds } = play(toolCall('t1'), generationComplete, turnComplete);
    expect(words(events)).toEqual([look('t1')]);
    expect(holds).toEqual([{ id: 1, ms: 2000 }]);
  });

  it.each([
    ['the answer comes as a second turn', [text('b'), turnComplete], ['text:b', 'turn_complete']],
    ['the answer begins with a transcript', [transcript('b'), turnComplete], ['text:b', 'turn_complete']],
    ['the answer begins with a thought', [thought('x'), text('b'), turnComplete], ['text:b', 'turn_complete']],
    ['another call comes', [toolCall('t2'), text('b'), turnComplete], [look('t2'), 'text:b', 'turn_complete']],
    ['another call comes and a half turn after it', [toolCall('t2'), turnComplete], [look('t2'), 'turn_complete']],
    ['the user cuts in', [interrupted, text('b'), turnComplete], ['interrupted', 'text:b', 'turn_complete']],
    ['the user cuts in and nothing follows', [interrupted], ['interrupted']],
    [
      'generationComplete trails and the user cuts in',
      [generationComplete, interrupted, text('b'), turnComplete],
      ['interrupted', 'text:b', 'turn_complete'],
    ],
    ['it is said again', [turnComplete], ['turn_complete']],
    ['generationComplete trails', [generationComplete, turnComplete], ['turn_complete']],
    ['the input ends', [], ['turn_complete']],
    ['nothing but noise follows', [usage, content({}), { sessionResumptionUpdate: {} }], ['usage', 'turn_complete']],
  ])('and when %s', (_, frames, expected) => {
    expect(saidToTheEnd([toolCall('t1'), generationComplete, turnComplete, ...frames])).toEqual([
      look('t1'),
      ...expected,
    ]);
  });

  it.each([
    ['text', text('b')],
    ['a transcript', transcript('b')],
    ['a thought', thought('b')],
    ['another call', toolCall('t2')],
    ['an interruption', interrupted],
  ])('is let go by %s, so that nothing is given when its time has passed', (_, frame) => {
    const mapping = geminiLiveMapping();
    const hold = feed(mapping, [toolCall('t1'), turnComplete, frame]).holds[0]?.id;
    expect(mapping.release(hold)).toEqual({ events: [], facts: [] });
  });

  it('is held once: a second one gives it', () => {
    const { events, holds } = play(toolCall('t1'), turnComplete, turnComplete);
    expect(words(events)).toEqual([look('t1'), 'turn_complete']);
    expect(holds).toHaveLength(1);
  });

  it('is given when its own time has passed, not when that of an earlier hold has', () => {
    const mapping = geminiLiveMapping();
    const first = feed(mapping, [toolCall('t1'), turnComplete]).holds[0]?.id;
    const second = feed(mapping, [toolCall('t2'), turnComplete]).holds[0]?.id;
    expect(second).not.toBe(first);
    expect(mapping.release(first).events).toEqual([]);
    expect(mapping.release(second).events).toEqual([{ type: 'turn_complete' }]);
    expect(mapping.release(second).events).toEqual([]);
    // What comes now is a turn of its own.
    expect(words(feed(mapping, [text('b'), turnComplete]).events)).toEqual(['text:b', 'turn_complete']);
  });

  it.each([
    ['content came since the call', [toolCall('t1'), text('a'), turnComplete]],
    ['every call was withdrawn', [toolCall('t1', 't2'), cancellation('t1', 't2'), turnComplete]],
  ])('is not held where %s', (_, frames) => {
    const { events, holds } = play(...frames);
    expect(holds).toEqual([]);
    expect(events.at(-1)).toEqual({ type: 'turn_complete' });
  });

  it('is held where one of two calls was withdrawn', () => {
    expect(play(toolCall('t1', 't2'), cancellation('t1'), turnComplete).holds).toHaveLength(1);
  });

  it('is not held for a tool that does not block', () => {
    expect(saidToTheEnd([toolCall('t1'), turnComplete, text('b'), turnComplete], { nonBlocking: ['look'] })).toEqual([
      look('t1'),
      'turn_complete',
      'text:b',
      'turn_complete',
    ]);
  });
});

describe('tool calls', () => {
  const called = (...functionCalls: unknown[]) => play({ toolCall: { functionCalls } });

  it.each([
    [{ q: 'x', list: [1] }, '{"q":"x","list":[1]}'],
    [{}, '{}'],
    [undefined, '{}'],
    [null, '{}'],
  ])('args %j are the text %j', (args, text) => {
    expect(called({ id: 't1', name: 'look', args }).events).toEqual([
      { type: 'tool_call', id: 't1', name: 'look', arguments: text },
    ]);
  });

  it('come one event each', () => {
    expect(said(toolCall('t1', 't2'))).toEqual([look('t1'), look('t2')]);
  });

  it('without an id get one that the wire did not give', () => {
    const { events, facts } = called({ name: 'look' }, { name: 'look', id: '' });
    const ids = events.map((event) => (event.type === 'tool_call' ? event.id : ''));
    expect(new Set(ids).size).toBe(2);
    expect(facts).toEqual(ids.map((callId) => ({ type: 'id_synthesised', callId })));
  });

  it('are given once each', () => {
    expect(said(toolCall('t1', 't1'), toolCall('t1'))).toEqual([look('t1')]);
  });

  it('of a cut turn are dropped, and the driver is told', () => {
    expect(play(text('a'), interrupted, toolCall('t1')).facts).toEqual([
      { type: 'call_dropped', id: 't1', name: 'look' },
    ]);
  });

  it('after the turn that they belong to begin one', () => {
    expect(said(text('a'), turnComplete, toolCall('t1'), text('b'), turnComplete)).toEqual([
      'text:a',
      'turn_complete',
      look('t1'),
      'text:b',
      'turn_complete',
    ]);
  });

  it('without a name are none, and the others of the frame stay', () => {
    const { events, facts } = called({ id: 't1' }, 'none', { id: 't2', name: 'look', args: { a: 1 } });
    expect(words(events)).toEqual([look('t2')]);
    expect(facts).toMatchObject([{ code: 'malformed_frame' }, { code: 'malformed_frame' }]);
  });

  it('are withdrawn by id', () => {
    expect(play(cancellation('t1', 't2')).events).toEqual([{ type: 'tool_call_cancelled', ids: ['t1', 't2'] }]);
    expect(play({ toolCallCancellation: { ids: ['', 7, 't1'] } }).events).toEqual([
      { type: 'tool_call_cancelled', ids: ['t1'] },
    ]);
    expect(play({ toolCallCancellation: {} })).toMatchObject({ events: [], facts: [{ code: 'malformed_frame' }] });
  });

  it('are not acknowledged on this wire', () => {
    expect(geminiLiveMapping().acknowledges).toBe(false);
  });
});

describe('beside the conversation', () => {
  it.each([
    ['"10s"', '10s', 10_000],
    ['"9.5s"', '9.5s', 9500],
    ['"0.000340s"', '0.000340s', 0],
    ['"-1s"', '-1s', 0],
    ['seconds and nanos', { seconds: '10', nanos: 500_000_000 }, 10_500],
    ['longer than a timer', '99999999999s', 2_147_483_647],
  ])('goAway in %s', (_, timeLeft, inMs) => {
    expect(play({ goAway: { timeLeft } })).toMatchObject({ events: [{ type: 'expiring', inMs }], facts: [] });
  });

  it.each(['10', 's', 10, null, undefined, {}.toString])(
    'goAway without a Duration (%j) may be any moment',
    (timeLeft) => {
      expect(play({ goAway: { timeLeft } })).toMatchObject({
        events: [{ type: 'expiring', inMs: 0 }],
        facts: [{ code: 'malformed_frame' }],
      });
    },
  );

  it.each([
    ['is kept', { newHandle: 'h', resumable: true }, { type: 'resumption', handle: 'h' }],
    ['is forgotten', { resumable: false }, { type: 'resumption' }],
    ['is forgotten where nothing says that it can be resumed', { newHandle: 'h' }, { type: 'resumption' }],
    ['is forgotten where it is empty', { newHandle: '', resumable: true }, { type: 'resumption' }],
  ])('a resumption handle %s', (_, sessionResumptionUpdate, fact) => {
    expect(play({ sessionResumptionUpdate }).facts).toEqual([fact]);
  });

  it('usage, in the names of either service', () => {
    const counts = { promptTokenCount: 1, totalTokenCount: 3, cachedContentTokenCount: 1 };
    const event = { type: 'usage', inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedTokens: 1 };
    expect(play({ usageMetadata: { ...counts, responseTokenCount: 2 } }).events).toEqual([event]);
    expect(play({ usageMetadata: { ...counts, candidatesTokenCount: 2 } }).events).toEqual([event]);
    expect(play({ usageMetadata: {} }).events).toEqual([]);
  });

  it('what the user said', () => {
    const frames = [
      content({ inputTranscription: { text: ' Hello' } }),
      content({ interimInputTranscription: { text: 'th' } }),
      content({ inputTranscription: { text: ' there', finished: true } }),
      content({ inputTranscription: {} }),
      content({ inputTranscription: { text: ' Bye' } }),
      content({ inputTranscription: { finished: true } }),
      content({ inputTranscription: { finished: true } }),
      content({ inputTranscription: { text: ' All in one', finished: true } }),
    ];
    // a final text is the whole, and a guess is none of it
    expect(said(...frames)).toEqual([
      'heard: Hello:piece',
      'heard: Hello there:final',
      'heard: Bye:piece',
      'heard: Bye:final',
      'heard: All in one:final',
    ]);
  });

  it('what the user said in a turn that never said it was finished is no part of what is said in the next', () => {
    const heard = (text: string, finished?: boolean) => content({ inputTranscription: { text, finished } });
    expect(said(heard(' One'), text('a'), turnComplete, heard(' two'), heard(' three', true))).toEqual([
      'heard: One:piece',
      'text:a',
      'turn_complete',
      'heard: two:piece',
      'heard: two three:final',
    ]);
  });

  it('ready', () => {
    expect(play({ setupComplete: {} }).facts).toEqual([{ type: 'ready' }]);
    expect(play({ setup_complete: { sessionId: 's' } }).facts).toEqual([{ type: 'ready' }]);
  });

  it('an error', () => {
    expect(said({ error: { message: 'quota' } }, { error: 'odd' }, { error: {} })).toEqual([
      'error:quota',
      'error:odd',
      'error:an error without a message',
    ]);
  });
});

describe('what is no message', () => {
  it.each([null, undefined, 7, 'text', [], { serverContent: 7 }, { toolCall: [] }, { toolCall: {} }, parts(7)])(
    'is ignored with a note: %j',
    (frame) => {
      expect(play(frame)).toMatchObject({ events: [], facts: [{ type: 'diagnostic', code: 'malformed_frame' }] });
    },
  );

  it('unknown ones are noted, known ones without meaning are not', () => {
    expect(play({ newThing: {} }).facts).toEqual([{ type: 'diagnostic', code: 'unknown_frame', detail: 'newThing' }]);
    expect(play({ voiceActivity: {} }, content({}), { serverContent: null })).toEqual({
      events: [],
      facts: [],
      holds: [],
    });
  });

  // how deep JSON.stringify goes is the engine's affair: Node 26 has no bound
  it('arguments nested beyond reason are a call or a malformed frame, never a throw', () => {
    let args: object = {};
    for (let depth = 0; depth < 200_000; depth++) args = { args };
    const { events, facts } = play({ toolCall: { functionCalls: [{ id: 't1', name: 'look', args }] } });
    if (facts.length === 0) expect(events).toMatchObject([{ type: 'tool_call', id: 't1' }]);
    else {
      expect(facts).toMatchObject([{ code: 'malformed_frame' }]);
      expect(events).toEqual([]);
    }
  });
});

describe('what the host interrupts', () => {
  it('is told at once, drops what still comes of the turn, and swallows its turnComplete (G1)', () => {
    const mapping = geminiLiveMapping();
    feed(mapping, [text('a')]);
    expect(mapping.interrupt()).toEqual({ events: [{ type: 'interrupted' }], facts: [] });
    const rest = feed(mapping, [text('b'), interrupted, audio('AAAA'), turnComplete, text('c'), turnComplete]);
    expect(words(rest.events)).toEqual(['text:c', 'turn_complete']);
  });

  it('is told each time, and owes nothing where no turn is open', () => {
    const mapping = geminiLiveMapping();
    expect(mapping.interrupt().events).toHaveLength(1);
    expect(mapping.interrupt().events).toHaveLength(1);
    expect(words(feed(mapping, [interrupted, text('a'), turnComplete]).events)).toEqual(['text:a', 'turn_complete']);
  });

  it('takes the place of a turn_complete that is held', () => {
    const mapping = geminiLiveMapping();
    feed(mapping, [toolCall('t1'), generationComplete, turnComplete]);
    mapping.interrupt();
    expect(mapping.release().events).toEqual([]);
  });
});

describe('numbers and bytes that are none', () => {
  it.each(['AAA', 'AA=A', 'A A=', '*AAA', 7, {}])('audio of %j is no output', (data) => {
    const { events, facts } = play(parts({ inlineData: { mimeType: 'audio/pcm', data } }));
    expect(events).toEqual([]);
    expect(facts).toMatchObject([{ type: 'diagnostic', code: 'malformed_frame' }]);
  });

  it.each([1.5, -1, Number.NaN, 2 ** 60, '7'])('a count of %s is left out', (count) => {
    expect(play({ usageMetadata: { promptTokenCount: count, totalTokenCount: 3 } }).events).toEqual([
      { type: 'usage', totalTokens: 3 },
    ]);
  });

  it.each([
    [{ seconds: '9', nanos: 500_000_000 }, 9500],
    [{ seconds: true }, 0],
    [{ seconds: [] }, 0],
    [{ seconds: 1.5 }, 0],
    ['1e3s', 0],
    ['-5s', 0],
  ])('a time left of %j', (timeLeft, inMs) => {
    expect(play({ goAway: { timeLeft } }).events).toEqual([{ type: 'expiring', inMs }]);
  });
});
