/** Sessions that are recorded, and what a client that reads the stream holds: in words. */
import type { ClientAction, Message, ResponseEvent } from '../../../proto/index.js';
import type { Tappable } from '../../../src/contract/session-tap.js';
import { type ConversationState, createFold, linearMessages } from '../../../src/conversation/index.js';
import { type RecordSessionOptions, recordSession, type SessionRecording } from '../../../src/runtime/index.js';

/** A session that is recorded into a list. */
export interface Recorded {
  readonly recording: SessionRecording;
  readonly events: ResponseEvent[];
  /** What the events fold to. Throws at the first diagnostic. */
  readonly state: ConversationState;
  /** Its messages, a line each. */
  readonly said: string[];
  /** What was written since the last look, a line for each event. */
  news(): string[];
}

export function recorded(session: Tappable, options: Partial<RecordSessionOptions> = {}): Recorded {
  const events: ResponseEvent[] = [];
  let looked = 0;
  const recording = recordSession(session, {
    requestId: 'r',
    conversationId: 'c',
    sink: (event) => void events.push(event),
    ...options,
  });
  return {
    recording,
    events,
    get state() {
      return folded(events);
    },
    get said() {
      return wordsOf(folded(events));
    },
    news() {
      const lines = events.slice(looked).map(eventWords);
      looked = events.length;
      return lines;
    },
  };
}

/** Strictly: a diagnostic throws. */
export function folded(events: readonly ResponseEvent[]): ConversationState {
  const fold = createFold({ mode: 'strict' });
  let state = fold.initial;
  for (const event of events) {
    const step = fold.take(state, event);
    if (step.error !== undefined) throw step.error;
    state = step.state;
  }
  return state.conversation;
}

export const wordsOf = (state: ConversationState): string[] => linearMessages(state).map(messageWords);

export function messageWords({ message }: Message): string {
  switch (message.case) {
    case 'userQuery':
      return `user: ${message.value.query}`;
    case 'agentOutput':
      return `agent: ${message.value.text}`;
    case 'toolCall': {
      const { toolCallId, tool } = message.value;
      if (tool.case === 'callMcpTool')
        return `call ${toolCallId}: ${tool.value.name} ${JSON.stringify(tool.value.args)}`;
      return `call ${toolCallId}: ${tool.case === 'server' ? tool.value.payload : tool.case}`;
    }
    case 'toolCallResult': {
      const { toolCallId, result } = message.value;
      if (result.case === 'cancel') return `cancel ${toolCallId}`;
      if (result.case !== 'callMcpTool') return `result ${toolCallId}: ${result.case}`;
      const { result: outcome } = result.value;
      if (outcome.case === 'error') return `error ${toolCallId}: ${outcome.value.message}`;
      const [piece] = outcome.case === 'success' ? outcome.value.results : [];
      return `result ${toolCallId}: ${piece?.result.case === 'text' ? piece.result.value.text : ''}`;
    }
    default:
      return String(message.case);
  }
}

function eventWords({ type }: ResponseEvent): string {
  switch (type.case) {
    case 'init':
      return 'init';
    case 'clientActions':
      return type.value.actions.map(actionWords).join(', ');
    case 'finished': {
      const { reason } = type.value;
      return `finished ${reason.case}${reason.case === 'internalError' ? `: ${reason.value.message}` : ''}`;
    }
    default:
      return '';
  }
}

function actionWords({ action }: ClientAction): string {
  switch (action.case) {
    case 'createTask':
      return `task ${action.value.task?.id}`;
    case 'beginTransaction':
      return 'BEGIN';
    case 'commitTransaction':
      return 'COMMIT';
    case 'rollbackTransaction':
      return 'ROLLBACK';
    case 'addMessagesToTask':
      return action.value.messages.map((message) => `${message.id} ${messageWords(message)}`).join(' + ');
    case 'appendToMessageContent':
      return `append ${changed(action.value.message)}`;
    case 'updateTaskMessage':
      return `revise ${changed(action.value.message)}`;
    default:
      return String(action.case);
  }
}

function changed(message: Message | undefined): string {
  return message === undefined ? '' : `${message.id} ${messageWords(message)}`;
}
