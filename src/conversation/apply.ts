/** What an action makes of the conversation; those that move transactions are not among them. */
import { changeMessage } from './actions/change-message.js';
import { createTask } from './actions/create-task.js';
import { addMessages } from './actions/messages.js';
import type { Outcome, Teller } from './actions/outcome.js';
import { setTaskField } from './actions/task-fields.js';
import type { MaskWalk } from './mask/change.js';
import type { ReceivedAction } from './received.js';
import type { Tree } from './tree.js';

/** An action that changes tasks, messages or suggestions. */
export type ContentAction = Exclude<
  ReceivedAction,
  { readonly type: 'none' | 'startNewConversation' } | { readonly type: TransactionAction }
>;

/** The cases of the actions that move transactions. */
export type TransactionAction = 'beginTransaction' | 'commitTransaction' | 'rollbackTransaction';

/** Applies an action, or says why it fails. Informing diagnostics are told on the way. */
export function applyAction(tree: Tree, action: ContentAction, masks: MaskWalk['rules'], teller: Teller): Outcome {
  switch (action.type) {
    case 'createTask':
      return createTask(tree, action.task, teller);
    case 'updateTaskStatus':
      return setTaskField(tree, action.taskId, 'status', action.status);
    case 'updateTaskDescription':
      return setTaskField(tree, action.taskId, 'description', action.text);
    case 'updateTaskSummary':
      return setTaskField(tree, action.taskId, 'summary', action.text);
    case 'addMessagesToTask':
      return addMessages(tree, action.taskId, action.messages, teller);
    case 'updateTaskMessage':
    case 'appendToMessageContent':
      return changeMessage(tree, action, masks, teller);
    case 'showSuggestions':
      return tree.withSuggestions(action.suggestions);
  }
}
