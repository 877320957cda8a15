/**
 * What a duplex scenario says, and what its run leaves behind: the words of the
 * `simulate` file format. A scenario is a header and steps; the run is a trace;
 * both together, in the order in which they happened, are timeline entries.
 */
import type { BidiInput, BidiTurnEvent, CloseReason, InterruptionPolicy, ToolEffect } from '../contract/index.js';

/** A tool of the scripted world. With `result` or `throws` its code settles at once, else it waits for a `tool` step. Where both are given, it throws. */
export interface ScenarioTool {
  readonly onInterruption?: InterruptionPolicy;
  /** Milliseconds from the start of the code; 0: no limit. */
  readonly timeoutMs?: number;
  readonly needsApproval?: boolean;
  readonly effect?: ToolEffect;
  /** The text that its code returns. */
  readonly result?: string;
  /** The message that its code throws. */
  readonly throws?: string;
  /** JSON Schema of the input; absent: any object. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** Options of the session. Times in milliseconds, 0: no limit. */
export interface ScenarioOptions {
  readonly maxConcurrentTools?: number;
  readonly maxOpenCalls?: number;
  readonly connectTimeoutMs?: number;
  readonly publishTimeoutMs?: number;
  readonly closeTimeoutMs?: number;
  readonly maxBufferedEvents?: number;
  readonly dropUnreadAudio?: boolean;
}

/** What the scripted driver can do, and which of its answers wait for a step. */
export interface ScenarioProvider {
  readonly holdConnect?: boolean;
  readonly holdPublish?: boolean;
  readonly holdClose?: boolean;
  /** Whether the driver has `abandonToolCall`. */
  readonly abandonToolCall?: boolean;
  /** Whether the driver has `interrupt`. */
  readonly interrupt?: boolean;
}

/** The journal of the session; without one nothing is ever flushed. */
export interface ScenarioJournal {
  readonly durable?: boolean;
  readonly holdFlush?: boolean;
}

/** The first line of a scenario, its title apart. Look a tool up with `Object.hasOwn`: its name can be that of an inherited property. */
export interface ScenarioHeader {
  readonly tools?: Readonly<Record<string, ScenarioTool>>;
  readonly options?: ScenarioOptions;
  readonly provider?: ScenarioProvider;
  readonly journal?: ScenarioJournal;
}

/**
 * Calls and their states, in order of admission. A `Map`, because an object
 * sorts keys like `10` and `2` by number and mislays one like `__proto__`.
 */
export type CallStates = ReadonlyMap<string, string>;

/** A line that a trace is expected to have; in its strings `…` stands for any run of characters. `calls` of `closed` and `summary` are a `Map`. */
export type ExpectedLine = Readonly<Record<string, unknown>>;

/** What happens next; after each step the system runs until nothing more can happen without a further step or the clock. */
export type Step =
  /** The far side emits this, as it stands: malformed ones too. */
  | { readonly far: unknown }
  | { readonly far_stream: 'end' }
  | { readonly far_stream: 'fail'; readonly message?: string }
  | { readonly connect: 'resolve' }
  | { readonly connect: 'reject'; readonly message?: string }
  | { readonly tool: string; readonly resolve: string }
  | { readonly tool: string; readonly reject: string }
  | { readonly publish: string; readonly accept: true }
  | { readonly publish: string; readonly reject: string }
  | { readonly close: 'resolve' }
  | { readonly close: 'reject'; readonly message?: string }
  | { readonly flush: 'resolve' }
  | { readonly flush: 'reject'; readonly message?: string }
  | { readonly host: 'send'; readonly input: BidiInput }
  | { readonly host: 'close' }
  | { readonly host: 'abort'; readonly reason?: string }
  | { readonly host: 'interrupt'; readonly playedMs?: number }
  | { readonly host: 'approve'; readonly id: string }
  | { readonly host: 'deny'; readonly id: string; readonly message?: string }
  | { readonly host: 'pause' }
  | { readonly host: 'resume' }
  /** Virtual time moves on by so many milliseconds. */
  | { readonly clock: number }
  /** The trace since the last `expect` must be exactly this. */
  | { readonly expect: readonly ExpectedLine[] };

/** A step and the line of the file that it stands in, from 1. */
export interface ScenarioStep {
  readonly line: number;
  readonly step: Step;
}

/** A whole scenario. `title`: the header's `scenario`, or the empty text. */
export interface Scenario {
  readonly title: string;
  readonly header: ScenarioHeader;
  readonly steps: readonly ScenarioStep[];
}

type WithoutIds<Event> = Event extends BidiTurnEvent ? Omit<Event, 'sessionId' | 'turnId'> : never;

/** A `BidiTurnEvent` as a trace shows it: without the ids that never change. */
export type TraceEvent = WithoutIds<BidiTurnEvent>;

/** An act of the host that was refused. */
export type RefusedAct = 'send' | 'close' | 'interrupt' | 'start' | 'approve' | 'deny';

/** One line of a trace. Print it with `printTraceLine`: `JSON.stringify` knows no `Map`. */
export type TraceLine =
  /** Delivered to the host. */
  | { readonly event: TraceEvent }
  /** A call into the driver. */
  | { readonly provider: 'connect' }
  | { readonly provider: 'send'; readonly input: BidiInput }
  | { readonly provider: 'sendToolResult'; readonly id: string; readonly output: string; readonly isError: boolean }
  | { readonly provider: 'abandonToolCall'; readonly id: string }
  | { readonly provider: 'interrupt'; readonly playedMs?: number }
  | { readonly provider: 'close' }
  /** The code of this call starts, with this input. */
  | { readonly tool: string; readonly execute: unknown }
  /** Its signal fires while the code runs. */
  | { readonly tool: string; readonly signal: 'aborted' }
  /** The code of an abandoned call settles. */
  | { readonly tool: string; readonly settled_late: 'resolved' | 'rejected' }
  | { readonly host: RefusedAct; readonly rejected: string }
  /** `session.closed` resolved. */
  | { readonly closed: { readonly reason: CloseReason; readonly calls: CallStates } }
  /** The last line of every trace. */
  | {
      readonly summary: {
        /** State of the session machine, such as `open.waiting`. */
        readonly state: string;
        readonly calls: CallStates;
        /** Invariants that the trace breaks, as `violationsOf` lists them. */
        readonly violations: readonly string[];
      };
    };

/**
 * A step, or a line that its run left behind, with the virtual time in
 * milliseconds at which it came. A step stands before the lines that it caused;
 * a `clock` step carries the time from which it moves on.
 */
export type TimelineEntry =
  | { readonly at: number; readonly step: Step }
  | { readonly at: number; readonly line: TraceLine };
