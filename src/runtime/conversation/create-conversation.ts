import { Conversation } from './conversation.js';
import { ConversationRuntime } from './conversation-runtime.js';
import { type ConversationOptions, settingsOf } from './options.js';

/**
 * Makes a conversation of which nothing is known yet.
 *
 * @throws {InvalidInputError} for an option that is none; with the reason of `signal` where that is aborted already
 */
export function createConversation(options: ConversationOptions = {}): Conversation {
  const settings = settingsOf(options);
  if (settings.signal?.aborted) throw settings.signal.reason;
  return new Conversation(new ConversationRuntime(settings));
}
