/**
 * The order of `BidiTurnEvent`s that every session keeps, as far as the events
 * alone can tell:
 *
 * 1. each event is one of the known types with its fields
 * 2. `sessionId` and `turnId` never change
 * 3. a call starts once, before anything else is told of it, and keeps its name
 * 4. a call ends at most once: completed or abandoned
 * 5. nothing follows `closed`
 */
import type { BidiTurnEvent } from '../contract/index.js';

type FieldType = 'string' | 'boolean';

const fields: Readonly<Record<BidiTurnEvent['type'], Readonly<Record<string, FieldType>>>> = {
  text: { text: 'string' },
  audio: { data: 'string', mediaType: 'string' },
  tool_started: { toolUseId: 'string', toolName: 'string' },
  tool_completed: { toolUseId: 'string', toolName: 'string', output: 'string', isError: 'boolean' },
  tool_abandoned: { toolUseId: 'string', toolName: 'string' },
  turn_complete: {},
  interrupted: {},
  error: { message: 'string' },
  closed: {},
};

/** Looks at the events of one session, one after another. */
export class TurnOrder {
  readonly problems: string[] = [];
  private readonly calls = new Map<string, { readonly name: string; end: string | undefined }>();
  private first: BidiTurnEvent | undefined;
  private closedAt: number | undefined;

  take(event: BidiTurnEvent, index: number): void {
    const tell = (problem: string) => this.problems.push(`event ${index}: ${problem}`);
    const shape = shapeProblem(event);
    if (shape !== undefined) {
      tell(shape);
      return;
    }
    this.first ??= event;
    for (const key of ['sessionId', 'turnId'] as const) {
      if (event[key] !== this.first[key]) tell(`expected ${key} ${this.first[key]}, found ${event[key]}`);
    }
    if (this.closedAt !== undefined) tell(`${event.type} after closed (event ${this.closedAt})`);
    if (event.type === 'closed') this.closedAt ??= index;
    else if (event.type === 'tool_started') this.starts(event, tell);
    else if (event.type === 'tool_completed' || event.type === 'tool_abandoned') this.ends(event, tell);
  }

  /** What is missing at the end of a recording that holds all of a session. */
  finish(): void {
    if (this.closedAt === undefined) this.problems.push('end: expected closed, found none');
  }

  private starts(
    { toolUseId, toolName }: BidiTurnEvent & { type: 'tool_started' },
    tell: (problem: string) => void,
  ): void {
    if (this.calls.has(toolUseId)) tell(`tool_started of ${toolUseId}, which had started before`);
    else this.calls.set(toolUseId, { name: toolName, end: undefined });
  }

  private ends(
    { type, toolUseId, toolName }: BidiTurnEvent & { type: 'tool_completed' | 'tool_abandoned' },
    tell: (problem: string) => void,
  ): void {
    const call = this.calls.get(toolUseId);
    if (call === undefined) {
      tell(`${type} of ${toolUseId} without tool_started`);
      this.calls.set(toolUseId, { name: toolName, end: type });
      return;
    }
    if (call.name !== toolName) tell(`${type} of ${toolUseId}: expected toolName ${call.name}, found ${toolName}`);
    if (call.end !== undefined) tell(`${type} of ${toolUseId} after its ${call.end}`);
    call.end ??= type;
  }
}

function shapeProblem(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return `expected an event, found ${String(event)}`;
  const { type, ...values } = event as Readonly<Record<string, unknown>>;
  if (typeof type !== 'string' || !Object.hasOwn(fields, type)) return `expected a known type, found ${String(type)}`;
  const wanted = { sessionId: 'string', turnId: 'string', ...fields[type as BidiTurnEvent['type']] };
  for (const [name, kind] of Object.entries(wanted)) {
    if (typeof values[name] !== kind) return `${type}: expected ${name} to be a ${kind}, found ${typeof values[name]}`;
  }
  return undefined;
}
