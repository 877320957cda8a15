/** Text for a terminal: harmless, measured in columns, cut where it does not fit. */

// Control characters, line ends, and marks that are not seen or turn the direction of writing round.
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with whatever could move the cursor, or hide, written as an escape. */
export function harmless(text: string): string {
  return text.replace(harmful, (mark) => escapes[mark] ?? `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`);
}

/** What somebody said, in quotation marks. */
export function quoted(text: string): string {
  return `“${text}”`;
}

/** How many columns a terminal gives to a text, to all that matters here: East Asian wide characters and emoji take two, combining marks none. */
export function columns(text: string): number {
  let sum = 0;
  for (const character of text) sum += columnsOf(character);
  return sum;
}

function columnsOf(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  const wide =
    code >= 0x1100 &&
    (code <= 0x115f ||
      (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0x1f300 && code <= 0x1faff) ||
      (code >= 0x20000 && code <= 0x3fffd));
  return wide ? 2 : 1;
}

/** The head of a text, at most so many columns wide; a cut is marked by `…`. */
export function cut(text: string, width: number): string {
  if (columns(text) <= width) return text;
  let used = 1;
  let head = '';
  for (const character of text) {
    used += columnsOf(character);
    if (used > width) break;
    head += character;
  }
  return width < 1 ? '' : `${head}…`;
}

/** The tail of a name: names that a machine made differ there. */
export function cutName(name: string, width: number): string {
  const safe = harmless(name);
  if (columns(safe) <= width) return safe;
  let used = 1;
  let tail = '';
  for (const character of [...safe].reverse()) {
    used += columnsOf(character);
    if (used > width) break;
    tail = character + tail;
  }
  return width < 1 ? '' : `…${tail}`;
}

/** Fills a text up to so many columns. */
export function fill(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

/** The id of a call in a row of words: whole where it is short. */
export function callName(id: string): string {
  return cutName(id, 12);
}
