/** The fields of a `ConversationBegan`; what is promised of them is said in `decoder.ts`. */
import type { ConversationBegan } from '../../contract/journal.js';
import type { ByteCursor } from './byte-cursor.js';
import { conversationTags, policyTags } from './fields.js';
import { text } from './texts.js';

export function readConversation(
  cursor: ByteCursor,
  end: number,
  before: ConversationBegan | undefined,
): ConversationBegan {
  let machines = before?.machines ?? 0;
  let mode = before?.mode ?? '';
  const policies = new Map(Object.entries(before?.policies ?? {}));
  let maxDiagnostics = before?.maxDiagnostics ?? 0;
  let durable = before?.durable ?? false;
  let initial = before?.initial;
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    switch (tag) {
      case conversationTags.machines:
        machines = cursor.uint32(end);
        break;
      case conversationTags.mode:
        mode = text(cursor, end);
        break;
      case conversationTags.policies: {
        const [key, value] = readPolicy(cursor, cursor.delimited(end));
        policies.set(key, value);
        break;
      }
      case conversationTags.maxDiagnostics:
        maxDiagnostics = cursor.uint32(end);
        break;
      case conversationTags.durable:
        durable = cursor.flag(end);
        break;
      case conversationTags.initial:
        initial = cursor.copy(cursor.delimited(end));
        break;
      default:
        cursor.skip(tag, end);
    }
  }
  return {
    machines,
    mode,
    // which defines the entries, whatever their names: `__proto__` is one like any other
    policies: Object.fromEntries(policies),
    maxDiagnostics,
    durable,
    ...(initial === undefined || initial.length === 0 ? {} : { initial }),
  };
}

function readPolicy(cursor: ByteCursor, end: number): [key: string, value: string] {
  let key = '';
  let value = '';
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    if (tag === policyTags.key) key = text(cursor, end);
    else if (tag === policyTags.value) value = text(cursor, end);
    else cursor.skip(tag, end);
  }
  return [key, value];
}
