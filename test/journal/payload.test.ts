import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf, payloadUnder } from '../../src/journal/index.js';
import { property } from '../properties/property.js';

const utf8 = new TextEncoder();

describe('what is kept of a payload', () => {
  test.each(['', 'text', 'größer', '\ud800'])('of the text %j', (text) => {
    expect(payloadUnder('keep', text)).toEqual({ payload: utf8.encode(text) });
    expect(payloadUnder('hash', text)).toEqual({ digest: digestOf(text) });
    expect(payloadUnder('omit', text)).toEqual({});
  });

  test('of bytes', () => {
    const bytes = Uint8Array.of(1, 2, 255);
    expect(payloadUnder('keep', bytes).payload).toBe(bytes);
    expect(payloadUnder('hash', bytes)).toEqual({ digest: digestOf(bytes) });
    expect(payloadUnder('omit', bytes)).toEqual({});
  });
});

describe('a digest', () => {
  const contents = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array());
  property(
    'is the same for the same content, and another for another',
    fc.tuple(contents, contents),
    ([one, other]) => {
      expect(digestOf(one.slice())).toBe(digestOf(one));
      const isSame = typeof one === typeof other && String(one) === String(other);
      if (!isSame && typeof one === typeof other) expect(digestOf(one)).not.toBe(digestOf(other));
      // a text in a record takes a byte a character
      expect(digestOf(one)).toMatch(/^[0-9a-z]+\.[0-9a-z]+\.[0-9a-z]+$/);
    },
  );

  test('is written down in journals: it stays what it is', () => {
    expect(digestOf('')).toBe('ztntfp.7.0');
    expect(digestOf('{"city":"Oslo"}')).toBe(digestOf(utf8.encode('{"city":"Oslo"}')));
    expect(digestOf('{"city":"Oslo"}')).toMatchInlineSnapshot(`"1c5wex.x892j7.f"`);
  });
});
