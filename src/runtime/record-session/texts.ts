/** Texts as a message can hold them, and where they may be cut. */

/** A half of a character, which no message can hold. */
const half = /\p{Surrogate}/gu;
const replacement = '\ufffd';

const isWellFormed = (String.prototype as { isWellFormed?: () => boolean }).isWellFormed;

/** The text with a replacement character for each half of one. */
export function wellFormed(text: string): string {
  // newer than the oldest browsers that run the rest
  if (isWellFormed?.call(text) === true) return text;
  return text.replace(half, replacement);
}

/** Texts that come in pieces, which may be cut within a character: the first half of one waits for the second. */
export class Pieces {
  #half = '';

  /** What can be written of it now. */
  take(piece: string): string {
    const text = this.#half + piece;
    const isCut = (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
    this.#half = isCut ? text.slice(-1) : '';
    return wellFormed(isCut ? text.slice(0, -1) : text);
  }

  /** Nothing more comes: what is left of it. */
  end(): string {
    const left = this.#half === '' ? '' : replacement;
    this.#half = '';
    return left;
  }
}

let words: Intl.Segmenter | undefined;

/** The whole words among the first `length` units of a text, without the space behind the last of them. */
export function wordsWithin(text: string, length: number): string {
  if (length >= text.length) return text;
  return text.slice(0, wordStart(text, Math.max(0, length))).trimEnd();
}

/** Where the word begins that stands at a place. */
function wordStart(text: string, at: number): number {
  if (typeof Intl.Segmenter === 'function') {
    words ??= new Intl.Segmenter(undefined, { granularity: 'word' });
    return words.segment(text).containing(at)?.index ?? at;
  }
  let start = at;
  while (start > 0 && !/\s/.test(text[start - 1] as string)) start--;
  return start;
}
