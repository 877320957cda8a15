export type { EventSource } from './consumption.js';
export { Conversation, type ConversationActorRef } from './conversation.js';
export { type ConsumeOptions, ConversationStream } from './conversation-stream.js';
export { createConversation } from './create-conversation.js';
export type { ConversationEffect, ConversationOptions } from './options.js';
