export type { GeminiEndpointOptions } from './endpoint.js';
export { type GeminiLiveOptions, geminiLive } from './gemini-live.js';
export { type GeminiLiveMapping, type GeminiLiveMappingOptions, geminiLiveMapping } from './mapping.js';
export type { ModelTraits } from './model-traits.js';
export type { GeminiSessionOptions, GeminiTimes, GeminiTurnDetection } from './options.js';
