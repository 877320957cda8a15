/** Reads the events of a driver, one at a time, and hands each on; never awaits what becomes of it (D8). */
import { DriverContractError } from '../contract/errors.js';
import type { BidiEvent, BidiSession } from '../contract/provider.js';
import { adopted, attempt } from './attempt.js';
import type { Delivery } from './delivery.js';

/** Who the events are for. */
export interface FarReader {
  readonly delivery: Delivery;
  /** An event, whatever it is. May stop the reading. */
  read(value: unknown): void;
  streamEnded(): void;
  streamFailed(error: unknown): void;
}

/** How many turns of the microtask queue a slow reader is given to come back for the next event. */
const patience = 64;

/** The platform's own, whatever stands in its place on a driver's promise. */
const { then } = Promise.prototype;

export class FarStream {
  readonly #reader: FarReader;
  #iterator: AsyncIterator<BidiEvent> | undefined;
  #isReading = true;
  readonly #onResult = (result: IteratorResult<BidiEvent>): void => this.#take(result);
  readonly #onFailure = (error: unknown): void => this.#fail(error);

  constructor(reader: FarReader, driver: BidiSession) {
    this.#reader = reader;
    try {
      this.#iterator = driver.events()[Symbol.asyncIterator]();
    } catch (error) {
      reader.streamFailed(error);
      return;
    }
    this.#pull();
  }

  /** Reads no further, and lets the source know. */
  stop(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    const iterator = this.#iterator;
    this.#iterator = undefined;
    // what it says of its end is of no interest to anybody
    attempt(
      () => (typeof iterator?.return === 'function' ? iterator.return() : undefined),
      () => {},
      () => {},
    );
  }

  #pull(): void {
    let next: Promise<IteratorResult<BidiEvent>>;
    try {
      next = (this.#iterator as AsyncIterator<BidiEvent>).next();
    } catch (error) {
      this.#fail(error);
      return;
    }
    try {
      // the way of every event: a promise of the platform needs no adopting
      then.call(next, this.#onResult, this.#onFailure);
    } catch {
      adopted(next).then(this.#onResult, this.#onFailure);
    }
  }

  #take(result: IteratorResult<BidiEvent>): void {
    if (!this.#isReading) return;
    let value: unknown;
    try {
      if (typeof result !== 'object' || result === null) throw new DriverContractError('an iterator result', result);
      if (result.done) {
        this.#reader.streamEnded();
        return;
      }
      value = result.value;
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#reader.read(value);
    this.#pullWithRoom(patience);
  }

  /**
   * Asks for the next event, at once where the buffer has room. Where it has
   * none, a reader that is on its way back to the loop gets there first: only
   * one that is busy elsewhere, or has gone, reads too slowly.
   */
  #pullWithRoom(turns: number): void {
    if (!this.#isReading) return;
    if (turns === 0 || this.#reader.delivery.room > 0) this.#pull();
    else Promise.resolve().then(() => this.#pullWithRoom(turns - 1));
  }

  #fail(error: unknown): void {
    if (this.#isReading) this.#reader.streamFailed(error);
  }
}
