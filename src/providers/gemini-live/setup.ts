import type { BidiConnectParams } from '../../contract/provider.js';
import { isRecord, type JsonRecord } from '../../contract/wire-reading.js';
import type { ModelTraits } from './model-traits.js';
import type { GeminiSessionOptions, GeminiTurnDetection } from './options.js';

/** What a set-up is made of. */
export interface SetupParts {
  readonly params: BidiConnectParams;
  readonly options: GeminiSessionOptions;
  readonly traits: ModelTraits;
  /** The full name of the model. */
  readonly model: string;
  readonly vertex: boolean;
  readonly handle: string | undefined;
}

/** The first message of a connection. */
export function setupMessage(parts: SetupParts): JsonRecord {
  const { params, options, traits, model, vertex, handle } = parts;
  const { modality = 'audio', transcripts, compression = false, resumable = true } = options;
  const setup: Record<string, unknown> = { model, generationConfig: generationOf(options) };
  if (params.system !== undefined) setup.systemInstruction = { parts: [{ text: params.system }] };
  const tools = (params.tools ?? []).map(({ function: { name, description, parameters } }) => {
    const declared: Record<string, unknown> = { name, description, parametersJsonSchema: parameters };
    const behavior = behaviorOf(name, parts);
    if (behavior !== undefined && !vertex) declared.behavior = behavior;
    return declared;
  });
  if (tools.length > 0) setup.tools = [{ functionDeclarations: tools }];
  if (options.turnDetection !== undefined) setup.realtimeInputConfig = turnsOf(options.turnDetection);
  if (transcripts?.input !== false) setup.inputAudioTranscription = {};
  // Where the model writes, there is no speech to write down.
  if (modality === 'audio' && transcripts?.output !== false) setup.outputAudioTranscription = {};
  if (handle !== undefined) setup.sessionResumption = { handle };
  else if (resumable) setup.sessionResumption = {};
  if (compression) setup.contextWindowCompression = { slidingWindow: {} };
  if (handle === undefined && traits.history === 'initial' && (params.history ?? []).length > 0) {
    setup.historyConfig = { initialHistoryInClientContent: true };
  }
  return { setup: laidOver(setup, options.setup ?? {}) };
}

/** What is declared of a tool, or nothing where the service takes it for blocking by itself. */
function behaviorOf(name: string, { options, traits }: SetupParts): string | undefined {
  if (options.nonBlocking?.includes(name) === true) return 'NON_BLOCKING';
  return traits.declaresBlocking ? 'BLOCKING' : undefined;
}

function generationOf({ modality = 'audio', voice, language }: GeminiSessionOptions): JsonRecord {
  const generation: Record<string, unknown> = { responseModalities: [modality.toUpperCase()] };
  const speech: Record<string, unknown> = {};
  if (voice !== undefined) speech.voiceConfig = { prebuiltVoiceConfig: { voiceName: voice } };
  if (language !== undefined) speech.languageCode = language;
  if (Object.keys(speech).length > 0) generation.speechConfig = speech;
  return generation;
}

function turnsOf(detection: GeminiTurnDetection): JsonRecord {
  const { startSensitivity, endSensitivity, prefixPaddingMs, silenceMs, interrupts = true } = detection;
  const automatic: Record<string, unknown> = {};
  if (startSensitivity) automatic.startOfSpeechSensitivity = `START_SENSITIVITY_${startSensitivity.toUpperCase()}`;
  if (endSensitivity) automatic.endOfSpeechSensitivity = `END_SENSITIVITY_${endSensitivity.toUpperCase()}`;
  if (prefixPaddingMs !== undefined) automatic.prefixPaddingMs = prefixPaddingMs;
  if (silenceMs !== undefined) automatic.silenceDurationMs = silenceMs;
  return {
    automaticActivityDetection: automatic,
    activityHandling: interrupts ? 'START_OF_ACTIVITY_INTERRUPTS' : 'NO_INTERRUPTION',
  };
}

/** `over` laid over `under`: objects key by key, everything else whole. */
function laidOver(under: JsonRecord, over: JsonRecord): JsonRecord {
  const both: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = both[key];
    both[key] = isRecord(below) && isRecord(value) ? laidOver(below, value) : value;
  }
  return both;
}
