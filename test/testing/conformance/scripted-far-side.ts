import type { BidiEvent } from '../../../src/contract/provider.js';
import type {
  ConformanceFarSide,
  ConformanceTurn,
  FarSidePlan,
  ReceivedResult,
} from '../../../src/testing/conformance/index.js';
import { type DriverAnswer, type DriverCall, ScriptedProvider } from '../../../src/testing/index.js';

/** A far side that is a script: the driver passes on what it is told, and says what it was asked. */
export class ScriptedFarSide implements ConformanceFarSide {
  readonly provider: ScriptedProvider;
  readonly asked: Promise<void>;
  readonly results: ReceivedResult[] = [];
  readonly #plan: FarSidePlan;
  readonly #turns: ConformanceTurn[];
  readonly #unanswered: DriverAnswer[] = [];
  readonly #waiting: (() => void)[] = [];
  #turn: ConformanceTurn | undefined;
  #open = new Set<string>();
  #over: string | undefined;
  #asked = () => {};

  constructor(plan: FarSidePlan) {
    this.#plan = plan;
    this.#turns = [...plan.turns];
    this.asked = new Promise((resolve) => {
      this.#asked = resolve;
    });
    this.provider = new ScriptedProvider({
      abandonToolCall: true,
      interrupt: true,
      onCall: (call, answer) => this.#call(call, answer),
    });
  }

  interrupt(): void {
    this.#emit({ type: 'interrupted' });
  }

  withdraw(...ids: readonly string[]): void {
    for (const id of ids) this.#open.delete(id);
    this.#emit({ type: 'tool_call_cancelled', ids });
  }

  async received(count: number): Promise<void> {
    while (this.results.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  end(reason: string): void {
    this.#emit({ type: 'closed', reason });
    this.provider.end();
    this.#end(reason);
  }

  cut(): void {
    this.end('the connection broke');
  }

  async gone(): Promise<void> {}

  async dispose(): Promise<void> {
    this.#end('over');
  }

  #call(call: DriverCall, answer: DriverAnswer): void {
    if (call.method === 'connect') {
      this.#connect(call, answer);
      return;
    }
    if (call.method === 'close') {
      this.#end('closed by the host');
      answer.resolve();
      return;
    }
    if (this.#over !== undefined) {
      answer.reject(new TypeError(`over: ${this.#over}`));
      return;
    }
    switch (call.method) {
      case 'send':
        answer.resolve();
        this.#begin();
        break;
      case 'sendToolResult':
        this.#result(call, answer);
        break;
      case 'abandonToolCall':
        answer.resolve();
        this.#answered(call.id);
        break;
      case 'interrupt':
        answer.resolve();
        this.interrupt();
        break;
      default:
        answer.resolve();
    }
  }

  #connect({ params }: Extract<DriverCall, { method: 'connect' }>, answer: DriverAnswer): void {
    const { signal } = params;
    this.#asked();
    if (signal?.aborted === true) answer.reject(signal.reason);
    else if (this.#plan.situation === 'refuses_connection') answer.reject(new TypeError(this.#plan.reason));
    else if (this.#plan.situation === 'leaves_connection_unanswered') {
      signal?.addEventListener('abort', () => answer.reject(signal.reason));
    } else answer.resolve();
  }

  #begin(): void {
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    this.#turn = turn;
    if (turn.text !== undefined) this.#emit({ type: 'text', text: turn.text });
    for (const call of turn.calls ?? []) {
      this.#open.add(call.id);
      this.#emit({ type: 'tool_call', ...call });
    }
    if (turn.held !== true && turn.calls === undefined) this.#emit({ type: 'turn_complete' });
  }

  #result(call: Extract<DriverCall, { method: 'sendToolResult' }>, answer: DriverAnswer): void {
    const { id, output, isError } = call;
    if (!this.#open.has(id)) {
      answer.reject(new TypeError(`no open call ${id}`));
      return;
    }
    this.results.push({ id, output, isError });
    for (const wake of this.#waiting.splice(0)) wake();
    if (this.#plan.situation === 'refuses_results') answer.reject(new TypeError(this.#plan.reason));
    else if (this.#plan.situation === 'leaves_results_unanswered') this.#unanswered.push(answer);
    else {
      answer.resolve();
      this.#answered(id);
    }
  }

  #answered(id: string): void {
    if (!this.#open.delete(id) || this.#open.size > 0) return;
    if (this.#turn?.after !== undefined) this.#emit({ type: 'text', text: this.#turn.after });
    this.#emit({ type: 'turn_complete' });
  }

  #emit(event: BidiEvent): void {
    this.provider.emit(event);
  }

  #end(reason: string): void {
    this.#over ??= reason;
    for (const answer of this.#unanswered.splice(0)) answer.reject(new TypeError(`over: ${reason}`));
  }
}
