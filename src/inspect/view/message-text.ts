/** A message of a conversation as one line for people. */
import { toJson } from '@bufbuild/protobuf';
import { type Message, MessageSchema } from '../../../proto/index.js';
import { cut } from './bounds.js';

export interface MessageLine {
  readonly who: 'user' | 'agent' | 'call' | 'result' | 'note';
  readonly text: string;
}

export function lineOf(message: Message, max: number): MessageLine {
  const { case: kind, value } = message.message;
  switch (kind) {
    case 'userQuery':
      return { who: 'user', text: cut(value.query, max) };
    case 'agentOutput':
      return { who: 'agent', text: cut(value.text === '' ? value.reasoning : value.text, max) };
    case 'toolCall':
      return { who: 'call', text: cut(jsonOf(message, 'toolCall'), max) };
    case 'toolCallResult':
      return { who: 'result', text: cut(jsonOf(message, 'toolCallResult'), max) };
    default:
      return { who: 'note', text: cut(kind === undefined ? '(empty)' : `${kind} ${jsonOf(message, kind)}`, max) };
  }
}

function jsonOf(message: Message, key: string): string {
  const json = toJson(MessageSchema, message) as Record<string, unknown>;
  return JSON.stringify(json[key] ?? {});
}
