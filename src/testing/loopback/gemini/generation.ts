import type { Clock } from '../../../contract/clock.js';
import type { Reply, ReplyStep, ScriptedCall, ToolAnswer } from './script.js';

/** What a turn of the model asks of the connection that it speaks on. */
export interface Stage {
  say(text: string): void;
  think(text: string): void;
  send(frame: unknown): void;
  /** Sends the calls; gives the ids of those that the model waits for. */
  call(calls: readonly ScriptedCall[]): readonly string[];
  /** The script is at its end: with a reason, where it failed. */
  spoken(failure: string | undefined): void;
  close(code: number, reason: string): void;
  cut(): void;
}

/** One turn of the model while it goes on: a script, played until it is at its end, waits, or is stopped. */
export class Generation {
  readonly #waitsFor = new Set<string>();
  readonly #answers: ToolAnswer[] = [];
  #timer: unknown;
  #over = false;

  constructor(
    readonly script: Reply,
    readonly stage: Stage,
    readonly clock: Clock,
    /** Whether the model waits for all of its calls, or goes on at the first answer. */
    readonly waitsForAll: boolean,
  ) {}

  start(): void {
    this.#go([]);
  }

  /** Whether it waits for answers of tools. */
  get waits(): boolean {
    return this.#waitsFor.size > 0;
  }

  answered(answer: ToolAnswer): void {
    if (!this.#waitsFor.delete(answer.id)) return;
    this.#answers.push(answer);
    if (this.waits && this.waitsForAll) return;
    this.#waitsFor.clear();
    this.#go(this.#answers.splice(0));
  }

  stop(): void {
    this.#over = true;
    this.clock.clearTimeout(this.#timer);
    this.#waitsFor.clear();
    this.script.return();
  }

  #go(answers: readonly ToolAnswer[]): void {
    let given = answers;
    while (!this.#over) {
      const next = this.script.next(given);
      given = [];
      if (next.done === true) {
        this.#over = true;
        this.stage.spoken(undefined);
      } else if (this.#play(next.value)) return;
    }
  }

  /** Plays a step; whether the script waits behind it. */
  #play(step: ReplyStep): boolean {
    const { stage } = this;
    switch (step.type) {
      case 'say':
        stage.say(step.text);
        return false;
      case 'think':
        stage.think(step.text);
        return false;
      case 'frame':
        stage.send(step.frame);
        return false;
      case 'call':
        for (const id of stage.call(step.calls)) this.#waitsFor.add(id);
        return this.waits;
      case 'pause':
        this.#timer = this.clock.setTimeout(() => this.#go([]), step.ms);
        return true;
      case 'fail':
        this.#over = true;
        stage.spoken(step.reason);
        return true;
      case 'close':
        stage.close(step.code, step.reason);
        return true;
      case 'cut':
        stage.cut();
        return true;
    }
  }
}
