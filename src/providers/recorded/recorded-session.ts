import { ResultRefusedError, SessionEndedError } from '../../contract/errors.js';
import type { BidiEvent, BidiSession } from '../../contract/provider.js';
import { closedReason, type WireMapping, type WireStep } from '../../contract/wire-mapping.js';
import type { RecordedFrame } from './recording.js';

/** What a recording comes to, once played through a mapping. */
export interface Playback {
  readonly events: readonly BidiEvent[];
  /** Ids of the calls whose result the recorded far side acknowledged; `undefined` where this kind of far side never does. */
  readonly acknowledged: ReadonlySet<string> | undefined;
  /** What the recorded far side said of results that it refused, by call id. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Plays the server's frames through a fresh mapping, up to the first close. */
export function play(frames: readonly RecordedFrame[], mapping: WireMapping): Playback {
  const events: BidiEvent[] = [];
  const acknowledged = new Set<string>();
  const refused = new Map<string, string>();
  const take = (step: WireStep) => {
    for (const event of step.events) events.push(event);
    for (const fact of step.facts) {
      if (fact.type === 'acknowledged' && fact.callId !== undefined) acknowledged.add(fact.callId);
      if (fact.type === 'error' && fact.treatment === 'refused' && fact.callId !== undefined) {
        refused.set(fact.callId, fact.message);
      }
    }
  };
  let closed: BidiEvent | undefined;
  for (const frame of frames) {
    if (frame.dir === 'c2s') continue;
    if ('close' in frame) {
      closed = { type: 'closed', reason: closedReason(frame.close.code, frame.close.reason) };
      break;
    }
    take(mapping.frame(frame.data));
  }
  take(mapping.release());
  if (closed !== undefined) events.push(closed);
  return { events, acknowledged: mapping.acknowledges ? acknowledged : undefined, refused };
}

/**
 * How many turns of the microtask queue the host gets after a call before the
 * next event: in the recording the far side waited for the result, so a stub
 * that answers at once must not be overtaken by the end of the file.
 */
const turnsAfterCall = 64;

/** A session with a far side that says what it said when it was recorded, as fast as it is asked. */
export class RecordedSession implements BidiSession, AsyncIterableIterator<BidiEvent> {
  #next = 0;
  #ended: string | undefined;
  #afterCall = false;
  readonly #pending = new Map<string, (error: Error) => void>();

  constructor(readonly playback: Playback) {}

  /** Takes input as the far side would; what was recorded does not answer to it. */
  async send(): Promise<void> {
    if (this.#ended !== undefined) throw new SessionEndedError(this.#ended);
  }

  /**
   * Resolves if the recording holds the acknowledgement of this call's result,
   * wherever it stands, and rejects if it holds its refusal. Otherwise it is
   * pending until the session ends, as it was for the recorded client.
   */
  sendToolResult(id: string): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(new SessionEndedError(this.#ended));
    const { acknowledged, refused } = this.playback;
    if (acknowledged === undefined || acknowledged.has(id)) return Promise.resolve();
    const refusal = refused.get(id);
    if (refusal !== undefined) return Promise.reject(new ResultRefusedError(id, refusal));
    return new Promise((_, reject) => this.#pending.set(id, reject));
  }

  /** One reader: a second one goes on where the first stopped. */
  events(): AsyncIterable<BidiEvent> {
    return this;
  }

  async close(): Promise<void> {
    this.#end('closed by the host');
  }

  async next(): Promise<IteratorResult<BidiEvent>> {
    if (this.#afterCall) {
      this.#afterCall = false;
      for (let turn = 0; turn < turnsAfterCall; turn++) await undefined;
    }
    const event = this.#ended === undefined ? this.playback.events[this.#next++] : undefined;
    if (event === undefined) return { done: true, value: undefined };
    if (event.type === 'tool_call') this.#afterCall = true;
    if (event.type === 'closed') this.#end(event.reason ?? 'closed by the far side');
    return { done: false, value: event };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    for (const reject of this.#pending.values()) reject(new SessionEndedError(reason));
  }
}
