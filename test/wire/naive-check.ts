/**
 * What the strict check means, written apart from it: each message is cut into its records first, whole, and then the records are
 * held against the schema. Slow, and says yes or no.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';

interface Record {
  readonly number: number;
  readonly wireType: number;
  /** Of a delimited value, without its length; of a group, its records' bytes. */
  readonly content: Uint8Array;
}

class Cut extends Error {}

export function passesNaively(desc: DescMessage, bytes: Uint8Array): boolean {
  try {
    return holds(desc.fields, bytes, 1);
  } catch (error) {
    if (error instanceof Cut) return false;
    throw error;
  }
}

function holds(fields: readonly DescField[], bytes: Uint8Array, depth: number): boolean {
  if (depth > 100) return false;
  return records(bytes, depth).every((record) => {
    const field = fields.find(({ number }) => number === record.number);
    return field === undefined || fieldHolds(field, record, depth);
  });
}

function fieldHolds(field: DescField, { wireType, content }: Record, depth: number): boolean {
  if (field.fieldKind === 'map') {
    const value = field.mapKind === 'scalar' ? field.scalar : ScalarType.INT32;
    return (
      wireType === 2 &&
      records(content, depth).every((part) => {
        if (part.number === 1) return part.wireType === typeOf(field.mapKey);
        if (part.number !== 2) return true;
        if (field.mapKind === 'message')
          return part.wireType === 2 && holds(field.message.fields, part.content, depth + 1);
        return part.wireType === typeOf(value);
      })
    );
  }
  if (field.message !== undefined) return wireType === 2 && holds(field.message.fields, content, depth + 1);
  const expected = typeOf(field.scalar ?? ScalarType.INT32);
  if (wireType === expected) return true;
  if (field.fieldKind !== 'list' || wireType !== 2) return false;
  if (expected === 0) {
    for (let pos = 0; pos < content.length; ) pos = varint(content, pos).end;
    return true;
  }
  return content.length % (expected === 1 ? 8 : 4) === 0;
}

function typeOf(scalar: ScalarType): number {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return 2;
  if ([ScalarType.DOUBLE, ScalarType.FIXED64, ScalarType.SFIXED64].includes(scalar)) return 1;
  return [ScalarType.FLOAT, ScalarType.FIXED32, ScalarType.SFIXED32].includes(scalar) ? 5 : 0;
}

function records(bytes: Uint8Array, depth: number): Record[] {
  const found: Record[] = [];
  let pos = 0;
  while (pos < bytes.length) {
    const record = recordAt(bytes, pos, depth);
    if (record.wireType === 4) throw new Cut();
    found.push(record);
    pos = record.end;
  }
  return found;
}

function recordAt(bytes: Uint8Array, start: number, depth: number): Record & { readonly end: number } {
  const tag = varint(bytes, start, 32);
  const number = Number(tag.value >> 3n);
  const wireType = Number(tag.value & 7n);
  if (number === 0) throw new Cut();
  let from = tag.end;
  let end: number;
  switch (wireType) {
    case 0:
      end = varint(bytes, from).end;
      break;
    case 1:
      end = from + 8;
      break;
    case 2: {
      const length = varint(bytes, from, 32);
      from = length.end;
      end = from + Number(length.value);
      break;
    }
    case 3: {
      if (depth + 1 > 100) throw new Cut();
      end = from;
      for (;;) {
        const inner = recordAt(bytes, end, depth + 1);
        end = inner.end;
        if (inner.wireType !== 4) continue;
        if (inner.number !== number) throw new Cut();
        break;
      }
      break;
    }
    case 4:
      end = from;
      break;
    case 5:
      end = from + 4;
      break;
    default:
      throw new Cut();
  }
  if (end > bytes.length) throw new Cut();
  return { number, wireType, content: bytes.subarray(from, end), end };
}

function varint(bytes: Uint8Array, start: number, bits = 64): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let i = 0; ; i++) {
    const byte = bytes[start + i];
    if (byte === undefined || i >= (bits === 64 ? 10 : 5)) throw new Cut();
    value |= BigInt(byte & 0x7f) << BigInt(i * 7);
    if (byte >= 0x80) continue;
    if (value >> BigInt(bits) !== 0n) throw new Cut();
    return { value, end: start + i + 1 };
  }
}
