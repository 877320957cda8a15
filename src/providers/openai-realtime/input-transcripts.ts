import type { BidiEvent } from '../../contract/provider.js';
import { Recent } from '../../contract/recent.js';

/** How much of one item's transcript was given. */
interface Given {
  text: string;
  final: string | undefined;
}

/**
 * Transcripts of the user, per item. A non-final `input_text` is the piece that
 * is new, a final one the whole; some services send the whole every time (xAI),
 * and repeat or extend their final one.
 *
 * The last 64 items are remembered, so that memory stays bounded.
 */
export class InputTranscripts {
  readonly #given = new Recent<Given>(64);

  /** A new piece of the transcript. */
  piece(itemId: string, piece: string): BidiEvent | undefined {
    if (piece === '') return undefined;
    this.#of(itemId).text += piece;
    return { type: 'input_text', text: piece, final: false };
  }

  /** All of the transcript so far. One that takes back what was given has no piece to give: the final one will have it. */
  snapshot(itemId: string, text: string): BidiEvent | undefined {
    const given = this.#of(itemId);
    if (!text.startsWith(given.text)) return undefined;
    return this.piece(itemId, text.slice(given.text.length));
  }

  /** The finished transcript. */
  completed(itemId: string, text: string): BidiEvent | undefined {
    const given = this.#of(itemId);
    if (given.final === text) return undefined;
    given.final = text;
    given.text = text;
    return { type: 'input_text', text, final: true };
  }

  #of(itemId: string): Given {
    let given = this.#given.get(itemId);
    if (given === undefined) {
      given = { text: '', final: undefined };
      // Frames that name no item cannot be told apart, so nothing is remembered for them.
      if (itemId !== '') this.#given.set(itemId, given);
    }
    return given;
  }
}
