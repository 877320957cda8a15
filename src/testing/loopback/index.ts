/** Fakes of the services, on real sockets of this machine: what tests of drivers and of hosts connect to. Node only. */
export {
  type ClientMessage as GeminiClientMessage,
  type GeminiFarSide,
  GeminiLoopback,
  type GeminiLoopbackOptions,
  GeminiPeer,
  geminiLoopback,
} from './gemini/index.js';
/** The steps of which a `model` of {@link geminiLoopback} makes its turns. */
export * as geminiScript from './gemini/script.js';
export * from './openai/index.js';
export { type ReplayFrame, type ReplayOptions, replayLoopback } from './replay.js';
export {
  type HttpAnswer,
  type HttpRequest,
  type LoopbackClose,
  LoopbackConnection,
  type LoopbackHandler,
  LoopbackServer,
  type UpgradeAnswer,
  type UpgradeRequest,
} from './server.js';
