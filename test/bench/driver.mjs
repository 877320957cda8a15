/**
 * The far side of every bench: a driver in the same process, whose events the
 * bench pushes. All contestants get this very object, so what it costs is the
 * same for all of them; it is as cheap as a driver can be (one ring, a
 * hand-written iterator, no generator). It offers what waits without a promise
 * (`takeWaiting`), as the drivers of the package do; whoever knows the given
 * contract alone reads by promises, and `promisesAlone` leaves nothing else.
 */

/** @typedef {import('commitpoint').BidiEvent} BidiEvent */
/** @typedef {import('commitpoint').BidiSession} BidiSession */
/** @typedef {import('commitpoint').BidiProvider} BidiProvider */
/** @typedef {(result: IteratorResult<BidiEvent, undefined>) => void} Resolve */

/** @type {(BidiEvent | undefined)[]} */
const nothing = [];
const end = Object.freeze({ done: /** @type {const} */ (true), value: undefined });

/**
 * A connection whose events come from {@link PushedSession.push}. It is its own
 * iterator: the events can be read once, by one reader.
 * @implements {BidiSession}
 */
export class PushedSession {
  /** Slots of the ring; a power of two, made at the first event that has to wait. */
  #slots = nothing;
  #first = 0;
  #waiting = 0;
  /** @type {Resolve | undefined} */
  #parked = undefined;
  #ended = false;
  /** Results that were published so far. */
  results = 0;

  /**
   * The far side says something. Reaches a parked reader at once, else waits.
   * @param {BidiEvent} event
   */
  push(event) {
    const parked = this.#parked;
    if (parked !== undefined) {
      this.#parked = undefined;
      parked({ done: false, value: event });
      return;
    }
    if (this.#waiting === this.#slots.length) this.#grow();
    this.#slots[(this.#first + this.#waiting) & (this.#slots.length - 1)] = event;
    this.#waiting += 1;
  }

  events() {
    return this;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @returns {Promise<IteratorResult<BidiEvent, undefined>>} */
  next() {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(end);
    return new Promise((resolve) => {
      this.#parked = resolve;
    });
  }

  /**
   * What `next` would give now, if something waits.
   * @returns {BidiEvent | undefined}
   */
  takeWaiting() {
    return this.#take();
  }

  /** @returns {BidiEvent | undefined} */
  #take() {
    if (this.#waiting === 0) return undefined;
    const event = /** @type {BidiEvent} */ (this.#slots[this.#first]);
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) & (this.#slots.length - 1);
    this.#waiting -= 1;
    return event;
  }

  /** @returns {Promise<IteratorResult<BidiEvent, undefined>>} */
  return() {
    return Promise.resolve(end);
  }

  send() {
    return Promise.resolve();
  }

  /**
   * Accepts at once.
   * @param {string} _id
   * @param {string} _output
   * @param {boolean} [_isError]
   */
  sendToolResult(_id, _output, _isError) {
    this.results += 1;
    return Promise.resolve();
  }

  close() {
    this.#ended = true;
    this.#parked?.(end);
    this.#parked = undefined;
    return Promise.resolve();
  }

  #grow() {
    const old = this.#slots;
    const grown = new Array(Math.max(16, old.length * 2)).fill(undefined);
    for (let at = 0; at < this.#waiting; at += 1) grown[at] = old[(this.#first + at) & (old.length - 1)];
    this.#slots = grown;
    this.#first = 0;
  }
}

/**
 * A driver that hands each connection it makes to the bench as well.
 * @param {{ promisesAlone?: boolean }} [options] `promisesAlone`: its iterators have nothing beside the given contract.
 * @returns {BidiProvider & { readonly sessions: PushedSession[] }} `sessions`: in order of connecting.
 */
export function pushedProvider({ promisesAlone = false } = {}) {
  /** @type {PushedSession[]} */
  const sessions = [];
  return {
    id: 'bench',
    sessions,
    connect() {
      const session = new PushedSession();
      if (promisesAlone) Object.defineProperty(session, 'takeWaiting', { value: undefined });
      sessions.push(session);
      return Promise.resolve(session);
    },
  };
}
