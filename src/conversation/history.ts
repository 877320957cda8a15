/** A conversation as a far side is told of it when a session begins: what was said, and calls with their results. */
import { type DescMessage, type Message as ProtobufMessage, toJson } from '@bufbuild/protobuf';
import { type Message, Message_ToolCallResultSchema, Message_ToolCallSchema } from '../../proto/index.js';
import { InvalidInputError } from '../contract/errors.js';
import type { HistoryEntry } from '../contract/provider.js';
import { messagesOf, tasksOf } from './linear.js';
import { type ConversationState, partsOf } from './state.js';

/** What {@link historyOf} may be told. */
export interface HistoryOptions {
  /** A call that has no result: not told of (`leave_out`, the default), or told of as one that failed (`as_error`). */
  readonly openCalls?: 'leave_out' | 'as_error';
  /** Whether what an open transaction has said so far counts as said. Default `false`. */
  readonly provisional?: boolean;
}

type ToolCall = Extract<Message['message'], { case: 'toolCall' }>['value'];
type ToolCallResult = Extract<Message['message'], { case: 'toolCallResult' }>['value'];

/** The output of a call that was answered with `cancel`. */
const cancelled = 'the call was cancelled before it had a result';
/** The output of a call that was not answered, with `as_error`. */
const unanswered = 'the call has no result';

/**
 * What was said in a conversation, for `connect.history`: entries of the user, of the assistant and of tools, task by task, in
 * order. Each call stands once, with its result, where it was called, however late the result came; one that was cancelled is one
 * that failed. So the list is sound at every instant, whatever the conversation is at. Empty texts, and messages of other kinds,
 * are left out. Where an id was used by an earlier call, as it may be in another session, it is told with `-2`, `-3`, … behind it.
 *
 * A call of a tool of the schema's own (`run_shell_command`, …) has the name of its field, and JSON for arguments and output.
 *
 * @throws {InvalidInputError} for what is no conversation
 */
export function historyOf(
  conversation: ConversationState | { readonly state: ConversationState },
  { openCalls = 'leave_out', provisional = false }: HistoryOptions = {},
): HistoryEntry[] {
  if (openCalls !== 'leave_out' && openCalls !== 'as_error') {
    throw new InvalidInputError('openCalls', '`leave_out` or `as_error`', openCalls);
  }
  const messages = messagesIn(conversation, provisional);
  const results = resultsIn(messages);
  const entries: HistoryEntry[] = [];
  const ids = new Map<string, number>();
  for (const { message } of messages) {
    switch (message.case) {
      case 'userQuery':
        if (message.value.query !== '') entries.push({ role: 'user', text: message.value.query });
        break;
      case 'agentOutput':
        if (message.value.text !== '') entries.push({ role: 'assistant', text: message.value.text });
        break;
      case 'toolCall': {
        const result = results.get(message.value);
        if (result === undefined && openCalls === 'leave_out') break;
        const id = unusedId(message.value.toolCallId, ids);
        entries.push({ role: 'tool', id, ...wordsOf(message.value), ...outputOf(result) });
        break;
      }
    }
  }
  return entries;
}

/** In linear order; without what an open transaction has done, unless that is asked for. */
function messagesIn(
  conversation: ConversationState | { readonly state: ConversationState },
  provisional: boolean,
): Message[] {
  const isHolder = typeof conversation === 'object' && conversation !== null && 'state' in conversation;
  const { tree, bases } = partsOf(isHolder ? conversation.state : conversation);
  const messages: Message[] = [];
  for (const node of tasksOf(provisional ? tree : (bases[0] ?? tree))) messages.push(...messagesOf(node));
  return messages;
}

