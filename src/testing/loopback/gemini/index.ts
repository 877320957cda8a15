export { GeminiLoopback, type GeminiLoopbackOptions, geminiLoopback } from './gemini-loopback.js';
export type { GeminiFarSide } from './options.js';
export { type ClientMessage, GeminiPeer } from './peer.js';
export * from './script.js';
