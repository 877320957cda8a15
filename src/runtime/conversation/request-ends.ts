import type { RequestEnd } from '../../conversation/index.js';

/** What `ended` of a stream gives: a promise for each request, made when somebody asks. */
export class RequestEnds {
  #promise: Promise<RequestEnd> | undefined;
  #resolve: ((end: RequestEnd) => void) | undefined;
  /** How the request at hand ended; `undefined` before it has. */
  #end: RequestEnd | undefined;

  /** That of the current or last request. */
  get current(): Promise<RequestEnd> {
    this.#promise ??= new Promise((resolve) => {
      if (this.#end === undefined) this.#resolve = resolve;
      else resolve(this.#end);
    });
    return this.#promise;
  }

  /** A request begins, or goes on: whoever waits for one that has not ended waits for it. */
  renew(): void {
    if (this.#end === undefined) return;
    this.#end = undefined;
    this.#promise = undefined;
  }

  settle(end: RequestEnd): void {
    this.#end = end;
    this.#resolve?.(end);
    this.#resolve = undefined;
  }
}
