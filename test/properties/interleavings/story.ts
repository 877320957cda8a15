/** A log, read once: what the checks ask for. */
import type { CallState, CloseReport } from '../../../src/contract/lifecycle.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import type { ScenarioTool } from '../../../src/scenario/scenario.js';
import type { Fact } from './log.js';
import type { Plan } from './plan.js';
import type { Run } from './world.js';

/** A fact of one kind, and its place in the log. */
export type At<Kind extends string> = Extract<Fact, Readonly<Record<Kind, unknown>>> & { readonly index: number };

export type Indexed = Fact & { readonly index: number };

type ToolCall = { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string };

export class Story {
  readonly plan: Plan;
  readonly run: Run;
  readonly facts: readonly Indexed[];
  /** Events as they were given within their steps; where nobody subscribed at once, as they were read. */
  readonly events: readonly { readonly event: BidiTurnEvent; readonly index: number; readonly era: number }[];
  /** Whether `events` stand in the log where they were reported. */
  readonly isPrompt: boolean;
  readonly reports: readonly CloseReport[];
  readonly report: CloseReport | undefined;
  /** The first `tool_call` of each id, as far as the far side came. */
  readonly asked: ReadonlyMap<string, ToolCall>;
  /** Where the end begins: nothing may pass after it. The length of the log where there is none. */
  readonly fence: number;

  constructor(plan: Plan, run: Run) {
    this.plan = plan;
    this.run = run;
    this.facts = run.facts.map((fact, index) => Object.assign({ index }, fact));
    const { who } = plan.readers;
    this.isPrompt = who === 'subscriber' || who === 'both';
    this.events =
      who === 'loop'
        ? this.all('read').map(({ read, index, era }) => ({ event: read, index, era }))
        : this.all('event').map(({ event, index, era }) => ({ event, index, era }));
    this.reports = this.all('closed').map(({ closed }) => closed);
    this.report = this.reports[0];
    const asked = new Map<string, ToolCall>();
    for (const { far } of this.all('far')) {
      if (isCall(far) && !asked.has(far.id)) asked.set(far.id, far);
    }
    this.asked = asked;
    this.fence = this.#findFence();
  }

  /** Every fact that has this key. */
  all<Kind extends string>(kind: Kind): At<Kind>[] {
    return this.facts.filter((fact): fact is At<Kind> => kind in fact);
  }

  driverCalls(method: string, id?: string): At<'driver'>[] {
    return this.all('driver').filter((fact) => fact.driver === method && (id === undefined || fact.id === id));
  }

  toolOf(id: string): ScenarioTool | undefined {
    const { tools = {} } = this.plan.header;
    const name = this.asked.get(id)?.name ?? '';
    return Object.hasOwn(tools, name) ? tools[name] : undefined;
  }

  codeOf(id: string, is: string): At<'code'>[] {
    return this.all('code').filter((fact) => fact.code === id && fact.is === is);
  }

  /** The changes of a call, as `lifecycle$` tells them. */
  changesOf(id: string): { readonly from: CallState | null; readonly to: CallState; readonly index: number }[] {
    return this.all('lifecycle').flatMap(({ lifecycle, index }) =>
      lifecycle.type === 'call' && lifecycle.id === id ? [{ from: lifecycle.from, to: lifecycle.to, index }] : [],
    );
  }

  get reason(): string | undefined {
    return this.report?.reason;
  }

  /** An end that throws away what was not read. */
  get endsSilently(): boolean {
    return this.reason === 'host' || this.reason === 'aborted';
  }

  #findFence(): number {
    const first = this.facts.find((fact) => {
      if ('event' in fact) return fact.event.type === 'closed';
      if ('driver' in fact) return fact.driver === 'close';
      if ('closed' in fact || 'lifetime' in fact) return true;
      // an act of the host outside of any step takes effect at once
      return 'host' in fact && (fact.host === 'close' || fact.host === 'abort') && !fact.inside;
    });
    return first?.index ?? this.facts.length;
  }
}

export function isCall(far: unknown): far is ToolCall {
  if (typeof far !== 'object' || far === null) return false;
  const { type, id, name, arguments: text } = far as Readonly<Record<string, unknown>>;
  return (
    type === 'tool_call' && typeof id === 'string' && id !== '' && typeof name === 'string' && typeof text === 'string'
  );
}
