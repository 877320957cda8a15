import type { BidiEvent, BidiSession } from '../../contract/provider.js';

/** Reads what a session gives, in the background, and tells when it is such. */
export class Reader {
  readonly events: BidiEvent[] = [];
  /** Resolves at the end of the events; rejects where they fail. */
  readonly done: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(session: BidiSession) {
    this.done = this.#read(session);
    // Who waits for the end hears of it.
    this.done.catch(() => {});
  }

  /** Resolves with so many events of a type when they have come. Does not notice the end: wait within bounds. */
  async of<Type extends BidiEvent['type']>(type: Type, count = 1): Promise<Extract<BidiEvent, { type: Type }>[]> {
    for (;;) {
      const found = this.events.filter((event) => event.type === type) as Extract<BidiEvent, { type: Type }>[];
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when the texts so far, joined, hold these words. */
  async says(words: string): Promise<void> {
    while (!this.words.includes(words)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** All that was said, joined. */
  get words(): string {
    return this.events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  }

  /** `turn_complete` and `interrupted`, in order, as far as the event with which these words have been said. */
  terminalsBefore(words: string): string[] {
    const terminals: string[] = [];
    let said = '';
    for (const event of this.events) {
      if (event.type === 'text') said += event.text;
      if (said.includes(words)) break;
      if (event.type === 'turn_complete' || event.type === 'interrupted') terminals.push(event.type);
    }
    return terminals;
  }

  /** What was said behind the last event of that type. */
  wordsBehind(type: BidiEvent['type']): string {
    const from = this.events.findLastIndex((event) => event.type === type);
    return this.events
      .slice(from + 1)
      .map((event) => (event.type === 'text' ? event.text : ''))
      .join('');
  }

  async #read(session: BidiSession): Promise<void> {
    for await (const event of session.events()) {
      this.events.push(event);
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}
