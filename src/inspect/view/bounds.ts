/** Texts that are no longer than they may be (F3). */
import { digestOf } from '../../journal/digest.js';

/** How many characters of one text are shown, unless told. */
export const defaultMaxText = 2000;

/** The head of a text, `max` characters at most; a cut is marked by `…` and goes through no character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = Math.max(0, max - 1);
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return `${text.slice(0, end)}…`;
}

/** No id of this library is so long; a far side may name its calls as it likes. */
export const longestId = 400;

/** An id as it is shown: a longer one by its head and its digest, so that it stays another than all others. */
export function shownId(id: string): string {
  return id.length <= longestId ? id : `${cut(id, 200)}${digestOf(id)}`;
}
