/** Ways to spoil bytes. */
import fc from 'fast-check';

/** A small change of bytes; what comes out is another array. */
export type Mutation = (bytes: Uint8Array) => Uint8Array;

/** Bytes that mean something to one format or another. */
const telling = [0x00, 0x01, 0x02, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x12, 0x20, 0x22, 0x3a, 0x3d, 0x7f, 0x80, 0xc3, 0xff];

/** One mutation of `bytes`, by numbers below 2³²: which, where, how much. */
export function mutate(bytes: Uint8Array, kind: number, at: number, amount: number): Uint8Array {
  const where = bytes.length === 0 ? 0 : at % bytes.length;
  const head = bytes.subarray(0, where);
  const tail = bytes.subarray(where);
  switch (kind % 7) {
    case 0: // a bit
      return joined(head, [(tail[0] ?? 0) ^ (1 << (amount & 7))], tail.subarray(1));
    case 1: // a byte
      return joined(head, [telling[amount % telling.length] as number], tail.subarray(1));
    case 2: // one more
      return joined(head, [amount & 0xff], tail);
    case 3: // some less
      return joined(head, tail.subarray(1 + (amount % 5)));
    case 4: // the rest
      return head.slice();
    case 5: // some twice
      return joined(head, tail.subarray(0, amount % 9), tail);
    default: // as a length that is too much
      return joined(head, [0xff, 0xff, 0xff, 0xff, amount & 0x0f], tail.subarray(1));
  }
}

const number = fc.nat(0xffff_ffff);

/** A few mutations, one after another. */
export const mutated: fc.Arbitrary<Mutation> = fc
  .array(fc.tuple(number, number, number), { minLength: 1, maxLength: 3 })
  .map((changes) => (bytes) => {
    let result = bytes;
    for (const [kind, at, amount] of changes) result = mutate(result, kind, at, amount);
    return result;
  });

function joined(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part))));
}
