/** Changes of a message that is ours, as a copy: only what stands on the way to the change is copied. */
import { type Choice, type FieldPlan, type Fields, type MessagePlan, put } from './plan.js';

/** The message with another value in a field that stands alone, or in a group; `undefined` takes the field away. */
export function withValue(plan: MessagePlan, message: Fields, name: string, value: unknown): Fields {
  const copy: Record<string, unknown> = { $typeName: message['$typeName'] };
  for (const member of plan.members) {
    const key = 'oneofName' in member ? member.oneofName : member.name;
    if (key === name) {
      if (value !== undefined) put(copy, key, value, holdsBytes(member));
    } else if (plan.holdsBytes && holdsBytes(member)) {
      const kept = Object.getOwnPropertyDescriptor(message, key);
      if (kept !== undefined) Object.defineProperty(copy, key, kept);
    } else {
      const kept = message[key];
      if (kept !== undefined) copy[key] = kept;
    }
  }
  const unknown = message['$unknown'];
  if (unknown !== undefined) copy['$unknown'] = unknown;
  return Object.freeze(copy);
}

function holdsBytes(member: MessagePlan['members'][number]): boolean {
  return 'name' in member && member.holdsBytes;
}

/** The value of a field, `undefined` where it is absent, or another member of its group is set. */
export function read(message: Fields, field: FieldPlan): unknown {
  if (field.oneof === undefined) return message[field.name];
  const choice = message[field.oneof] as Choice;
  return choice.case === field.name ? choice.value : undefined;
}
