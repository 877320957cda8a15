const halfCharacter = /\p{Surrogate}/u;
const firstByteOfReplacement = 0xef;

/**
 * Finds a text that is no Unicode: half of a character stands alone in it, as where it was cut within one. The library writes
 * U+FFFD in its place, so only a message whose bytes have that in them is searched.
 *
 * @param bytes what `message` was encoded to
 */
export function hasBrokenText(message: object, bytes: Uint8Array): boolean {
  let at = bytes.indexOf(firstByteOfReplacement);
  while (at >= 0 && !(bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd)) {
    at = bytes.indexOf(firstByteOfReplacement, at + 1);
  }
  return at >= 0 && isBroken(message);
}

function isBroken(value: unknown): boolean {
  if (typeof value === 'string') return halfCharacter.test(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  return Object.entries(value).some(([key, inner]) => halfCharacter.test(key) || isBroken(inner));
}