/** The result of each call: of the calls with its id the first that has none yet, since ids are unique in one session only. */
function resultsIn(messages: readonly Message[]): ReadonlyMap<ToolCall, ToolCallResult> {
  const results = new Map<ToolCall, ToolCallResult>();
  const open = new Map<string, ToolCall[]>();
  for (const { message } of messages) {
    if (message.case === 'toolCall') {
      const { toolCallId } = message.value;
      const calls = open.get(toolCallId);
      if (calls === undefined) open.set(toolCallId, [message.value]);
      else calls.push(message.value);
    } else if (message.case === 'toolCallResult') {
      const call = open.get(message.value.toolCallId)?.shift();
      if (call !== undefined) results.set(call, message.value);
    }
  }
  return results;
}

/** Ids of calls are unique in one session; a far side that is told of several needs them unique in all. `used`: the last number behind each. */
function unusedId(id: string, used: Map<string, number>): string {
  let n = used.get(id) ?? 0;
  let unused = id;
  if (n > 0) {
    do unused = `${id}-${++n}`;
    while (used.has(unused));
  } else n = 1;
  used.set(id, n);
  used.set(unused, used.get(unused) ?? 1);
  return unused;
}

function wordsOf({ tool }: ToolCall): { name: string; arguments: string } {
  switch (tool.case) {
    case undefined:
      return { name: '', arguments: '{}' };
    case 'callMcpTool':
      return { name: tool.value.name, arguments: JSON.stringify(tool.value.args ?? {}) };
    case 'server':
      return serverWords(tool.value.payload);
    default:
      return { name: fieldName(Message_ToolCallSchema, tool.case), arguments: jsonText(Message_ToolCallSchema, tool) };
  }
}

/** A recorded session keeps here what the fields of an MCP call cannot hold. */
function serverWords(payload: string): { name: string; arguments: string } {
  try {
    const { name, arguments: args } = JSON.parse(payload) as Record<string, unknown>;
    if (typeof name === 'string' && typeof args === 'string') return { name, arguments: args };
  } catch {
    // a server's own words
  }
  return { name: 'server', arguments: payload };
}

function outputOf(answer: ToolCallResult | undefined): { output: string; isError: boolean } {
  if (answer === undefined) return { output: unanswered, isError: true };
  const { result } = answer;
  switch (result.case) {
    case undefined:
      return { output: '', isError: false };
    case 'cancel':
      return { output: cancelled, isError: true };
    case 'server':
      return { output: result.value.serializedResult, isError: false };
    case 'callMcpTool': {
      const { result: outcome } = result.value;
      if (outcome.case === 'error') return { output: outcome.value.message, isError: true };
      const pieces = outcome.case === 'success' ? outcome.value.results : [];
      return { output: pieces.map(pieceText).join('\n'), isError: false };
    }
    default: {
      const outcome = (result.value as { readonly result?: { readonly case?: string } }).result;
      return { output: jsonText(Message_ToolCallResultSchema, result), isError: outcome?.case === 'error' };
    }
  }
}

type Piece = Extract<
  Extract<ToolCallResult['result'], { case: 'callMcpTool' }>['value']['result'],
  { case: 'success' }
>['value']['results'][number];

/** Text as it is; of what is no text only what it is. */
function pieceText({ result }: Piece): string {
  switch (result.case) {
    case 'text':
      return result.value.text;
    case 'image':
      return `[image: ${result.value.mimeType}]`;
    case 'resource': {
      const { uri, contentType } = result.value;
      return contentType.case === 'text' ? contentType.value.content : `[resource: ${uri}]`;
    }
    default:
      return '';
  }
}

function fieldOf(schema: DescMessage, localName: string) {
  return schema.fields.find((field) => field.localName === localName);
}

function fieldName(schema: DescMessage, localName: string): string {
  return fieldOf(schema, localName)?.name ?? localName;
}

function jsonText(schema: DescMessage, member: { readonly case: string; readonly value: unknown }): string {
  const field = fieldOf(schema, member.case);
  if (field?.fieldKind !== 'message') return '{}';
  return JSON.stringify(toJson(field.message, member.value as ProtobufMessage));
}
