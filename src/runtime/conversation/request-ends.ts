import type { RequestEnd } from '../../conversation/index.js';

/** One request, and the promise of its end, which is made when somebody asks. */
class Ending {
  hasEnded = false;
  #promise: Promise<RequestEnd> | undefined;
  #resolve: ((end: RequestEnd) => void) | undefined;
  #end: RequestEnd | undefined;

  get promise(): Promise<RequestEnd> {
    this.#promise ??= new Promise((resolve) => {
      if (this.#end === undefined) this.#resolve = resolve;
      else resolve(this.#end);
    });
    return this.#promise;
  }

  tell(end: RequestEnd): void {
    this.#end = end;
    this.#resolve?.(end);
    this.#resolve = undefined;
  }
}

/** What `ended` of a stream gives: a promise for each request. That it has ended is known before it may be told. */
export class RequestEnds {
  #request = new Ending();

  /** That of the current or last request. */
  get current(): Promise<RequestEnd> {
    return this.#request.promise;
  }

  /** A request begins, or goes on: whoever waits for one that has not ended waits for it. */
  renew(): void {
    if (this.#request.hasEnded) this.#request = new Ending();
  }

  /** The request has ended. Gives what tells of it. */
  settle(end: RequestEnd): () => void {
    const request = this.#request;
    request.hasEnded = true;
    return () => request.tell(end);
  }
}
