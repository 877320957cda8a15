/** Reads the events of a driver, one at a time, and hands each on; never awaits what becomes of it (D8). */
import { DriverContractError } from '../contract/errors.js';
import type { BidiEvent, BidiEventIterator, BidiSession } from '../contract/provider.js';
import { adopted, attempt } from './attempt.js';
import type { Delivery } from './delivery.js';
import { endsStretch, isOutput } from './far-event.js';

/** Who the events are for. */
export interface FarReader {
  readonly delivery: Delivery;
  /** No call is open, so that no answer of one can be before or behind an event. */
  readonly isWithoutCalls: boolean;
  /** An event, whatever it is. May stop the reading. */
  read(value: unknown): void;
  streamEnded(): void;
  streamFailed(error: unknown): void;
}

/** How many turns of the microtask queue a slow reader is given to come back for the next event. */
const patience = 64;

/** How many events are taken in one go, so that a far side that never pauses leaves others their turn. */
const burst = 64;

/** The platform's own, whatever stands in its place on a driver's promise. */
const { then } = Promise.prototype;

export class FarStream {
  readonly #reader: FarReader;
  #iterator: BidiEventIterator | undefined;
  #givesWhatWaits = false;
  #isReading = true;
  readonly #onResult = (result: IteratorResult<BidiEvent>): void => this.#take(result);
  readonly #onFailure = (error: unknown): void => this.#fail(error);

  constructor(reader: FarReader, driver: BidiSession) {
    this.#reader = reader;
    try {
      this.#iterator = driver.events()[Symbol.asyncIterator]();
      this.#givesWhatWaits = typeof this.#iterator.takeWaiting === 'function';
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
      next = (this.#iterator as BidiEventIterator).next();
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
    this.#read(value);
  }

  #read(value: unknown): void {
    this.#reader.read(value);
    if (this.#givesWhatWaits) this.#takeOutput();
    else this.#pullWithRoom(patience);
  }

  /**
   * Takes the output that waits, while there is room for it, without a promise
   * for each piece, and the ends of stretches, where there is no call that they
   * could mean. Whatever is more than that comes when it would have come
   * by promises: output that was taken early owes its turns, as far as one
   * burst goes. (A host that closes while more waits than one burst takes, or
   * while the stream ends behind it, may be before or behind what follows.)
   */
  #takeOutput(): void {
    const { delivery } = this.#reader;
    let taken = 0;
    while (taken < burst && this.#isReading && delivery.room > 0) {
      let event: BidiEvent | undefined;
      try {
        event = (this.#iterator as Required<BidiEventIterator>).takeWaiting();
      } catch (error) {
        this.#fail(error);
        return;
      }
      if (event === undefined) break;
      taken++;
      if (!isOutput(event) && !(endsStretch(event) && this.#reader.isWithoutCalls)) {
        this.#readInTurn(event, taken);
        return;
      }
      if (this.#isReading) this.#reader.read(event);
    }
    this.#pullWithRoom(patience + taken);
  }

  #readInTurn(event: BidiEvent, turns: number): void {
    if (!this.#isReading) return;
    if (turns === 0) this.#read(event);
    else Promise.resolve().then(() => this.#readInTurn(event, turns - 1));
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
