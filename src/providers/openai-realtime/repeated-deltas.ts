import { Recent } from '../../contract/recent.js';

/**
 * Knows a delta frame that came before: the same `event_id` with the same
 * content. An id alone does not prove a repeat, since some servers and scrubbed
 * recordings use one id for many frames. The last 256 frames are remembered.
 */
export class RepeatedDeltas {
  readonly #seen = new Recent<string>(256);

  /** Whether the frame repeats an earlier one; it is remembered either way. */
  isRepeat(eventId: string, type: string, delta: string): boolean {
    // No more than 12 characters: a longer slice would keep the whole delta, often 16 kB of audio, in memory.
    const content = `${type} ${delta.length} ${delta.slice(0, 12)}`;
    if (this.#seen.get(eventId) === content) return true;
    this.#seen.set(eventId, content);
    return false;
  }
}
