import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { SessionId, TurnId } from './ids.js';

/** How a tool is announced to the far side. `parameters` is a JSON Schema of its input object. */
export interface LLMToolSchema {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** What an interruption does to a call of this tool that is not yet at its commit point. */
export type InterruptionPolicy =
  /** The answer is thrown away; code that runs keeps its live signal. */
  | 'abandon'
  /** As `abandon`, and the signal of the code is aborted. */
  | 'cancel'
  /** Nothing: the answer is published all the same. */
  | 'deliver';

/** What running the code twice would do. Decides which starts are written ahead in a durable journal, and what recovery proposes. */
export type ToolEffect = 'read' | 'idempotent' | 'irreversible';

/** What the code of a call is told beside its input. */
export interface ToolContext {
  /** Aborted at a timeout, by a withdrawal, by an interruption under policy `cancel`, and at the end of the session. Its `reason` is a typed error or the host's own abort reason. Made when it is first read, so read it off the context: a spread copy of the context has none. */
  readonly signal: AbortSignal;
  /** The call's id, as the far side gave it. */
  readonly toolUseId: string;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

/** How the code of a call ended whose outcome was not published. `unknown` comes only from recovery. */
export type LateOutcome =
  | { readonly status: 'resolved'; readonly value: unknown }
  | { readonly status: 'rejected'; readonly error: unknown }
  | { readonly status: 'unknown' };

/** Which call a late outcome belongs to. */
export interface LateCall {
  readonly id: string;
  readonly name: string;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

/** An input schema: a Standard Schema, or a JSON Schema (draft 2020-12) as a plain object. */
export type ToolInputSchema = StandardSchemaV1 | Record<string, unknown>;

/** What the code of a tool receives, by its schema. */
export type ToolInputOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Record<string, unknown>;

/** What `defineTool` takes. */
export interface ToolDefinition<Schema extends ToolInputSchema = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** Input that this refuses never reaches the code: the far side gets one error result that says what is wrong. */
  readonly input: Schema;
  /** JSON Schema to announce, where `input` is a Standard Schema that cannot print its own. */
  readonly parameters?: Record<string, unknown>;
  /** Default `abandon`. */
  readonly onInterruption?: InterruptionPolicy;
  /** Default `irreversible`. */
  readonly effect?: ToolEffect;
  /** Milliseconds from the start of the code, 0 or absent: no limit. At the limit the signal is aborted and an error result is published. */
  readonly timeoutMs?: number;
  /** `true`, or a function that says so for an input: the call waits for `session.approve(id)` or `session.deny(id)`. */
  readonly needsApproval?: boolean | ((input: ToolInputOf<Schema>, context: ToolContext) => boolean);
  /**
   * The code. Returns a string, or anything JSON (sent as JSON text), or
   * nothing (sent as the empty text). A throw or a rejection becomes an error
   * result with the thrown message.
   */
  readonly execute: (input: ToolInputOf<Schema>, context: ToolContext) => unknown;
  /** Told once how the code of a call ended whose outcome was not published (abandoned, cancelled, timed out), after the end of the session too. */
  readonly onLate?: (outcome: LateOutcome, call: LateCall) => void;
}

/** What a schema made of an input. */
export type Verdict = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** A checked tool, made by `defineTool`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly parameters: Record<string, unknown>;
  readonly onInterruption: InterruptionPolicy;
  readonly effect: ToolEffect;
  /** Milliseconds; 0: no limit. */
  readonly timeoutMs: number;
  readonly needsApproval: boolean | ((input: never, context: ToolContext) => boolean);
  readonly execute: (input: never, context: ToolContext) => unknown;
  readonly onLate: ((outcome: LateOutcome, call: LateCall) => void) | undefined;
  /** Checks an input object against the schema. */
  readonly validate: (input: Record<string, unknown>) => Verdict | Promise<Verdict>;
}
