import type { ConformanceCase, ConformanceOutcome } from '../../../src/testing/conformance/index.js';

/** What every case came to, driver by driver: the table for people, by `COMMITPOINT_TABLE=1`. */
export class ConformanceTable {
  readonly #drivers: string[] = [];
  readonly #rows = new Map<string, Map<string, string>>();

  /** A case that writes down what it comes to. */
  watched(driver: string, { name, run }: ConformanceCase): () => Promise<void> {
    if (!this.#drivers.includes(driver)) this.#drivers.push(driver);
    return async () => {
      this.#set(name, driver, '**fails**');
      this.#set(name, driver, words[await run()]);
    };
  }

  print(): string {
    const head = `| case | ${this.#drivers.join(' | ')} |\n|---|${'---|'.repeat(this.#drivers.length)}`;
    const rows = [...this.#rows].map(
      ([name, row]) => `| ${name} | ${this.#drivers.map((driver) => row.get(driver) ?? '').join(' | ')} |`,
    );
    return [head, ...rows].join('\n');
  }

  #set(name: string, driver: string, outcome: string): void {
    const row = this.#rows.get(name) ?? new Map<string, string>();
    this.#rows.set(name, row.set(driver, outcome));
  }
}

const words: Readonly<Record<ConformanceOutcome, string>> = { kept: 'kept', not_offered: '–', gap: 'gap' };
