/** A supervisor, stepped again: what its records say happened goes through the machine. */
import {
  type SupervisorEventType,
  type SupervisorSnapshot,
  supervisorEvents,
  supervisorStepper,
} from '../../../machines/index.js';
import type { JournalRecord } from '../../contract/journal.js';

const isEvent: ReadonlySet<string> = new Set(supervisorEvents);

export class SupervisorReplay {
  #snapshot: SupervisorSnapshot = supervisorStepper.initial(undefined as never).snapshot;
  /** Something was different: nothing is compared any more. */
  hasParted = false;

  get state(): string {
    return this.#snapshot.value as string;
  }

  /** Takes the step again. Gives where it differs. */
  take(record: JournalRecord): string | undefined {
    if (this.hasParted) return undefined;
    const different = this.#step(record);
    if (different !== undefined) this.hasParted = true;
    return different;
  }

  #step({ event, from, to, did }: JournalRecord): string | undefined {
    if (event === '') return to === this.state ? undefined : `the machine begins ${this.state}, the record ${to}`;
    if (!isEvent.has(event)) return `the machine of a supervisor has no event ${JSON.stringify(event)}`;
    const before = this.state;
    const { snapshot, effects } = supervisorStepper.step(this.#snapshot, event as SupervisorEventType);
    this.#snapshot = snapshot;
    const asked = effects.map(({ type }) => type);
    const recorded = did.map(({ effect }) => effect);
    if (from === before && to === this.state && asked.join() === recorded.join()) return undefined;
    const byMachine = inWords(before, this.state, event, asked);
    return `by the machine ${byMachine}; the record says that ${inWords(from, to, event, recorded)}`;
  }
}

function inWords(from: string, to: string, event: string, asked: readonly string[]): string {
  const how = from === to ? `stays ${to} at ${event}` : `goes from ${from} to ${to} at ${event}`;
  return asked.length === 0 ? `it ${how}` : `it ${how} and asks for ${asked.join(', ')}`;
}
