/** The second part of `commitpoint demo`: a response stream, event by event, beside what a client shows of it. */
import type { ClientAction, Message, ResponseEvent } from '../../proto/index.js';
import type { Journal } from '../contract/journal.js';
import {
  type ConversationChange,
  type ConversationState,
  linearMessages,
  messageIndex,
} from '../conversation/index.js';
import { type Conversation, createConversation } from '../runtime/index.js';
import { VirtualClock } from '../testing/index.js';
import { decodeJsonLine } from '../wire/index.js';
import { demoStream } from './demo-stream.js';

/** What was drawn, and what it came to. */
export interface DrawnConversation {
  readonly text: string;
  readonly state: ConversationState;
  /** What the effects did, in order. */
  readonly effects: readonly string[];
}

const leftWidth = 36;

/** Folds the embedded stream and draws it; with a journal it is recorded there. */
export async function drawConversation(journal?: Journal): Promise<DrawnConversation> {
  const effects: string[] = [];
  const rows = [row('the server sends', 'the client shows'), row('─'.repeat(leftWidth - 2), '─'.repeat(48))];
  // the session before it lived in virtual time, and both are one run
  const clock = new VirtualClock();
  const passes = (ms: number) => clock.advance(ms, async () => {});
  await passes(1000);
  const conversation: Conversation = createConversation({
    clock,
    id: 'con_demo',
    ...(journal === undefined ? {} : { journal }),
    effects: (action) => answersOf(action).map((id) => () => void effects.push(textIn(conversation.state, id))),
  });
  let event: ResponseEvent | undefined;
  let before = conversation.state;
  conversation.changes$.subscribe((change) => {
    const { state } = conversation;
    const shown = shownBy(change, before, state);
    before = state;
    rows.push(row(event === undefined ? '' : wordsOf(event), shown[0]), ...shown.slice(1).map((more) => row('', more)));
  });
  for (const line of demoStream.trim().split('\n')) {
    event = decodeJsonLine(line);
    const ran = effects.length;
    await passes(50);
    conversation.apply(event);
    // with a durable journal a commit is told of when it is durable
    await conversation.flush();
    for (const text of effects.slice(ran)) rows.push(row('', `→ its effect runs: “${text}” is read aloud`));
  }
  if (journal !== undefined) conversation.close();
  rows.push('', '│ shown for good   ┊ provisional: a rollback takes it back   ✕ taken back   → an effect');
  return { text: rows.join('\n'), state: conversation.state, effects };
}

function row(left: string, right = ''): string {
  return `${left.padEnd(leftWidth)}${right}`.trimEnd();
}

/** The messages that an event touched; at a commit those that it makes final. */
function shownBy(
  { kind, messages }: ConversationChange,
  before: ConversationState,
  after: ConversationState,
): string[] {
  const mark = after.transaction === 'none' ? '│' : '┊';
  if (kind === 'committed')
    return linearMessages(after)
      .slice(-1)
      .map((message) => `${mark} ${textOf(message)}`);
  return messages.map(({ id, change }) =>
    change === 'removed' ? `✕ ${textIn(before, id)}` : `${mark} ${textIn(after, id)}`,
  );
}

function wordsOf({ type }: ResponseEvent): string {
  if (type.case === 'init') return `a request begins: ${type.value.requestId}`;
  if (type.case === 'clientActions') return type.value.actions.map(actionWords).join(', ');
  return type.case === 'finished' ? `finished: ${type.value.reason.case ?? ''}` : '';
}

function actionWords({ action }: ClientAction): string {
  switch (action.case) {
    case 'beginTransaction':
      return 'BEGIN';
    case 'commitTransaction':
      return 'COMMIT';
    case 'rollbackTransaction':
      return 'ROLLBACK';
    case 'createTask':
      return `task ${action.value.task?.id ?? ''}: ${action.value.task?.description ?? ''}`;
    case 'addMessagesToTask':
      return action.value.messages.map((message) => `add ${message.id} “${textOf(message)}”`).join(', ');
    case 'appendToMessageContent': {
      const { message } = action.value;
      return message === undefined ? '' : `append “${textOf(message)}” to ${message.id}`;
    }
    default:
      return action.case ?? '';
  }
}

/** The ids of the messages that an action adds for the agent. */
function answersOf({ action }: ClientAction): string[] {
  if (action.case !== 'addMessagesToTask') return [];
  return action.value.messages.filter(({ message }) => message.case === 'agentOutput').map(({ id }) => id);
}

function textIn(state: ConversationState, id: string): string {
  const place = messageIndex(state).get(id);
  return place === undefined ? '' : textOf(place.message);
}

function textOf({ message }: Message): string {
  if (message.case === 'agentOutput') return message.value.text;
  return message.case === 'userQuery' ? message.value.query : (message.case ?? '');
}
