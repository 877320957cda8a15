import type { BidiConnectParams } from '../../contract/provider.js';
import { isRecord, type JsonRecord } from '../../contract/wire-reading.js';
import type { OpenAiAudioFormat, OpenAiTurnDetection, Settings } from './options.js';

/** The `session` of the `session.update` that sets a session up: only what was asked for, so that the service's defaults stand. */
export function sessionOf(settings: Settings, params: BidiConnectParams): JsonRecord {
  const { shape } = settings.traits;
  const session = shape === 'present' ? present(settings) : shape === 'beta' ? beta(settings) : xai(settings);
  if (params.system !== undefined) session.instructions = params.system;
  if (params.tools !== undefined && params.tools.length > 0) {
    // These four fields and no other: the service refuses a tool with one that it does not know.
    session.tools = params.tools.map(({ function: { name, description, parameters } }) => ({
      type: 'function',
      name,
      description,
      parameters,
    }));
  }
  return laidOver(session, settings.session);
}

type Session = Record<string, unknown>;

function present(settings: Settings): Session {
  const { voice, modality, turnDetection, inputFormat, outputFormat, transcription } = settings;
  const input: Session = { format: formatOf(inputFormat) };
  if (transcription !== undefined) input.transcription = transcription;
  if (turnDetection !== undefined) input.turn_detection = detectionOf(turnDetection);
  const output: Session = { format: formatOf(outputFormat) };
  if (voice !== undefined) output.voice = voice;
  return { type: 'realtime', output_modalities: [modality], audio: { input, output } };
}

function beta(settings: Settings): Session {
  const { voice, modality, turnDetection, inputFormat, outputFormat, transcription } = settings;
  const session: Session = {
    modalities: modality === 'text' ? ['text'] : ['text', 'audio'],
    input_audio_format: betaFormats[inputFormat],
    output_audio_format: betaFormats[outputFormat],
  };
  if (transcription !== undefined) session.input_audio_transcription = transcription;
  if (turnDetection !== undefined) session.turn_detection = detectionOf(turnDetection);
  if (voice !== undefined) session.voice = voice;
  return session;
}

function xai(settings: Settings): Session {
  const { voice, turnDetection, inputFormat, outputFormat, transcription } = settings;
  const input: Session = { format: formatOf(inputFormat) };
  if (transcription !== undefined) input.transcription = transcription;
  const session: Session = { audio: { input, output: { format: formatOf(outputFormat) } } };
  if (turnDetection !== undefined) session.turn_detection = detectionOf(turnDetection) ?? { type: null };
  if (voice !== undefined) session.voice = voice;
  return session;
}

const betaFormats: Readonly<Record<OpenAiAudioFormat, string>> = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
};

function formatOf(format: OpenAiAudioFormat): JsonRecord {
  return format === 'audio/pcm' ? { type: format, rate: 24_000 } : { type: format };
}

function detectionOf(detection: OpenAiTurnDetection | null): Session | null {
  if (detection === null) return null;
  const written: Session = { type: detection.type };
  const fields =
    detection.type === 'server_vad'
      ? {
          threshold: detection.threshold,
          prefix_padding_ms: detection.prefixPaddingMs,
          silence_duration_ms: detection.silenceDurationMs,
          idle_timeout_ms: detection.idleTimeoutMs,
        }
      : { eagerness: detection.eagerness };
  const all = { ...fields, create_response: detection.createResponse, interrupt_response: detection.interruptResponse };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) written[name] = value;
  return written;
}

function laidOver(below: JsonRecord, above: JsonRecord): JsonRecord {
  const both: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = both[key];
    both[key] = isRecord(value) && isRecord(under) ? laidOver(under, value) : value;
  }
  return both;
}
