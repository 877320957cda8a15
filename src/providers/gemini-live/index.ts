export { type GeminiLiveMappingOptions, geminiLiveMapping } from './mapping.js';
