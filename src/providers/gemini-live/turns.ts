/** What a `turnComplete` means: give it, hold it back, or it was told already. */
export type CompletionVerdict = 'give' | 'hold' | 'swallow';

/**
 * Where a turn of Gemini Live ends. The wire names no turns: `turnComplete` is
 * the only fence between two of them.
 *
 * - G1 `interrupted` ends the turn at once; if a `turnComplete` is still owed for it, all that comes before that belongs
 *   to the cut turn and is dropped, and it is swallowed
 * - G2 an `interrupted` that repeats the last one is told once; one with no turn open (playback, or a "phantom") is told,
 *   and owes nothing
 * - G3 a `turnComplete` right after blocking calls, with no content since, may be the end of a first half only (Vertex
 *   sends the answer as a second turn): it is held. Content lets it go, an `interrupted` takes its place, a second
 *   `turnComplete` or the end of the hold gives it
 * - G4 a `turnComplete` of which nothing was seen since the last terminal repeats that one, unless it states a reason
 *
 * A transcript may trail the `turnComplete` of its own turn, so it alone does
 * not make another one owed: a fence that nothing ends would swallow a whole turn.
 */
export class Turns {
  /** Signs of a turn since the last terminal. */
  #seen = false;
  /** The model works on a turn: its `turnComplete` is to come. */
  #owed = false;
  /** The owed `turnComplete` is that of a cut turn. */
  #fenced = false;
  #held = false;
  #last: 'none' | 'turn_complete' | 'interrupted' = 'none';
  /** Blocking calls since the last content. */
  readonly #calls = new Set<string>();

  /** Audio or text of the model: whether it may pass. */
  content(): boolean {
    if (!this.working()) return false;
    this.#calls.clear();
    return true;
  }

  /** A transcript of what the model says: whether it may pass. */
  transcript(): boolean {
    if (this.#fenced) return false;
    this.#held = false;
    this.#seen = true;
    this.#calls.clear();
    return true;
  }

  /** A sign of work that is not given to the host (a thought, code): whether it belongs to a turn that goes on. */
  working(): boolean {
    if (this.#fenced) return false;
    this.#held = false;
    this.#seen = true;
    this.#owed = true;
    return true;
  }

  /** The model will say no more in this turn; what was said may still be played. */
  generated(): void {
    if (this.#fenced) return;
    this.#seen = true;
    // Where the turnComplete is held, it came already.
    if (!this.#held) this.#owed = true;
  }

  /** A call: whether it may pass. `blocking`: the model waits for its result. */
  call(id: string, blocking: boolean): boolean {
    if (!this.working()) return false;
    if (blocking) this.#calls.add(id);
    return true;
  }

  /** A call is withdrawn: no answer to it will come. */
  withdrawn(id: string): void {
    this.#calls.delete(id);
  }

  /** The user was heard: a turn that completes now is one of its own, even if the model says nothing. */
  heard(): void {
    if (this.#last !== 'interrupted') this.#seen = true;
  }

  /** `interrupted`: whether it is to be told. */
  interrupted(): boolean {
    if (this.#fenced || (this.#last === 'interrupted' && !this.#seen)) return false;
    this.#fenced = this.#owed;
    this.#held = false;
    this.#end('interrupted');
    return true;
  }

  /** `turnComplete`. `stated`: it gives a reason of its own, and so repeats nothing. `failed`: the reason is a failure, and no answer will come. */
  complete(stated: boolean, failed: boolean): CompletionVerdict {
    this.#owed = false;
    if (this.#fenced) {
      this.#fenced = false;
      return 'swallow';
    }
    if (!this.#held && !failed && this.#calls.size > 0) {
      this.#held = true;
      return 'hold';
    }
    if (!this.#seen && !stated && this.#last !== 'none') return 'swallow';
    this.#held = false;
    this.#end('turn_complete');
    return 'give';
  }

  /** The hold is over: whether there is a `turnComplete` to give. */
  release(): boolean {
    if (!this.#held) return false;
    this.#held = false;
    this.#end('turn_complete');
    return true;
  }

  #end(terminal: 'turn_complete' | 'interrupted'): void {
    this.#last = terminal;
    this.#seen = false;
    this.#calls.clear();
  }
}
