/**
 * A short digest of a text or of bytes: 64 bits and the length. Equal contents have equal digests; it tells a repeat from a
 * conflict, and is no seal against an attacker. A text is taken by its UTF-16 units, so that it has another digest than its
 * UTF-8 where it is more than ASCII.
 */
export function digestOf(content: string | Uint8Array): string {
  let folded = 0x811c9dc5; // FNV-1a
  let rolled = 7; // and a polynomial of another kind, so that one's collisions are not the other's
  const { length } = content;
  if (typeof content === 'string') {
    for (let i = 0; i < length; i++) {
      const unit = content.charCodeAt(i);
      folded = Math.imul(folded ^ unit, 0x01000193);
      rolled = (Math.imul(rolled, 31) + unit) | 0;
    }
  } else {
    for (let i = 0; i < length; i++) {
      const byte = content[i] as number;
      folded = Math.imul(folded ^ byte, 0x01000193);
      rolled = (Math.imul(rolled, 31) + byte) | 0;
    }
  }
  return `${(folded >>> 0).toString(36)}.${(rolled >>> 0).toString(36)}.${length.toString(36)}`;
}
