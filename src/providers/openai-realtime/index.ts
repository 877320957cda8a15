export type { OpenAiRealtimeDialect } from './dialect.js';
export { type OpenAiRealtimeMappingOptions, openaiRealtimeMapping } from './mapping.js';
export type {
  OpenAiAudioFormat,
  OpenAiRealtimeDiagnostic,
  OpenAiRealtimeKey,
  OpenAiRealtimeOptions,
  OpenAiTurnDetection,
} from './options.js';
export { openaiRealtime } from './provider.js';
