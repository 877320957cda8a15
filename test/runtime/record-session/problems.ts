/** What is wrong with a recording, event by event, and in what it comes to. */
import type { Message, ResponseEvent } from '../../../proto/index.js';
import {
  type ConversationState,
  createFold,
  historyOf,
  linearMessages,
  openToolCalls,
} from '../../../src/conversation/index.js';
import { expectLegal } from '../../../src/testing/index.js';
import { spaced } from './transcript.js';

/** All that the stream and what it folds to break, and where they are not the transcript. */
export function problemsOf(events: readonly ResponseEvent[], transcript: readonly string[]): string[] {
  try {
    expectLegal(events, { complete: true });
  } catch (error) {
    return [String(error)];
  }
  const fold = createFold({ mode: 'strict' });
  let state = fold.initial;
  const problems: string[] = [];
  let before: readonly string[] = [];
  let told = '';
  for (const [index, event] of events.entries()) {
    const step = fold.take(state, event);
    if (step.error !== undefined) return [`event ${index}: ${step.error.message}`];
    state = step.state;
    const lasting = lastingOf(state.conversation);
    for (const lost of before.filter((id) => !lasting.includes(id))) problems.push(`event ${index}: lost ${lost}`);
    before = lasting;
    const history = historyOf(state.conversation);
    if (state.conversation.transaction === 'none') told = JSON.stringify(history);
    else if (JSON.stringify(history) !== told) problems.push(`event ${index}: a history of what is provisional`);
    const ids = history.flatMap((entry) => (entry.role === 'tool' ? [entry.id] : []));
    if (new Set(ids).size < ids.length) problems.push(`event ${index}: a history with an id twice: ${ids.join()}`);
  }
  const { conversation } = state;
  const unanswered = openToolCalls(conversation);
  if (unanswered.length > 0) problems.push(`open at the end: ${unanswered.join()}`);
  const lines = linearMessages(conversation).map(lineOf);
  if (JSON.stringify(lines) !== JSON.stringify(transcript)) {
    problems.push(`recorded\n  ${lines.join('\n  ')}\nexpected\n  ${transcript.join('\n  ')}`);
  }
  return problems;
}

/** What no event may take away: results, and what the user said. */
function lastingOf(state: ConversationState): string[] {
  return linearMessages(state).flatMap(({ id, message }) => {
    if (message.case === 'userQuery') return [id];
    return message.case === 'toolCallResult' && message.value.result.case !== 'cancel' ? [id] : [];
  });
}

function lineOf({ message }: Message): string {
  switch (message.case) {
    case 'userQuery':
      return `user: ${message.value.query}`;
    case 'agentOutput':
      return `agent: ${message.value.text}`;
    case 'toolCall': {
      const { toolCallId, tool } = message.value;
      if (tool.case === 'callMcpTool')
        return `call ${toolCallId}: ${tool.value.name} ${JSON.stringify(tool.value.args)}`;
      const { name, arguments: args } = JSON.parse(tool.case === 'server' ? tool.value.payload : '{}');
      return `call ${toolCallId}: ${name} ${spaced(args)}`;
    }
    case 'toolCallResult': {
      const { toolCallId, result } = message.value;
      if (result.case !== 'callMcpTool') return `answer ${toolCallId}: ${result.case === 'cancel' ? 'cancelled' : ''}`;
      const { result: outcome } = result.value;
      if (outcome.case === 'error') return `answer ${toolCallId}: true ${outcome.value.message}`;
      const piece = outcome.case === 'success' ? outcome.value.results[0]?.result : undefined;
      return `answer ${toolCallId}: false ${piece?.case === 'text' ? piece.value.text : ''}`;
    }
    default:
      return String(message.case);
  }
}
