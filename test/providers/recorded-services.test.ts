import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../src/contract/provider.js';
import { geminiLiveMapping } from '../../src/providers/gemini-live/index.js';
import { type OpenAiRealtimeDialect, openaiRealtimeMapping } from '../../src/providers/openai-realtime/index.js';
import { haveRecordings, type Json, recordingsOf } from './recordings.js';
import { feed, isTerminal, words } from './steps.js';

// What the mappings make of real traffic, against what can be read off the files by hand, without any rule of turns.

/** The text of each turn, with its terminal. */
function turnsOf(events: readonly BidiEvent[]): [text: string, terminal: string][] {
  const turns: [string, string][] = [];
  let text = '';
  for (const event of events) {
    if (event.type === 'text') text += event.text;
    if (!isTerminal(event)) continue;
    turns.push([text, event.type]);
    text = '';
  }
  expect(text, 'text after the last terminal').toBe('');
  return turns;
}

const callsIn = (events: readonly BidiEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event] : []));

const audioIn = (events: readonly BidiEvent[]) =>
  events.flatMap((event) => (event.type === 'audio' ? [event.data] : []));

function dialectOf(name: string): OpenAiRealtimeDialect {
  if (name.startsWith('dialect-xai')) return 'xai';
  if (name.startsWith('dialect-azure-voice-live')) return 'azure-voice-live';
  return name.startsWith('dialect-azure') ? 'azure' : 'openai';
}

describe.runIf(haveRecordings)('recordings of OpenAI Realtime and its dialects', () => {
  it('are there', () => expect(recordingsOf('openai', 'recorded').length).toBeGreaterThan(0));

  it.each(recordingsOf('openai', 'recorded'))('$name', ({ name, server }) => {
    const { events, facts } = feed(openaiRealtimeMapping({ dialect: dialectOf(name) }), server);

    // Every recorded response completed; those that ask for tools are links of their turn. The texts are those of the `.done` frames.
    const expected: [string, string][] = [];
    let text = '';
    for (const frame of server) {
      if (/^response\.(output_)?(text|audio_transcript)\.done$/.test(frame.type))
        text += frame.text ?? frame.transcript;
      if (frame.type !== 'response.done') continue;
      expect(frame.response.status).toBe('completed');
      if (frame.response.output.some((item: Json) => item.type === 'function_call')) continue;
      expected.push([text, 'turn_complete']);
      text = '';
    }
    expect(turnsOf(events)).toEqual(expected);

    const asked = new Map<string, Json>();
    for (const frame of server) {
      for (const item of frame.response?.output ?? []) if (item.type === 'function_call') asked.set(item.call_id, item);
    }
    expect(callsIn(events)).toEqual(
      [...asked.values()].map((item) => ({
        type: 'tool_call',
        id: item.call_id,
        name: item.name,
        arguments: item.arguments,
      })),
    );
    expect(audioIn(events)).toEqual(
      server.filter((frame) => /^response\.(output_)?audio\.delta$/.test(frame.type)).map((frame) => frame.delta),
    );
    expect(facts).not.toContainEqual(expect.objectContaining({ code: 'malformed_frame' }));
    expect(facts).toContainEqual(expect.objectContaining({ type: 'ready' }));
    for (const id of asked.keys()) {
      expect(facts).toContainEqual(expect.objectContaining({ type: 'acknowledged', callId: id }));
    }
    const counted = server.filter(
      (frame) => frame.type === 'response.done' && /"total_tokens":/.test(JSON.stringify(frame)),
    );
    expect(events.filter((event) => event.type === 'usage')).toHaveLength(counted.length);
    const heard = server.filter((frame) => String(frame.type).endsWith('input_audio_transcription.completed'));
    const finals = events.filter((event) => event.type === 'input_text' && event.final);
    // A dialect may send its final transcript more than once; what it ends up with has to be given.
    if (dialectOf(name) === 'openai') expect(finals).toHaveLength(heard.length);
    expect(finals.at(-1)).toEqual(
      heard.length === 0 ? undefined : { type: 'input_text', text: heard.at(-1).transcript, final: true },
    );
  });
});

