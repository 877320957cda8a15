/** Texts that are no longer than they may be (F3). */

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
