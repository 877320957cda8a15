import { holdsWellFormed } from '../contract/well-formed.js';

const firstByteOfReplacement = 0xef;

/**
 * Finds a text that is no Unicode. The library writes U+FFFD in the place of half a character, so only a message whose bytes have
 * that in them is searched.
 *
 * @param bytes what `message` was encoded to
 */
export function hasBrokenText(message: object, bytes: Uint8Array): boolean {
  let at = bytes.indexOf(firstByteOfReplacement);
  while (at >= 0 && !(bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd))
    at = bytes.indexOf(firstByteOfReplacement, at + 1);
  return at >= 0 && !holdsWellFormed(message);
}
