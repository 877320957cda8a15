/**
 * Whether a value is base64 as RFC 4648 §4 has it: the standard alphabet,
 * padded, and at least one byte. Nothing is decoded.
 */
export function isBase64(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length % 4 === 0 && shape.test(value);
}

const shape = /^[A-Za-z0-9+/]*={0,2}$/;
