/** What a session says, in the words of the schema. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MessageSchema } from '../../../proto/index.js';
import type { ActionInit } from '../../conversation/writer/action-writer.js';
import type { Cut } from './heard.js';
import { wellFormed } from './texts.js';

export type MessageInit = MessageInitShape<typeof MessageSchema>;

export const begin: ActionInit = { case: 'beginTransaction', value: {} };
export const commit: ActionInit = { case: 'commitTransaction', value: {} };
export const rollback: ActionInit = { case: 'rollbackTransaction', value: {} };

export function add(taskId: string, ...messages: MessageInit[]): ActionInit {
  return { case: 'addMessagesToTask', value: { taskId, messages } };
}

export function agentMessage(id: string, text: string): MessageInit {
  return { id, message: { case: 'agentOutput', value: { text } } };
}

export function appendToAgent(taskId: string, id: string, text: string): ActionInit {
  return {
    case: 'appendToMessageContent',
    value: { taskId, message: agentMessage(id, text), mask: { paths: ['agent_output.text'] } },
  };
}

export function userMessage(id: string, query: string): MessageInit {
  return { id, message: { case: 'userQuery', value: { query } } };
}

export function appendToUser(taskId: string, id: string, text: string): ActionInit {
  return {
    case: 'appendToMessageContent',
    value: { taskId, message: userMessage(id, text), mask: { paths: ['user_query.query'] } },
  };
}

export function reviseUser(taskId: string, id: string, text: string): ActionInit {
  return {
    case: 'updateTaskMessage',
    value: { taskId, message: userMessage(id, text), mask: { paths: ['user_query.query'] } },
  };
}

/** The words that were heard, and beside them how that is known. */
export function cutAgent(taskId: string, { messageId, text, playedMs, receivedMs }: Cut): ActionInit {
  const serverMessageData = JSON.stringify({ cut: { approximate: true, playedMs, receivedMs } });
  return {
    case: 'updateTaskMessage',
    value: {
      taskId,
      message: { id: messageId, serverMessageData, message: { case: 'agentOutput', value: { text } } },
      mask: { paths: ['agent_output.text', 'server_message_data'] },
    },
  };
}

/**
 * A call of a tool: as a call of an MCP tool, whose arguments are a JSON object. Arguments that the schema cannot hold as
 * they are (no JSON object, integers beyond 2^53, very deep ones) are kept as text: `{"name", "arguments"}` for the server.
 */
export function callMessage(id: string, toolCallId: string, name: string, text: string): MessageInit {
  const args = objectIn(text);
  const tool =
    args === undefined
      ? ({ case: 'server', value: { payload: wellFormed(JSON.stringify({ name, arguments: text })) } } as const)
      : ({ case: 'callMcpTool', value: { name: wellFormed(name), args } } as const);
  return { id, message: { case: 'toolCall', value: { toolCallId, tool } } } as MessageInit;
}

export function resultMessage(id: string, toolCallId: string, output: string, isError: boolean): MessageInit {
  const text = wellFormed(output);
  const result = isError
    ? ({ case: 'error', value: { message: text } } as const)
    : ({ case: 'success', value: { results: [{ result: { case: 'text', value: { text } } }] } } as const);
  const value = { toolCallId, result: { case: 'callMcpTool', value: { result } } } as const;
  return { id, message: { case: 'toolCallResult', value } } as MessageInit;
}

/** No answer will come. */
export function cancelMessage(id: string, toolCallId: string): MessageInit {
  return { id, message: { case: 'toolCallResult', value: { toolCallId, result: { case: 'cancel', value: {} } } } };
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A decoder of the wire stops at messages that stand a hundred deep in each other; each level of JSON takes three. */
const deepest = 24;

function objectIn(text: string): Record<string, never> | undefined {
  let value: Json;
  try {
    value = text === '' ? {} : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && isHeld(value, 1) ? (value as Record<string, never>) : undefined;
}

/** Whether the schema's JSON keeps it as it is. */
function isHeld(value: Json, depth: number): boolean {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    case 'string':
      return isWhole(value);
    case 'object':
      if (value === null) return true;
      if (depth > deepest) return false;
      return Object.entries(value).every(
        ([key, entry]) => key !== '__proto__' && isWhole(key) && isHeld(entry as Json, depth + 1),
      );
    default:
      return true;
  }
}

function isWhole(text: string): boolean {
  return wellFormed(text) === text;
}
