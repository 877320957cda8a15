import type { BidiEvent } from '../../contract/provider.js';

/**
 * The transcript of what the user says. The service sends it in pieces, and may say with one of them, or with none, that it is
 * finished: the contract's final text is the whole. Often it never says so, therefore what was said before a complete turn is no
 * part of what is said after it.
 */
export class InputTranscript {
  #given = '';

  take(piece: string, isFinished: boolean): BidiEvent | undefined {
    const text = this.#given + piece;
    this.#given = isFinished ? '' : text;
    if (isFinished) return text === '' ? undefined : { type: 'input_text', text, final: true };
    return piece === '' ? undefined : { type: 'input_text', text: piece, final: false };
  }

  /** The turn that answers it is complete. */
  answered(): void {
    this.#given = '';
  }
}
