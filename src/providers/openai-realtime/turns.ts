import { Recent } from '../../contract/recent.js';

/** A response of the far side from its creation to its `response.done`. */
interface OpenResponse {
  /** Its turn was ended by an interruption: what still comes of it is stale. */
  cut: boolean;
  /** It stands outside the conversation and has no part in any turn. */
  readonly outOfBand: boolean;
  calledTools: boolean;
}

/** How a `response.done` reads. */
export type ResponseOutcome = 'completed' | 'interrupted' | 'failed';

/** What a `response.done` means for its turn. `repeated`: it was done before, so that nothing at all comes of it. */
export type TurnVerdict = 'turn_complete' | 'interrupted' | 'goes_on' | 'stale' | 'repeated';

/**
 * Which turn is open, and which responses are part of it.
 *
 * A turn is a chain of responses of the conversation: from the first that is
 * created to the first that ends it. A response that asks for tools is a link.
 *
 * - T1 a terminal is given only while a turn is open, and closes it
 * - T2 a turn is opened by a response that was not seen before, or by output that may pass
 * - T3 output passes only of a response that is neither cut, nor done, nor outside the conversation
 * - T4 a response is done once; a repeat changes nothing
 * - T5 an interruption cuts every open response of the conversation; a response that is discarded opens no turn
 * - T6 memory is bounded: at most 64 open responses and 1,024 remembered ids
 */
export class Turns {
  #turnOpen = false;
  readonly #responses = new Map<string, OpenResponse>();
  readonly #done = new Recent<true>(1024);

  /** A response begins. Whether it is new. */
  begin(id: string, outOfBand: boolean): boolean {
    if (this.#done.has(id) || this.#responses.has(id)) return false;
    if (this.#responses.size >= 64) this.#forgetOldest();
    this.#responses.set(id, { cut: false, outOfBand, calledTools: false });
    if (!outOfBand) this.#turnOpen = true;
    return true;
  }

  /** The response that a frame without an id belongs to: the one that began last. */
  latest(): string | undefined {
    let latest: string | undefined;
    for (const id of this.#responses.keys()) latest = id;
    return latest;
  }

  /** Output of a response that has begun: whether it may pass. */
  output(id: string): boolean {
    const response = this.#responses.get(id);
    if (response === undefined || response.cut || response.outOfBand) return false;
    this.#turnOpen = true;
    return true;
  }

  /** A tool call of a response that has begun: whether it may pass. */
  call(id: string): boolean {
    if (!this.output(id)) return false;
    const response = this.#responses.get(id);
    if (response !== undefined) response.calledTools = true;
    return true;
  }

  /** The user speaks, and the service cuts what it is saying: whether that interrupts a turn. */
  interrupt(): boolean {
    let cut = false;
    for (const response of this.#responses.values()) {
      if (response.cut || response.outOfBand) continue;
      response.cut = true;
      cut = true;
    }
    return cut && this.#close();
  }

  /** The host stops the far side, which may be between two responses of its turn: whether a turn was open. */
  stop(): boolean {
    for (const response of this.#responses.values()) response.cut = true;
    return this.#close();
  }

  /** A response that has just begun is not wanted: it ends no turn, and nothing of it passes. */
  discard(id: string): void {
    const response = this.#responses.get(id);
    if (response === undefined) return;
    response.cut = true;
    for (const other of this.#responses.values()) if (!other.cut && !other.outOfBand) return;
    this.#close();
  }

  /** A response is done. `outputHasCalls`: its list of output items names a function call. */
  finish(id: string, outcome: ResponseOutcome, outputHasCalls: boolean): TurnVerdict {
    if (this.#done.has(id)) return 'repeated';
    const response = this.#responses.get(id);
    this.#responses.delete(id);
    this.#done.set(id, true);
    if (response === undefined || response.cut || response.outOfBand) return 'stale';
    if (outcome === 'completed' && (outputHasCalls || response.calledTools)) return 'goes_on';
    if (!this.#close()) return 'stale';
    return outcome === 'interrupted' ? 'interrupted' : 'turn_complete';
  }

  #close(): boolean {
    const wasOpen = this.#turnOpen;
    this.#turnOpen = false;
    return wasOpen;
  }

  #forgetOldest(): void {
    for (const id of this.#responses.keys()) {
      this.#responses.delete(id);
      this.#done.set(id, true);
      return;
    }
  }
}
