/** Events that a script emits and a session reads, in order. Ends, or fails, once. */
export class EventQueue<Event> implements AsyncIterable<Event>, AsyncIterator<Event, undefined> {
  #events: Event[] = [];
  #next = 0;
  #end: { readonly failure?: unknown } | undefined;
  #reader: { resolve(result: IteratorResult<Event, undefined>): void; reject(error: unknown): void } | undefined;

  /** Gives whether the queue still takes events. */
  push(event: Event): boolean {
    if (this.#end !== undefined) return false;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#events.push(event);
    else reader.resolve({ done: false, value: event });
    return true;
  }

  end(): void {
    this.#finish({});
  }

  fail(failure: unknown): void {
    this.#finish({ failure });
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#next < this.#events.length) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#end !== undefined) {
      return 'failure' in this.#end
        ? Promise.reject(this.#end.failure)
        : Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** The event that `next` would give now, if one waits; an `undefined` that was put in is left to `next`. */
  takeWaiting(): Event | undefined {
    return this.#events[this.#next] === undefined ? undefined : this.#take();
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.#forget();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): Event {
    const event = this.#events[this.#next++] as Event;
    if (this.#next === this.#events.length) this.#forget();
    return event;
  }

  #forget(): void {
    this.#events = [];
    this.#next = 0;
  }

  #finish(end: { readonly failure?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const reader = this.#reader;
    this.#reader = undefined;
    if ('failure' in end) reader?.reject(end.failure);
    else reader?.resolve({ done: true, value: undefined });
  }
}
