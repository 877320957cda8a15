/** The mark that stands for any run of characters, none included. */
export const anyRun = '…';

/**
 * Whether a text is what a pattern says: the same text, but that each `…` of the
 * pattern stands for any run of characters. Takes one pass: the leftmost place of a
 * piece leaves the most room for the pieces behind it, so nothing is ever tried twice.
 */
export function matchesText(pattern: string, text: string): boolean {
  const pieces = pattern.split(anyRun);
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return from <= end;
}
