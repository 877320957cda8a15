export type { OpenAiRealtimeDialect } from './dialect.js';
export { type OpenAiRealtimeMappingOptions, openaiRealtimeMapping } from './mapping.js';
