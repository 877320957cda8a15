import type { BidiEvent } from '../../src/contract/provider.js';
import type { WireFact, WireHold, WireMapping } from '../../src/contract/wire-mapping.js';

/** What a run of frames came to. */
export interface Played {
  readonly events: BidiEvent[];
  readonly facts: WireFact[];
  readonly holds: WireHold[];
}

/** Feeds frames to a mapping, one after the other; nothing is released. */
export function feed(mapping: WireMapping, frames: readonly unknown[]): Played {
  const played: Played = { events: [], facts: [], holds: [] };
  for (const frame of frames) {
    const step = mapping.frame(frame);
    played.events.push(...step.events);
    played.facts.push(...step.facts);
    if (step.hold) played.holds.push(step.hold);
  }
  return played;
}

/** Events of the conversation alone: what a turn is made of. */
export function conversation(events: readonly BidiEvent[]): BidiEvent[] {
  const kinds = new Set(['text', 'audio', 'tool_call', 'turn_complete', 'interrupted']);
  return events.filter((event) => kinds.has(event.type));
}

/** One word an event, for tables: `text:a`, `call:id:name:args`, `turn_complete` … */
export function words(events: readonly BidiEvent[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'text':
        return `text:${event.text}`;
      case 'audio':
        return `audio:${event.data}`;
      case 'tool_call':
        return `call:${event.id}:${event.name}:${event.arguments}`;
      case 'error':
        return `error:${event.message}`;
      case 'tool_call_cancelled':
        return `withdrawn:${event.ids.join(',')}`;
      case 'input_text':
        return `heard:${event.text}:${event.final ? 'final' : 'piece'}`;
      case 'expiring':
        return `expiring:${event.inMs}`;
      default:
        return event.type;
    }
  });
}

export const isTerminal = (event: BidiEvent): boolean => event.type === 'turn_complete' || event.type === 'interrupted';

/** Runs of a property, by environment; the default is what CI has time for. */
export const propertyRuns = Number(process.env.COMMITPOINT_RUNS ?? 300);
