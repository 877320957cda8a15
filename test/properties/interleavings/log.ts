/** What happened in a run, one fact after another, seen from outside the session. */
import type { CallReport, CloseReport, LifecycleEvent } from '../../../src/contract/lifecycle.js';
import type { LateOutcome } from '../../../src/contract/tool.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import type { Step } from '../../../src/scenario/scenario.js';

export type DriverMethod = 'connect' | 'send' | 'sendToolResult' | 'abandonToolCall' | 'interrupt' | 'played' | 'close';

export type HostAct = 'send' | 'interrupt' | 'played' | 'close' | 'abort' | 'approve' | 'deny';

type Happening =
  /** Put at the session's disposal; it is read a few micro-tasks later. */
  | { readonly far: unknown }
  | { readonly stream: 'end' | 'fail' }
  /** Given to a subscriber of `events$`, within the step. */
  | { readonly event: BidiTurnEvent }
  /** Read by a loop over `events()`. */
  | { readonly read: BidiTurnEvent }
  /** Nothing more will be given: `events$` completed, the loop is done. */
  | { readonly over: 'events$' | 'loop' }
  | { readonly driver: DriverMethod; readonly id?: string; readonly output?: string; readonly isError?: boolean }
  | { readonly journal: 'flush' }
  | { readonly answered: DriverMethod | 'flush'; readonly id?: string; readonly accepts: boolean }
  | { readonly code: string; readonly is: 'started'; readonly input: unknown }
  | { readonly code: string; readonly is: 'resolved' | 'rejected' }
  | { readonly code: string; readonly is: 'aborted'; readonly reason: unknown }
  /** `number`: of the act, to be found again when it is settled. `inside`: asked in a callback of the session. */
  | { readonly host: HostAct; readonly id?: string; readonly number: number; readonly inside: boolean }
  | { readonly settled: number; readonly error?: unknown }
  | { readonly lifecycle: LifecycleEvent }
  | { readonly late: string; readonly outcome: LateOutcome }
  /** The promise of the start was settled. */
  | { readonly begun: boolean; readonly error?: unknown }
  /** The signal that the driver was given fired. */
  | { readonly lifetime: 'over'; readonly reason: unknown }
  | { readonly closed: CloseReport }
  | { readonly clock: number }
  /** Everything that was ready to run has run; `session.calls()` says this. */
  | { readonly quiet: readonly CallReport[] };

/** `era` counts the quiet moments before it; `at`: virtual time in milliseconds. */
export type Fact = Happening & { readonly at: number; readonly era: number };

export class Log {
  readonly facts: Fact[] = [];
  readonly #now: () => number;
  #era = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(happening: Happening): void {
    if ('quiet' in happening) this.#era++;
    this.facts.push(Object.assign(happening, { at: this.#now(), era: this.#era }));
  }
}

/** The run as steps of a scenario with everything held back: near enough to look at it with `simulate`. */
export function stepsOf(facts: readonly Fact[]): Step[] {
  return facts.flatMap((fact): Step | readonly Step[] => {
    if ('far' in fact) return { far: fact.far };
    if ('stream' in fact) return fact.stream === 'end' ? { far_stream: 'end' } : { far_stream: 'fail' };
    if ('clock' in fact) return { clock: fact.clock };
    if ('code' in fact && fact.is === 'resolved') return { tool: fact.code, resolve: 'done' };
    if ('code' in fact && fact.is === 'rejected') return { tool: fact.code, reject: 'failed' };
    if ('answered' in fact) return answerStep(fact);
    return 'host' in fact ? actStep(fact) : [];
  });
}

function answerStep({ answered, id = '', accepts }: Extract<Fact, { answered: unknown }>): Step | readonly Step[] {
  if (answered === 'sendToolResult')
    return accepts ? { publish: id, accept: true } : { publish: id, reject: 'refused' };
  if (answered === 'flush') return { flush: accepts ? 'resolve' : 'reject' };
  if (answered === 'connect') return { connect: accepts ? 'resolve' : 'reject' };
  if (answered === 'close') return { close: accepts ? 'resolve' : 'reject' };
  return [];
}

function actStep({ host, id = '' }: Extract<Fact, { host: unknown }>): Step | readonly Step[] {
  switch (host) {
    case 'send':
      return { host, input: { type: 'text', text: 'hello' } };
    case 'approve':
    case 'deny':
      return { host, id };
    case 'abort':
      return { host, reason: 'enough' };
    case 'played':
      return [];
    default:
      return { host };
  }
}
