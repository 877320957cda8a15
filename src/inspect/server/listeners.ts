/**
 * Pages that listen, as server-sent events.
 *
 * L1. There are `maxClients` of them at most.
 * L2. To one that does not read, no more is written than its socket takes and one
 *     frame; after `stallMs` without reading it is dropped, and may come again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../contract/clock.js';
import { behind, type History, idOf, type Place } from './history.js';

/** How long a page may leave what was sent unread: milliseconds. */
export const stallMs = 30_000;
/** How often a sign of life is sent: milliseconds. */
export const heartbeatMs = 15_000;

export class Listeners {
  readonly #history: History;
  readonly #clock: Clock;
  readonly #max: number;
  readonly #all = new Set<Listener>();

  constructor(history: History, clock: Clock, max: number) {
    this.#history = history;
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Takes one more. Gives whether there was a place. */
  accept(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#all.size >= this.#max) return false;
    const last = request.headers['last-event-id'];
    const listener = new Listener(
      this.#history,
      this.#clock,
      response,
      behind(typeof last === 'string' ? last : undefined),
    );
    this.#all.add(listener);
    response.on('close', () => {
      listener.close();
      this.#all.delete(listener);
    });
    listener.begin();
    return true;
  }

  /** Ends all. */
  close(): void {
    for (const listener of this.#all) listener.end();
  }
}

class Listener {
  readonly #history: History;
  readonly #clock: Clock;
  readonly #response: ServerResponse;
  readonly #forget: () => void;
  #place: Place;
  #isWaiting = false;
  #isClosed = false;
  #timer: unknown;

  constructor(history: History, clock: Clock, response: ServerResponse, place: Place) {
    this.#history = history;
    this.#clock = clock;
    this.#response = response;
    this.#place = place;
    this.#forget = history.listen(() => this.#write());
  }

  begin(): void {
    this.#response.on('drain', () => {
      this.#isWaiting = false;
      this.#arm();
      this.#write();
    });
    this.#response.write('retry: 1000\n\n');
    this.#arm();
    this.#write();
  }

  end(): void {
    this.close();
    this.#response.end();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    this.#clock.clearTimeout(this.#timer);
  }

  #write(): void {
    while (!this.#isWaiting && !this.#isClosed) {
      const here = this.#history.at(this.#place);
      if (here === undefined) return;
      this.#place = here.next;
      this.#send(`id: ${idOf(here.place)}\ndata: ${here.text}\n\n`);
    }
  }

  #send(text: string): void {
    if (this.#response.write(text)) return;
    this.#isWaiting = true;
    this.#arm();
  }

  #arm(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => this.#beat(), this.#isWaiting ? stallMs : heartbeatMs);
  }

  #beat(): void {
    if (this.#isWaiting) {
      // nothing can be told to one that does not read: it comes again, and reads on where it stood
      this.close();
      this.#response.destroy();
      return;
    }
    this.#send(': alive\n\n');
    this.#arm();
  }
}
