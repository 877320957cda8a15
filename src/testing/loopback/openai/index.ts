export type { ClientFault } from './client-checks.js';
export type { OpenAiFakeSession } from './fake-session.js';
export { pcm } from './hearing.js';
export { OpenAiLoopback, openaiLoopback } from './openai-loopback.js';
export type {
  OpenAiConnectFault,
  OpenAiFrame,
  OpenAiHabits,
  OpenAiLoopbackOptions,
  OpenAiReply,
  OpenAiReplyEnding,
  OpenAiReplyRequest,
  OpenAiScriptedCall,
} from './script.js';
