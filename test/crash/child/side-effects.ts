/**
 * The file in which tools, the far side and a host leave what they did to the
 * world. A line is written before the call that writes it returns, and what the
 * system has taken of a process outlives its SIGKILL: nothing here waits for a
 * disk.
 */
import { openSync, statSync, writeSync } from 'node:fs';
import type { SideEffect } from '../side-effects.js';

export class SideEffects {
  readonly #file: number;
  readonly #journal: string;

  constructor(path: string, journal: string) {
    this.#file = openSync(path, 'a');
    this.#journal = journal;
  }

  note(effect: SideEffect): void {
    writeSync(this.#file, `${JSON.stringify(effect)}\n`);
  }

  /** All that was flushed so far is in the first bytes of the journal; a power cut may take what is behind them. */
  noteDurable(): void {
    this.note({ what: 'durable', bytes: statSync(this.#journal).size });
  }
}
