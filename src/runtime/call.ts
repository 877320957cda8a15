import { type CallEntry, type Candidate, callStateOf } from '../../machines/index.js';
import type { LateCall, LateOutcome, Tool, ToolContext } from '../contract/tool.js';
import { CallActor, type SessionActor } from './actors.js';
import { type CallResult, errorResult } from './arguments.js';

/** Who a call belongs to. */
export type CallOwner = Pick<LateCall, 'sessionId' | 'turnId'>;

/**
 * A call that has no outcome yet: its actor, and the payloads that belong to
 * it. The machine knows none of them; when the call is released, all of this
 * goes.
 */
export class Call implements CallEntry {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  readonly refused: boolean;
  readonly actor: CallActor;
  /** `undefined` where the far side named a tool that does not exist. */
  readonly tool: Tool | undefined;
  /** As the model wrote them; taken by the validation. */
  arguments: string;
  input: unknown;
  /** What is sent, once it is decided. */
  result: CallResult = noResult;
  /** Of the code or of an asynchronous validation; one at a time. */
  timer: unknown;
  publishTimer: unknown;
  /** Whether the code was started and has not settled. */
  codeRuns = false;
  /** The name of its actor in a journal; made when there is one. */
  recordedAs: string | undefined;
  /** How the code ended, once it has. */
  late: LateOutcome | undefined;
  #controller: AbortController | undefined;
  #abort: { readonly reason: unknown } | undefined;

  constructor(parent: SessionActor, candidate: Candidate, refused: boolean, tool: Tool | undefined, args: string) {
    this.id = candidate.id;
    this.name = candidate.name;
    this.digest = candidate.digest;
    this.refused = refused;
    this.tool = tool;
    this.arguments = args;
    this.actor = CallActor.create(parent, candidate.id, candidate.rules);
  }

  get snapshot() {
    return this.actor.getSnapshot();
  }

  get state() {
    return callStateOf(this.snapshot);
  }

  /** Whether its result is still to be decided. */
  get takesResult(): boolean {
    return undecided.has(this.state);
  }

  /** What the code is told. The signal is made when it is asked for. */
  contextFor({ sessionId, turnId }: CallOwner): ToolContext {
    return new CallContext(this, sessionId, turnId);
  }

  /** Aborts the signal; the first reason stays. A signal of code that has settled is left alone. */
  abortSignal(reason: unknown): void {
    if (this.#abort !== undefined || !this.codeRuns) return;
    this.#abort = { reason };
    this.#controller?.abort(reason);
  }

  /** Made when somebody asks for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abort !== undefined) this.#controller.abort(this.#abort.reason);
    }
    return this.#controller.signal;
  }
}

const noResult = errorResult('no result');
const undecided: ReadonlySet<string> = new Set(['admitted', 'awaiting_approval', 'executing']);

/** A class, not a literal with a getter: that would have a shape of its own for each call, dear to make and to read. */
class CallContext implements ToolContext {
  readonly toolUseId: string;
  readonly sessionId: CallOwner['sessionId'];
  readonly turnId: CallOwner['turnId'];
  readonly #call: Call;

  constructor(call: Call, sessionId: CallOwner['sessionId'], turnId: CallOwner['turnId']) {
    this.toolUseId = call.id;
    this.sessionId = sessionId;
    this.turnId = turnId;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
