import type { ConversationChild } from './conversation-child.js';
import type { SessionChild } from './session-child.js';

/** What a supervisor owns. */
export type Child = SessionChild | ConversationChild;
