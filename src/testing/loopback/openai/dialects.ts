import { isRecord, type JsonRecord } from '../../../contract/wire-reading.js';
import type { OpenAiFrame } from './script.js';

/** Which service the fake is. */
export type FakeDialect = 'openai' | 'azure' | 'azure-voice-live' | 'xai';

/** The session as each service shows it before it is set up. */
export function defaultSession(dialect: FakeDialect, model: string, id: string, expiresAt: number): JsonRecord {
  const detection = {
    type: 'server_vad',
    threshold: 0.5,
    prefix_padding_ms: 300,
    silence_duration_ms: 200,
    idle_timeout_ms: null,
    create_response: true,
    interrupt_response: true,
  };
  if (dialect === 'xai') {
    return {
      id,
      object: 'realtime.session',
      instructions: '',
      voice: 'ara',
      modalities: ['audio'],
      turn_detection: { type: null },
      tools: [],
      model,
    };
  }
  if (dialect === 'azure-voice-live') {
    return {
      id,
      model,
      modalities: ['text', 'audio'],
      instructions: 'You are helpful.',
      voice: { name: 'alloy', type: 'openai' },
      input_audio_format: 'pcm16',
      output_audio_format: 'pcm16',
      input_audio_transcription: null,
      turn_detection: detection,
      tools: [],
      expires_at: expiresAt,
    };
  }
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    output_modalities: ['audio'],
    instructions: 'You are helpful.',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    tracing: null,
    truncation: 'auto',
    prompt: null,
    expires_at: expiresAt,
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: null,
        noise_reduction: null,
        turn_detection: detection,
      },
      output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy', speed: 1 },
    },
    include: null,
  };
}

/** The session after an update: fields are laid over, `audio` part by part. */
export function updated(session: JsonRecord, change: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...session };
  for (const [key, value] of Object.entries(change)) {
    const under = merged[key];
    const deep = key === 'audio' || key === 'input' || key === 'output' || key === 'turn_detection';
    merged[key] = deep && isRecord(value) && isRecord(under) ? updated(under, value) : value;
  }
  return merged;
}

const betaNames: ReadonlyMap<string, string | undefined> = new Map([
  ['conversation.item.added', 'conversation.item.created'],
  // told of once only
  ['conversation.item.done', undefined],
  ['response.output_text.delta', 'response.text.delta'],
  ['response.output_text.done', 'response.text.done'],
  ['response.output_audio.delta', 'response.audio.delta'],
  ['response.output_audio.done', 'response.audio.done'],
  ['response.output_audio_transcript.delta', 'response.audio_transcript.delta'],
  ['response.output_audio_transcript.done', 'response.audio_transcript.done'],
]);

/** A frame as the dialect writes it; `undefined` where it has none. */
export function inDialect(frame: OpenAiFrame, dialect: FakeDialect): OpenAiFrame | undefined {
  if (dialect === 'azure-voice-live') {
    if (!betaNames.has(frame.type)) return frame;
    const type = betaNames.get(frame.type);
    return type === undefined ? undefined : { ...frame, type };
  }
  if (dialect !== 'xai') return frame;
  if (frame.type === 'conversation.item.done' || frame.type === 'rate_limits.updated') return undefined;
  const { response } = frame;
  if (!isRecord(response)) return { ...frame, previous_item_id: frame.previous_item_id ?? null };
  const { id, output, status, status_details: details, usage } = response;
  const shown = {
    id,
    object: 'realtime.response',
    output,
    status,
    status_details: status === 'cancelled' ? details : 'unimplemented',
    usage: {},
  };
  const outside = frame.type === 'response.done' ? { response_id: id, usage: usage ?? {} } : {};
  return { type: frame.type, response: shown, ...outside, previous_item_id: null };
}

/** Leaves out of a frame what a client can do without. */
export function sparse(frame: OpenAiFrame): OpenAiFrame {
  const { output_index: _o, content_index: _c, obfuscation: _x, previous_item_id: _p, ...rest } = frame;
  if (!isRecord(rest.response)) return rest;
  const { object: _b, status_details: details, metadata, ...response } = rest.response;
  const kept = {
    ...response,
    ...(details ? { status_details: details } : {}),
    ...(metadata ? { metadata } : {}),
  };
  return { ...rest, response: kept };
}
