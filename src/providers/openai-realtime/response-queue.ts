/** What the queue asks to be sent. */
export type ResponseAction =
  /** `response.create`; the key goes into its event id, and into its metadata. */
  { readonly type: 'create'; readonly key: string } | { readonly type: 'cancel'; readonly responseId: string };

/** A request for a response that was sent and that nothing has answered yet. */
interface Request {
  readonly key: string;
  /** The items that it was made for. Those that a response of another's making has certainly seen are taken out. */
  readonly items: Map<string, Wish>;
}

/** An item that is to be answered. `batch`: the response whose calls it belongs to, where it is a result. */
interface Wish {
  readonly batch?: string;
}

/** A response that began. `discard`: the host stopped it before it began; none of its output is wanted. */
export interface Opened {
  readonly discard: boolean;
}

/** After so many refusals in a row the queue gives up: the service and we do not agree on what is active. */
const mostConflicts = 8;

/** A service that begins more responses than this without ending one does not mean it. */
const mostActive = 64;

/**
 * When to ask for a response. The service has one response of the conversation at a time, made by us or by its own detection of
 * speech, and refuses a second request; what it says of both crosses what we say.
 *
 * - R1 no request is sent while a response is active, or another request is unanswered
 * - R2 one request for all results of one response's calls, after the last of them; a result of calls that were interrupted asks for none
 * - R3 a request that is refused because another response was active is made again after that one
 * - R4 a request is dropped when a response began, of whosever making, after the service acknowledged every item that it is for
 * - R5 a response that was stopped before it began is cancelled when it begins
 * - R6 a response is cancelled at most once
 */
export class ResponseQueue {
  /** Active responses, and whether they were cancelled. */
  readonly #active = new Map<string, boolean>();
  #waiting = new Map<string, Wish>();
  readonly #acknowledged = new Set<string>();
  /** Calls without a result, and their batch. */
  readonly #calls = new Map<string, string>();
  #request: Request | undefined;
  /** A request that a response was taken to answer, without proof: its refusal may still come while that response is active. */
  #guessed: { readonly request: Request; readonly responseId: string } | undefined;
  #stopRequest = false;
  #blocked = false;
  #conflicts = 0;
  #requests = 0;
  /** Whether the service was seen to give metadata back. Until then a response that begins after a request is taken for ours. */
  #echoes = false;

  /** Whether a response is active or asked for. */
  get isBusy(): boolean {
    return this.#active.size > 0 || this.#request !== undefined;
  }

  /** The key of the request that is not answered yet. */
  get request(): string | undefined {
    return this.#request?.key;
  }

  /** Whether a request was refused although no response is known to be active: {@link unblock} has to come, by and by. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /** A call was given to the host; `batch` names the response that it is of. */
  called(callId: string, batch: string): void {
    this.#calls.set(callId, batch);
  }

  /** The user's words were written as this item: they want an answer. */
  said(itemId: string): void {
    this.#waiting.set(itemId, {});
  }

  /** The result of a call was written as this item. */
  answered(callId: string, itemId: string): void {
    const batch = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (batch !== undefined) this.#waiting.set(itemId, { batch });
  }

  /** The service did not take this item: there is nothing to answer. */
  refused(itemId: string): void {
    this.#waiting.delete(itemId);
    this.#request?.items.delete(itemId);
    this.#acknowledged.delete(itemId);
  }

