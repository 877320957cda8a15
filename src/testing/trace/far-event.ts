/**
 * What a session has to make of an event of the far side: an opinion of the
 * checker's own, so that a mistake of the runtime is not shared.
 */
import type { BidiEvent } from '../../contract/index.js';

/** `nothing`: it changes no trace. `failure`: it ends the session with `protocol_failure`. */
export type FarReading =
  | { readonly kind: 'event'; readonly event: BidiEvent }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failure'; readonly problem: string };

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const id: Check = (value) => text(value) && value !== '';
const ids: Check = (value) => Array.isArray(value) && value.every(id);
const optionalText: Check = (value) => value === undefined || text(value);

const fields: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  text: { text },
  audio: { data: text, mediaType: text },
  tool_call: { id, name: text, arguments: text },
  turn_complete: {},
  interrupted: {},
  error: { message: text },
  closed: { reason: optionalText },
  tool_call_cancelled: { ids },
};

/** Reads one payload of a `far` step. */
export function readFarEvent(payload: unknown): FarReading {
  if (typeof payload !== 'object' || payload === null) return { kind: 'failure', problem: 'no object' };
  const event = payload as Readonly<Record<string, unknown>>;
  const { type } = event;
  if (typeof type !== 'string') return { kind: 'failure', problem: 'no type' };
  if (!Object.hasOwn(fields, type)) return { kind: 'nothing' };
  for (const [name, check] of Object.entries(fields[type] ?? {})) {
    if (!check(event[name])) return { kind: 'failure', problem: `${type} with a bad ${name}` };
  }
  return { kind: 'event', event: event as unknown as BidiEvent };
}
