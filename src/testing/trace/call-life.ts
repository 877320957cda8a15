/**
 * The life of one call as a trace shows it: a small automaton, made from the
 * prose and not from the machines. What the trace cannot tell apart (queued,
 * awaiting approval, starting) is one stage here.
 */
import type { InterruptionPolicy } from '../../contract/index.js';
import type { ScenarioTool } from '../../scenario/scenario.js';

/** The ends that a call can have. */
export type Outcome = 'completed' | 'rejected' | 'unconfirmed' | 'abandoned' | 'cancelled';

/** `waiting`: no code ran; `running`: its code runs; `ready`: there is a result to send; `publishing`: it was sent. */
export type Stage = 'waiting' | 'running' | 'ready' | 'publishing' | Outcome;

/** What can happen to a call. `refuse`: it is to get an error result without running; `expire`: the far side did not answer in time; `end`: the session ends. */
export type Move = 'execute' | 'settle' | 'refuse' | 'publish' | 'accept' | 'reject' | 'expire' | 'abandon' | 'end';

const table: Readonly<Record<Stage, Readonly<Partial<Record<Move, Stage>>>>> = {
  waiting: { execute: 'running', refuse: 'ready', publish: 'publishing', abandon: 'abandoned', end: 'cancelled' },
  running: { settle: 'ready', publish: 'publishing', abandon: 'abandoned', end: 'cancelled' },
  ready: { publish: 'publishing', abandon: 'abandoned', end: 'cancelled' },
  publishing: { accept: 'completed', reject: 'rejected', expire: 'unconfirmed', end: 'unconfirmed' },
  completed: {},
  rejected: {},
  unconfirmed: {},
  abandoned: {},
  cancelled: {},
};

const finals: ReadonlySet<Stage> = new Set(['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled']);

/** Why a call was abandoned. */
export type Abandonment = 'interruption' | 'withdrawal' | 'unexplained';

/** Why the code of a call must not run, and which invariant says so. */
export interface Refusal {
  readonly why: string;
  readonly invariant: 'D12' | 'D15';
}

/** One call of the trace: its stage, its code, and what was seen of it. */
export class CallLife {
  stage: Stage = 'waiting';
  /** Further outcomes that the trace would bear out as well. */
  readonly others = new Set<Outcome>();

  code: 'none' | 'running' | 'settled' = 'none';
  /** When its code started, in virtual milliseconds. */
  startedAt = 0;
  signalled = false;

  published: { readonly at: number; readonly output: string; readonly isError: boolean } | undefined;
  abandonment: Abandonment | undefined;
  /** The group of entries in which it was abandoned. */
  abandonedIn = -1;
  stubs = 0;
  settledLate = false;
  approved = false;

  /** Its end has an event of its own, `tool_completed` or an error that names it: still to come, or not to be missed when it stays away. */
  report: 'none' | 'due' | 'optional' | 'done' = 'none';
  /** A conversational event came after its commit point. */
  disturbed = false;

  constructor(
    readonly id: string,
    readonly name: string,
    readonly tool: ScenarioTool | undefined,
    /** What its code has to be given, where it may run at all. */
    readonly input: unknown,
    public refusal: Refusal | undefined,
    /** Whether it may have been refused for a reason that the trace leaves open. */
    readonly mayBeRefused: boolean,
    /** The group of entries in which it was admitted. */
    readonly admittedIn: number,
  ) {}

  get policy(): InterruptionPolicy {
    return this.tool?.onInterruption ?? 'abandon';
  }

  /** Whether its code settles by itself, as soon as it has started. */
  get settlesAtOnce(): boolean {
    return this.tool?.result !== undefined || this.tool?.throws !== undefined;
  }

  get final(): boolean {
    return finals.has(this.stage);
  }

  /** Whether nothing can happen to it any more. */
  get over(): boolean {
    return this.final && this.code !== 'running';
  }

  /** Whether it counts towards `maxOpenCalls`: draining code does, a call refused for that number does not. */
  get open(): boolean {
    if (this.refusal?.invariant === 'D15') return false;
    return !this.final || (this.stage === 'abandoned' && this.code === 'running');
  }

  /** Takes a step, where its stage allows it; says whether it did. */
  take(move: Move): boolean {
    const next = table[this.stage][move];
    if (next === undefined) return false;
    this.stage = next;
    return true;
  }

  /** Whether the trace bears out that the call is in this state. */
  mayBe(state: string): boolean {
    if (this.stage === state || this.others.has(state as Outcome)) return true;
    switch (this.stage) {
      case 'waiting':
        return (
          ['admitted', 'awaiting_approval', 'queued', 'starting'].includes(state) ||
          (this.mayBeRefused && state === 'committing')
        );
      case 'running':
        return state === 'executing';
      case 'ready':
        return state === 'committing';
      default:
        return false;
    }
  }
}