  /** The service took this item. */
  acknowledged(itemId: string): void {
    if (this.#waiting.has(itemId) || this.#request?.items.has(itemId)) this.#acknowledged.add(itemId);
  }

  /**
   * The turn was interrupted: calls that are open will not be waited for, results that wait are not spoken into it. With
   * `everything` (the host stopped it) nothing that was asked before is answered any more.
   */
  interrupted(everything: boolean): ResponseAction[] {
    this.#calls.clear();
    for (const [itemId, wish] of this.#waiting) if (everything || wish.batch !== undefined) this.#forget(itemId);
    if (!everything) return [];
    const actions: ResponseAction[] = [];
    for (const [responseId, cancelled] of this.#active) {
      if (cancelled) continue;
      this.#active.set(responseId, true);
      actions.push({ type: 'cancel', responseId });
    }
    this.#stopRequest = this.#request !== undefined;
    return actions;
  }

  /** A response began. `key`: what its metadata gives back. */
  opened(responseId: string, key: string | undefined): [Opened, ResponseAction[]] {
    // One that refused our request before it was seen to begin may be older than our items.
    const mayBeOlder = this.#blocked;
    this.#blocked = false;
    this.#active.set(responseId, false);
    if (this.#active.size > mostActive)
      for (const oldest of [...this.#active.keys()].slice(0, 1)) this.#active.delete(oldest);
    if (key !== undefined) this.#echoes = true;
    const request = this.#request;
    if (request !== undefined && (key === request.key || (key === undefined && !this.#echoes))) {
      this.#request = undefined;
      if (key === undefined) {
        // What this response has certainly seen is not asked for again, should the guess be wrong.
        for (const itemId of this.#acknowledged) request.items.delete(itemId);
        this.#guessed = { request, responseId };
      }
      this.#conflicts = 0;
      for (const itemId of request.items.keys()) this.#acknowledged.delete(itemId);
      if (!this.#stopRequest) return [{ discard: false }, []];
      this.#stopRequest = false;
      this.#active.set(responseId, true);
      return [{ discard: true }, [{ type: 'cancel', responseId }]];
    }
    for (const itemId of mayBeOlder ? [] : this.#acknowledged) {
      this.#forget(itemId);
      request?.items.delete(itemId);
    }
    return [{ discard: false }, []];
  }

  /** A response is over. */
  closed(responseId: string): void {
    this.#active.delete(responseId);
    if (this.#guessed?.responseId === responseId) this.#guessed = undefined;
    this.#blocked = false;
  }

  /**
   * A request was refused because another response is active. Whether it will be made again; otherwise the host has to hear of it.
   * @param eventId what the refusal says it answers; it does not always say
   */
  conflict(eventId: string | undefined): boolean {
    const request = this.#refusedRequest(eventId);
    if (request === undefined) return true;
    if (this.#request === request) this.#request = undefined;
    else this.#guessed = undefined;
    const stopped = this.#stopRequest;
    this.#stopRequest = false;
    if (stopped) return true;
    this.#conflicts++;
    if (this.#conflicts > mostConflicts) {
      this.#conflicts = 0;
      return false;
    }
    this.#waiting = new Map([...request.items, ...this.#waiting]);
    this.#blocked = this.#active.size === 0;
    return true;
  }

  /** Time has passed since a request was refused for no reason that is known. */
  unblock(): void {
    this.#blocked = false;
  }

  /** A request was refused for another reason, or is answered by nothing. Whether it was one. */
  requestFailed(eventId: string | undefined): boolean {
    if (eventId === undefined || eventId !== this.#request?.key) return false;
    this.#request = undefined;
    this.#stopRequest = false;
    return true;
  }

  /** What there is to be sent now. */
  next(): ResponseAction | undefined {
    if (this.isBusy || this.#blocked || !this.#mayAsk()) return undefined;
    const key = `cp_rc_${++this.#requests}`;
    // Results of a batch that is not complete go along: the response sees them, and the last of them asks again.
    this.#request = { key, items: this.#waiting };
    this.#waiting = new Map();
    return { type: 'create', key };
  }

  #mayAsk(): boolean {
    if (this.#waiting.size === 0) return false;
    const open = new Set(this.#calls.values());
    for (const { batch } of this.#waiting.values()) if (batch === undefined || !open.has(batch)) return true;
    return false;
  }

  #refusedRequest(eventId: string | undefined): Request | undefined {
    return [this.#request, this.#guessed?.request].find((request) => {
      return request !== undefined && (eventId === undefined || eventId === request.key);
    });
  }

  #forget(itemId: string): void {
    this.#waiting.delete(itemId);
    this.#acknowledged.delete(itemId);
  }
}