describe.runIf(haveRecordings)('recordings of Gemini Live', () => {
  it('are there', () => expect(recordingsOf('gemini', 'recorded').length).toBeGreaterThan(0));

  it.each(recordingsOf('gemini', 'recorded'))('$name', ({ server }) => {
    const mapping = geminiLiveMapping();
    const played = feed(mapping, server);
    const events = [...played.events, ...mapping.release().events];

    const expected: [string, string][] = [];
    let text = '';
    // Since the last turnComplete: the model was at work, and its turn was cut.
    let open = false;
    let cut = false;
    // A turnComplete after a call, with nothing said in between, is the end of a half turn: the answer follows.
    let half = false;
    for (const { serverContent: content = {}, toolCall } of server) {
      const parts: Json[] = (content.modelTurn?.parts ?? []).filter((part: Json) => !part.thought);
      const said = parts.map((part) => part.text ?? '').join('') + (content.outputTranscription?.text ?? '');
      if (said !== '' || parts.some((part) => part.inlineData)) half = false;
      if (content.modelTurn || content.generationComplete || toolCall) open = true;
      if (toolCall) half = true;
      if (!cut) text += said;
      if (content.interrupted && !cut) {
        expected.push([text, 'interrupted']);
        text = '';
        cut = open;
      }
      if (!content.turnComplete) continue;
      if (!cut && !half) {
        expected.push([text, 'turn_complete']);
        text = '';
      }
      open = false;
      cut = false;
    }
    // A file that was cut off has no terminal for what it says.
    if (server.some((frame) => frame.serverContent?.turnComplete)) {
      if (half) expected.push([text, 'turn_complete']);
      expect(turnsOf(events)).toEqual(expected);
    } else {
      expect(events.filter(isTerminal)).toEqual([]);
    }

    expect(callsIn(events)).toEqual(
      server
        .flatMap((frame) => frame.toolCall?.functionCalls ?? [])
        .map((call: Json) => ({
          type: 'tool_call',
          id: call.id ?? expect.any(String),
          name: call.name,
          arguments: JSON.stringify(call.args ?? {}),
        })),
    );
    expect(played.facts).not.toContainEqual(expect.objectContaining({ code: 'malformed_frame' }));
    expect(played.facts).toContainEqual({ type: 'ready' });
    const counted = server.filter((frame) => frame.usageMetadata?.totalTokenCount !== undefined);
    expect(events.filter((event) => event.type === 'usage')).toHaveLength(counted.length);
  });

  it('the barge-in has exactly one interrupted, and the turn after it completes', () => {
    const [recording] = recordingsOf('gemini', 'recorded').filter(({ name }) => name.startsWith('barge-in'));
    expect.assert(recording !== undefined, 'the recording of a barge-in is missing');
    const { events } = feed(geminiLiveMapping(), recording.server);
    expect(turnsOf(events)).toEqual([
      [' you today?', 'interrupted'],
      ['Hello again, Alex.', 'turn_complete'],
    ]);
  });
});

describe.runIf(haveRecordings)('shapes that nobody recorded', () => {
  const made = (service: 'openai' | 'gemini', prefix: string) => {
    const [file] = recordingsOf(service, 'made').filter(({ name }) => name.startsWith(prefix));
    expect.assert(file !== undefined, `${prefix}… is missing`);
    return file.server;
  };

  it('OpenAI: a barge-in, seen from its middle', () => {
    expect(words(feed(openaiRealtimeMapping(), made('openai', 'SYNTHETIC')).events)).toEqual(['interrupted']);
  });

  it('OpenAI: a barge-in, seen from its start', () => {
    const start = [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_audio_transcript.delta', response_id: 'resp_1', delta: 'Hello, this is a long' },
    ];
    const { events } = feed(openaiRealtimeMapping(), [...start, ...made('openai', 'SYNTHETIC')]);
    expect(words(events)).toEqual(['text:Hello, this is a long', 'interrupted']);
  });

  it('OpenAI: errors that people met', () => {
    const { events, facts } = feed(openaiRealtimeMapping(), made('openai', 'errors'));
    const treatments = facts.map((fact) => (fact.type === 'error' ? fact.treatment : fact.type));
    expect(treatments).toEqual([
      ...['conflict', 'conflict', 'swallowed', 'swallowed', 'swallowed'],
      ...['refused', 'surfaced', 'fatal', 'surfaced'],
    ]);
    expect(events).toHaveLength(4);
  });

  it('OpenAI: an example of every event is known', () => {
    const { facts } = feed(openaiRealtimeMapping(), made('openai', 'doc-examples'));
    const odd = facts.filter((fact) => fact.type === 'diagnostic' && fact.code !== 'transcription_failed');
    // One example has a blank before its name.
    expect(odd).toEqual([
      { type: 'diagnostic', code: 'unknown_frame', detail: ' input_audio_buffer.dtmf_event_received' },
    ]);
  });

  it('Gemini: calls, withdrawal, interruption, going away, resumption', () => {
    const { events, facts } = feed(geminiLiveMapping(), made('gemini', 'SYNTHETIC'));
    expect(words(events)).toEqual([
      'call:fc_1:lookup_a:{"q":"x"}',
      'call:fc_2:lookup_b:{}',
      'withdrawn:fc_1,fc_2',
      'interrupted',
      'expiring:10000',
      // The last frame states that the model needs more input: a turn of its own in which nothing was said.
      'turn_complete',
    ]);
    expect(facts).toEqual([{ type: 'resumption', handle: 'handle-2' }, { type: 'resumption' }]);
  });
});
