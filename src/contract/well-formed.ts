const half = /\p{Surrogate}/u;

/** Whether a text is Unicode: no half of a character stands alone in it, as where it was cut within one. No wire can carry another. */
export function isWellFormed(text: string): boolean {
  return !half.test(text);
}

/** Whether every text in a message is {@link isWellFormed}, keys of maps among them. The message does not hold itself. */
export function holdsWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  if (Array.isArray(value)) return value.every(holdsWellFormed);
  return Object.entries(value).every(([key, inner]) => isWellFormed(key) && holdsWellFormed(inner));
}
