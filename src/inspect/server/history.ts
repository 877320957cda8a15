/**
 * All that a page is to be told, from the last opening on, for whoever comes.
 *
 * H1. A listener gets every frame from the last opening on, in order, each once;
 *     one that comes again gets those behind the last that it had.
 * H2. It is bounded by who makes the frames: at an opening everything before it
 *     is forgotten.
 * H3. For a slow listener nothing is kept: it reads on where it stood.
 */
import type { Frame } from '../view/frames.js';

/** A place in the history. */
export interface Place {
  readonly opening: number;
  readonly index: number;
}

export class History {
  #frames: string[] = [];
  #opening = 0;
  #bytes = 0;
  readonly #listeners = new Set<() => void>();

  /** Of what is kept, as text. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#frames.length;
  }

  add(frame: Frame): void {
    if (frame.type === 'opening') {
      this.#opening++;
      this.#frames = [];
      this.#bytes = 0;
    }
    const text = JSON.stringify(frame);
    this.#frames.push(text);
    this.#bytes += text.length;
    for (const listen of this.#listeners) listen();
  }

  /** What comes at a place; where there has been an opening since, its beginning. `undefined`: nothing yet. */
  at({ opening, index }: Place): { readonly text: string; readonly place: Place; readonly next: Place } | undefined {
    const here = opening === this.#opening ? index : 0;
    const text = this.#frames[here];
    if (text === undefined) return undefined;
    const place = { opening: this.#opening, index: here };
    return { text, place, next: { opening: this.#opening, index: here + 1 } };
  }

  /** Is told of each frame that is added. Gives what ends that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The id of a message. */
export function idOf({ opening, index }: Place): string {
  return `${opening}.${index}`;
}

/** The place behind the message of this id; the beginning for what is none. */
export function behind(id: string | undefined): Place {
  const [, opening, index] = /^(\d{1,15})\.(\d{1,15})$/.exec(id ?? '') ?? [];
  return opening === undefined || index === undefined
    ? { opening: 0, index: 0 }
    : { opening: Number(opening), index: Number(index) + 1 };
}
