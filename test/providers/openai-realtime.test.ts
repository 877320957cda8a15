import { describe, expect, it } from 'vitest';
import { NotSupportedError } from '../../src/contract/errors.js';
import { type OpenAiRealtimeDialect, openaiRealtimeMapping } from '../../src/providers/openai-realtime/index.js';
import {
  audio,
  call,
  callOutput,
  cancelled,
  created,
  done,
  errorFrame,
  heard,
  session,
  speechStarted,
  text,
} from './openai-frames.js';
import { feed, words } from './steps.js';

const play = (...frames: unknown[]) => feed(openaiRealtimeMapping(), frames);
const said = (...frames: unknown[]) => words(play(...frames).events);

describe('what ends a turn', () => {
  it.each([
    ['completed', done('r1'), ['turn_complete']],
    ['completed with a message', done('r1', { output: [{ type: 'message' }] }), ['turn_complete']],
    ['completed with a call', done('r1', { output: [callOutput('c1')] }), []],
    ['cancelled by the user', cancelled('r1'), ['interrupted']],
    ['cancelled by us', cancelled('r1', 'client_cancelled'), ['interrupted']],
    [
      'incomplete, out of tokens',
      done('r1', { status: 'incomplete', status_details: { type: 'incomplete', reason: 'max_output_tokens' } }),
      ['error:response incomplete: max_output_tokens', 'turn_complete'],
    ],
    [
      'incomplete, filtered',
      done('r1', { status: 'incomplete', status_details: { reason: 'content_filter' } }),
      ['error:response incomplete: content_filter', 'turn_complete'],
    ],
    [
      'a cut that is reported as incomplete',
      done('r1', { status: 'incomplete', status_details: { reason: 'turn_detected' } }),
      ['interrupted'],
    ],
    [
      'failed, with a code',
      done('r1', {
        status: 'failed',
        status_details: { type: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
      }),
      ['error:response failed: rate_limit_exceeded: Slow down.', 'turn_complete'],
    ],
    ['failed, with nothing said', done('r1', { status: 'failed' }), ['error:response failed', 'turn_complete']],
    ['details that are text', done('r1', { status_details: 'unimplemented' }), ['turn_complete']],
    ['no status', done('r1', { status: undefined }), ['turn_complete']],
    ['no output list', done('r1', { output: undefined }), ['turn_complete']],
  ])('%s', (_, frame, expected) => {
    expect(said(created('r1'), text('r1', 'a'), frame)).toEqual(['text:a', ...expected]);
  });

  it('a call whose response.done lists nothing is a link all the same', () => {
    expect(said(created('r1'), call('r1', 'c1'), done('r1'))).toEqual(['call:c1:look:{"a":1}']);
  });

  it('a chain of responses is one turn', () => {
    const frames = [
      created('r1'),
      text('r1', 'let me look'),
      call('r1', 'c1'),
      call('r1', 'c2'),
      done('r1', { output: [{ type: 'message' }, callOutput('c1'), callOutput('c2')] }),
      created('r2'),
      text('r2', 'found'),
      done('r2'),
    ];
    expect(said(...frames)).toEqual([
      'text:let me look',
      'call:c1:look:{"a":1}',
      'call:c2:look:{"a":1}',
      'text:found',
      'turn_complete',
    ]);
  });

  it('a response.done that is repeated, or comes late again, ends nothing twice', () => {
    expect(said(created('r1'), done('r1'), done('r1'), created('r2'), done('r1'), done('r2'))).toEqual([
      'turn_complete',
      'turn_complete',
    ]);
  });

  it('a response that was never announced ends its turn', () => {
    expect(said(cancelled('r1'))).toEqual(['interrupted']);
    expect(said(text('r1', 'a'), done('r1'))).toEqual(['text:a', 'turn_complete']);
  });

  it('a response.done without an id belongs to the response that began last', () => {
    expect(said(created('r1'), done('r1', { id: undefined }))).toEqual(['turn_complete']);
    expect(play(done('r1', { id: undefined })).facts).toMatchObject([{ code: 'malformed_frame' }]);
  });

  it('output without any id is of one turn after the other', () => {
    const bare = (delta: string) => ({ type: 'response.output_text.delta', delta });
    expect(said(bare('a'), bare('b'), { type: 'response.done' }, bare('c'), { type: 'response.done' })).toEqual([
      'text:a',
      'text:b',
      'turn_complete',
      'text:c',
      'turn_complete',
    ]);
  });

  it('of responses that overlap, the later one makes a turn of its own, if anything is said in it', () => {
    expect(said(created('r1'), created('r2'), done('r1'), text('r2', 'a'), done('r2'))).toEqual([
      'turn_complete',
      'text:a',
      'turn_complete',
    ]);
    expect(said(created('r1'), created('r2'), done('r1'), done('r2'))).toEqual(['turn_complete']);
    expect(said(created('r1'), created('r2'), done('r1'), speechStarted(), text('r2', 'a'), cancelled('r2'))).toEqual([
      'turn_complete',
    ]);
    expect(said(created('r1'), speechStarted(), created('r2'), cancelled('r1'), text('r2', 'a'), done('r2'))).toEqual([
      'interrupted',
      'text:a',
      'turn_complete',
    ]);
  });

  it('nothing of a turn comes after its end', () => {
    expect(said(created('r1'), done('r1'), text('r1', 'late'), audio('r1', 'AA'), call('r1', 'c1'))).toEqual([
      'turn_complete',
    ]);
  });

  it('tells the driver of every response that opens and closes', () => {
    const { facts } = play(created('r1', { metadata: { key: 'ours' } }), done('r1'), text('r2', 'a'), cancelled('r3'));
    expect(facts).toEqual([
      { type: 'response_opened', id: 'r1', metadata: { key: 'ours' } },
      { type: 'response_closed', id: 'r1', status: 'completed' },
      { type: 'response_opened', id: 'r2' },
      { type: 'response_opened', id: 'r3' },
      { type: 'response_closed', id: 'r3', status: 'cancelled' },
    ]);
  });
});

describe('barge-in', () => {
  it('interrupts at speech_started, and what still comes of the cut response is dropped', () => {
    const frames = [
      created('r1'),
      text('r1', 'a'),
      speechStarted(),
      text('r1', 'b'),
      audio('r1', 'AA'),
      cancelled('r1'),
      created('r2'),
      text('r2', 'c'),
      done('r2'),
    ];
    expect(said(...frames)).toEqual(['text:a', 'interrupted', 'text:c', 'turn_complete']);
  });

  it.each(['completed', 'incomplete', 'failed', 'cancelled'])(
    'swallows the terminal of the cut response: %s',
    (status) => {
      expect(said(created('r1'), speechStarted(), done('r1', { status }))).toEqual(['interrupted']);
    },
  );

  it('is told once, however often speech starts', () => {
    expect(said(created('r1'), speechStarted(), speechStarted(), cancelled('r1'), speechStarted())).toEqual([
      'interrupted',
    ]);
  });

  it('is none with no response active, before the first and between links', () => {
    expect(said(speechStarted())).toEqual([]);
    const link = [created('r1'), call('r1', 'c1'), done('r1')];
    expect(said(...link, speechStarted(), created('r2'), done('r2'))).toEqual([
      'call:c1:look:{"a":1}',
      'turn_complete',
    ]);
    expect(play(speechStarted()).facts).toEqual([{ type: 'speech_started' }]);
  });

  it.each([
    { audio: { input: { turn_detection: { type: 'server_vad', interrupt_response: false } } } },
    { turn_detection: { type: 'server_vad', interrupt_response: false } },
  ])('is none where the service does not cut by itself: %j', (config) => {
    expect(
      said(session('session.updated', config), created('r1'), speechStarted(), text('r1', 'a'), done('r1')),
    ).toEqual(['text:a', 'turn_complete']);
  });

  it('a call of a cut response is dropped, and the driver is told; one that was given before stays given', () => {
    const { events, facts } = play(created('r1'), call('r1', 'c1'), speechStarted(), call('r1', 'c2'), cancelled('r1'));
    expect(words(events)).toEqual(['call:c1:look:{"a":1}', 'interrupted']);
    expect(facts).toContainEqual({ type: 'call_dropped', id: 'c2', name: 'look' });
  });

  it('leaves a response outside the conversation alone', () => {
    expect(said(created('r1', { conversation_id: null }), speechStarted())).toEqual([]);
  });
});

describe('responses outside the conversation', () => {
  it('have no part in any turn, but their tokens count', () => {
    const frames = [
      created('r1', { conversation_id: null }),
      text('r1', 'a'),
      call('r1', 'c1'),
      done('r1', { usage: { total_tokens: 7 } }),
    ];
    expect(play(...frames).events).toEqual([{ type: 'usage', totalTokens: 7 }]);
  });

  it('are not known by a null where a dialect has no such field', () => {
    const frames = [created('r1', { conversation_id: null }), text('r1', 'a'), done('r1')];
    expect(words(feed(openaiRealtimeMapping({ dialect: 'xai' }), frames).events)).toEqual(['text:a', 'turn_complete']);
  });
});

describe('tool calls', () => {
  it.each([
    ['', '{}'],
    [' \n', '{}'],
    [undefined, '{}'],
    [null, '{}'],
    ['{  \n "a": 1 \n} \n', '{  \n "a": 1 \n} \n'],
    ['{"cut', '{"cut'],
    [{ a: 1 }, '{"a":1}'],
  ])('arguments %j are passed as %j', (given, passed) => {
    expect(play(created('r1'), call('r1', 'c1', { arguments: given })).events).toEqual([
      { type: 'tool_call', id: 'c1', name: 'look', arguments: passed },
    ]);
  });

  it('are taken from the finished item only', () => {
    const early = { type: 'response.function_call_arguments.done', response_id: 'r1', call_id: 'c1', name: 'look' };
    const open = call('r1', 'c1', { status: 'in_progress' });
    const cut = call('r1', 'c1', { status: 'incomplete' });
    const unmarked = call('r1', 'c1', { status: undefined });
    const added = { ...open, type: 'response.output_item.added' };
    expect(said(created('r1'), { ...early, arguments: '{}' }, added, open, cut, unmarked)).toEqual([]);
  });

  it('are given once each, in whatever response the wire repeats them', () => {
    const { events, facts } = play(
      created('r1'),
      call('r1', 'c1'),
      call('r1', 'c1'),
      done('r1'),
      created('r2'),
      call('r2', 'c1'),
    );
    expect(words(events)).toEqual(['call:c1:look:{"a":1}']);
    expect(facts.filter((fact) => fact.type === 'diagnostic')).toEqual([
      { type: 'diagnostic', code: 'repeated_call', detail: 'c1' },
      { type: 'diagnostic', code: 'repeated_call', detail: 'c1' },
    ]);
  });

  it('that are repeated open no turn', () => {
    const frames = [created('r1'), created('r2'), call('r2', 'c1'), cancelled('r2'), call('r1', 'c1'), done('r1')];
    expect(said(...frames)).toEqual(['call:c1:look:{"a":1}', 'interrupted']);
  });

  it('without id or name are no calls', () => {
    for (const fields of [{ call_id: '' }, { call_id: undefined }, { name: undefined }, { name: 7 }]) {
      const { events, facts } = play(created('r1'), call('r1', 'c1', fields));
      expect(events).toEqual([]);
      expect(facts[1]).toMatchObject({ code: 'malformed_frame' });
    }
  });

  it.each(['conversation.item.added', 'conversation.item.done', 'conversation.item.created'])(
    'a result is acknowledged by %s',
    (type) => {
      const item = { id: 'item_9', type: 'function_call_output', call_id: 'c1', output: 'x' };
      expect(play({ type, item }).facts).toEqual([{ type: 'acknowledged', itemId: 'item_9', callId: 'c1' }]);
      const message = { id: 'item_8', type: 'message', role: 'user' };
      expect(play({ type, item: message }).facts).toEqual([{ type: 'acknowledged', itemId: 'item_8' }]);
    },
  );
});

describe('output', () => {
  it.each([
    ['response.output_text.delta', 'text'],
    ['response.text.delta', 'text'],
    ['response.output_audio_transcript.delta', 'text'],
    ['response.audio_transcript.delta', 'text'],
    ['response.output_audio.delta', 'audio'],
    ['response.audio.delta', 'audio'],
  ])('%s is %s', (type, kind) => {
    expect(play(text('r1', 'AB', type)).events).toEqual([
      kind === 'text' ? { type: 'text', text: 'AB' } : { type: 'audio', data: 'AB', mediaType: 'audio/pcm;rate=24000' },
    ]);
  });

  it.each([
    ['nothing said', {}, 'audio/pcm;rate=24000'],
    ['a rate', { audio: { output: { format: { type: 'audio/pcm', rate: 16000 } } } }, 'audio/pcm;rate=16000'],
    ['no rate', { audio: { output: { format: { type: 'audio/pcm' } } } }, 'audio/pcm;rate=24000'],
    ['G.711', { audio: { output: { format: { type: 'audio/pcmu' } } } }, 'audio/pcmu'],
    ['beta', { output_audio_format: 'pcm16' }, 'audio/pcm;rate=24000'],
    ['beta with a rate', { output_audio_format: 'pcm16-8000hz' }, 'audio/pcm;rate=8000'],
    ['beta µ-law', { output_audio_format: 'g711_ulaw' }, 'audio/pcmu'],
    ['beta A-law', { output_audio_format: 'g711_alaw' }, 'audio/pcma'],
    ['xAI', { output_audio_format: 'not specified' }, 'audio/pcm;rate=24000'],
  ])('audio has the media type of the session: %s', (_, config, mediaType) => {
    const { events } = play(session('session.created', config), session('session.updated', {}), audio('r1', 'AA'));
    expect(events).toEqual([{ type: 'audio', data: 'AA', mediaType }]);
  });

  it('a frame that the wire repeats is given once; one that only shares its event id is not a repeat', () => {
    const first = text('r1', 'a');
    expect(said(first, first, { ...first, delta: 'b' }, { ...first, item_id: 'x' })).toEqual([
      'text:a',
      'text:b',
      'text:a',
    ]);
  });
});

describe('usage', () => {
  const usage = {
    total_tokens: 85,
    input_tokens: 63,
    output_tokens: 22,
    input_token_details: { cached_tokens: 64 },
  };

  it('comes with the end of every response, links and cut ones too', () => {
    const counted = { type: 'usage', inputTokens: 63, outputTokens: 22, totalTokens: 85, cachedTokens: 64 };
    expect(play(created('r1'), call('r1', 'c1'), done('r1', { usage })).events[1]).toEqual(counted);
    expect(play(created('r1'), speechStarted(), cancelled('r1'), done('r1', { usage })).events).toHaveLength(1);
    expect(play(created('r1'), speechStarted(), done('r1', { usage })).events[1]).toEqual(counted);
  });

  it('stands beside the response at xAI', () => {
    const frame = { ...done('r1', { usage: {} }), usage: { input_tokens: 7 } };
    expect(play(created('r1'), frame).events[0]).toEqual({ type: 'usage', inputTokens: 7 });
  });

  it('is none where nothing is counted', () => {
    expect(said(done('r1', { usage: null }))).toEqual(['turn_complete']);
    expect(said(done('r1', { usage: { total_tokens: 'many', input_tokens: -1 } }))).toEqual(['turn_complete']);
  });
});

describe('what the user said', () => {
  it('comes in pieces and then whole', () => {
    const first = heard('delta', 'u1', 'Hel');
    expect(said(first, first, heard('delta', 'u1', 'lo'), heard('completed', 'u1', 'Hello.'))).toEqual([
      'heard:Hel:piece',
      'heard:lo:piece',
      'heard:Hello.:final',
    ]);
  });

  it('is cut into pieces where every frame has the whole (xAI)', () => {
    const frames = [
      heard('updated', 'u1', 'Hello'),
      heard('updated', 'u1', 'Hello there'),
      heard('updated', 'u1', 'Hello there'),
      heard('updated', 'u1', 'Hallo'),
      heard('completed', 'u1', 'Hello there'),
      heard('completed', 'u1', 'Hello there'),
      heard('completed', 'u1', 'Hello there, you.'),
      heard('updated', 'u2', 'Hello'),
    ];
    expect(said(...frames)).toEqual([
      'heard:Hello:piece',
      'heard: there:piece',
      'heard:Hello there:final',
      'heard:Hello there, you.:final',
      'heard:Hello:piece',
    ]);
  });

  it('is no sign of a turn', () => {
    expect(said(heard('delta', 'u1', 'a'), created('r1'), heard('completed', 'u1', 'a'), done('r1'))).toEqual([
      'heard:a:piece',
      'heard:a:final',
      'turn_complete',
    ]);
  });

  it('may have failed to be understood', () => {
    const frame = { type: 'conversation.item.input_audio_transcription.failed', error: { message: 'mumbling' } };
    expect(play(frame)).toMatchObject({ events: [], facts: [{ code: 'transcription_failed', detail: 'mumbling' }] });
  });
});

describe('the session', () => {
  it('is opened, then ready, and says when it ends', () => {
    expect(play(session('session.created', { expires_at: 1785217655 }), session('session.updated')).facts).toEqual([
      { type: 'opened', expiresAtMs: 1785217655000 },
      { type: 'ready' },
    ]);
  });
});

describe('errors', () => {
  it.each([
    ['response_cancel_not_active', 'Cancellation failed: no active response found', 'swallowed'],
    [null, 'Cancellation failed: no active response found', 'swallowed'],
    [null, 'Audio content of 9250ms is already shorter than 57340ms', 'swallowed'],
    ['unsupported_content_type', 'Only model output audio messages can be truncated', 'swallowed'],
    ['conversation_already_has_active_response', 'Conversation already has an active response', 'conflict'],
    [null, 'Error committing input audio buffer: buffer too small. Expected at least 100ms of audio', 'surfaced'],
    ['unsupported_content_type', 'No such content', 'surfaced'],
    ['invalid_event', "The 'type' field is missing.", 'surfaced'],
    ['invalid_api_key', 'Incorrect API key provided', 'fatal'],
    ['insufficient_quota', 'No money', 'fatal'],
    ['account_deactivated', 'Gone', 'fatal'],
    ['billing_hard_limit_reached', 'Enough', 'fatal'],
    ['session_expired', 'Your session hit the maximum duration of 60 minutes.', 'fatal'],
  ])('%s, %s: %s', (code, message, treatment) => {
    const { events, facts } = play(errorFrame({ code, message, event_id: 'ours_1' }));
    const told = code === null ? message : `${code}: ${message}`;
    expect(facts).toEqual([
      { type: 'error', message: told, treatment, eventId: 'ours_1', ...(code === null ? {} : { code }) },
    ]);
    const surfaces = treatment === 'surfaced' || treatment === 'fatal';
    expect(events).toEqual(surfaces ? [{ type: 'error', message: told }] : []);
  });

  it('a refused result is told by the call it belongs to', () => {
    const refusal = errorFrame({
      code: 'invalid_tool_call_id',
      message: "Tool call ID 'c1' not found in conversation.",
    });
    const known = play(created('r1'), call('r1', 'c1'), refusal);
    expect(words(known.events)).toEqual(['call:c1:look:{"a":1}']);
    expect(known.facts[1]).toMatchObject({ treatment: 'refused', callId: 'c1' });
    // Nobody waits for that one, so it is an error like any other.
    expect(play(refusal).events).toHaveLength(1);
    expect(play(errorFrame({ code: 'invalid_tool_call_id', message: 'no id' })).events).toHaveLength(1);
  });

  it('change nothing of a turn', () => {
    expect(said(created('r1'), errorFrame({ message: 'odd' }), text('r1', 'a'), done('r1'))).toEqual([
      'error:odd',
      'text:a',
      'turn_complete',
    ]);
  });

  it('the id of the server event is not taken for one of ours', () => {
    expect(play({ type: 'error', event_id: 'event_7', message: 'flat' }).facts).toEqual([
      { type: 'error', message: 'flat', treatment: 'surfaced' },
    ]);
  });

  it('without a word still say something', () => {
    expect(said({ type: 'error' }, { type: 'error', error: 'text' }, { type: 'error', error: null })).toEqual([
      'error:an error without a message',
      'error:text',
      'error:an error without a message',
    ]);
  });
});

describe('what is no event', () => {
  it.each([null, undefined, 7, 'text', [], {}, { type: 7 }, { type: '' }, { type: 'response.created' }])(
    'is ignored with a note: %j',
    (frame) => {
      expect(play(frame)).toMatchObject({ events: [], facts: [{ type: 'diagnostic', code: 'malformed_frame' }] });
    },
  );

  it.each([
    { type: 'response.output_text.delta', delta: 7 },
    { type: 'response.output_item.done' },
    { type: 'conversation.item.added', item: 'none' },
    { type: 'conversation.item.input_audio_transcription.delta' },
  ])('is ignored with a note: %j', (frame) => {
    expect(play(frame)).toMatchObject({ events: [], facts: [{ type: 'diagnostic', code: 'malformed_frame' }] });
  });

  it('unknown events are noted, known ones without meaning are not', () => {
    expect(play({ type: 'response.cancelled' }).facts).toEqual([
      { type: 'diagnostic', code: 'unknown_frame', detail: 'response.cancelled' },
    ]);
    for (const type of ['ping', 'rate_limits.updated', 'response.mcp_call.completed', 'output_audio_buffer.started']) {
      expect(play({ type })).toEqual({ events: [], facts: [], holds: [] });
    }
  });

  it('a dialect that does not exist is refused', () => {
    expect(() => openaiRealtimeMapping({ dialect: 'toString' as OpenAiRealtimeDialect })).toThrow(NotSupportedError);
  });

  it('nothing is ever held', () => {
    const mapping = openaiRealtimeMapping();
    feed(mapping, [created('r1'), text('r1', 'a')]);
    expect(mapping.release()).toEqual({ events: [], facts: [] });
    expect(mapping.acknowledges).toBe(true);
  });
});

describe('memory (T6)', () => {
  it('of responses that never end is bounded, and the oldest is taken for done', () => {
    const mapping = openaiRealtimeMapping();
    const ids = Array.from({ length: 65 }, (_, n) => `r${n}`);
    feed(
      mapping,
      ids.map((id) => created(id)),
    );
    expect(words(feed(mapping, [text('r0', 'late'), text('r1', 'a')]).events)).toEqual(['text:a']);
  });
});
