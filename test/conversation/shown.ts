/** What a host sees of a conversation, so that it can be compared with what the model shows. */

import { MessageSchema, ResponseEvent_StreamFinishedSchema, SuggestionsSchema, TaskSchema } from '../../proto/index.js';
import {
  type ConversationDiagnostic,
  type ConversationState,
  type FoldState,
  linearMessages,
  messageIndex,
  openToolCalls,
  resultOf,
  type TaskMap,
  todoLists,
} from '../../src/conversation/index.js';
import { hexOf } from './model/content.js';
import type { Shown } from './model/model.js';

export function shownOf(state: ConversationState): Shown {
  const { finished, suggestions } = state;
  return {
    phase: state.phase,
    conversationId: state.conversationId,
    requestId: state.requestId,
    transaction: state.transaction,
    diverged: state.diverged,
    tasks: tasksOf(state.tasks),
    suggestions: suggestions && hexOf(SuggestionsSchema, suggestions),
    rootTaskId: state.rootTaskId,
    interrupted: state.interrupted,
    finished: finished && {
      reason: finished.reason,
      bytes: hexOf(ResponseEvent_StreamFinishedSchema, finished.received),
    },
    diagnostics: state.diagnostics.map(({ code, event, action }) => ({
      code,
      event,
      ...(action !== undefined && { action }),
    })),
    conversations: state.conversations,
    earlier: state.earlier.map(({ id, tasks, suggestions }) => ({
      id,
      tasks: tasksOf(tasks),
      suggestions: suggestions && hexOf(SuggestionsSchema, suggestions),
    })),
    position: state.position,
    openToolCalls: openToolCalls(state),
    linear: linearMessages(state).map(({ id }) => id),
    todoLists: todoLists(state).map(({ taskId, messageId, pending, completed }) => ({
      taskId,
      messageId,
      pending: pending.map(({ id }) => id),
      completed: completed.map(({ id }) => id),
    })),
  };
}

function tasksOf(tasks: TaskMap) {
  return [...tasks.values()].map(({ id, parentTaskId, description, summary, status, task, messages }) => ({
    id,
    parentTaskId,
    description,
    summary,
    status,
    bytes: hexOf(TaskSchema, task),
    messages: messages.toArray().map((message) => hexOf(MessageSchema, message)),
  }));
}

/** Where two differ, in words; empty where they do not. */
export function differences(expected: Shown, found: Shown): string[] {
  return (Object.keys(expected) as (keyof Shown)[]).flatMap((key) => {
    const [one, other] = [JSON.stringify(expected[key]), JSON.stringify(found[key])];
    return one === other ? [] : [`${key}: the model has ${one}, the fold ${other}`];
  });
}

/** What does not depend on which event an action came in. */
export function withoutPlaces(shown: Shown): Shown {
  return { ...shown, position: 0, diagnostics: shown.diagnostics.map(({ code }) => ({ code, event: 0 })) };
}

/** What a stream made of a state gives back: all but diagnostics, what follows from them, and ends that no event says. */
export function rebuiltOf({ conversation }: FoldState): Shown {
  const shown = shownOf(conversation);
  return {
    ...shown,
    phase: '',
    diverged: false,
    transaction: shown.transaction === 'none' ? 'none' : 'open',
    interrupted: [],
    diagnostics: [],
    position: 0,
  };
}

/** Everything that a host can get hold of. */
export function viewsOf({ conversation }: FoldState): unknown[] {
  const { tasks, earlier } = conversation;
  return [
    tasks,
    [...tasks.values()],
    ...earlier,
    linearMessages(conversation),
    openToolCalls(conversation),
    todoLists(conversation),
    resultOf(conversation),
    messageIndex(conversation),
  ];
}

export function placeOf({ code, event, action }: ConversationDiagnostic): unknown {
  return { code, event, action };
}
