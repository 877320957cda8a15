import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { refuse } from './refuse.js';

const noBytes = new Uint8Array(0);

/** What an unset field of this type reads as. */
export function zeroOf(type: ScalarType, longAsString: boolean): unknown {
  switch (type) {
    case ScalarType.STRING:
      return '';
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return noBytes;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.SINT64:
      return longAsString ? '0' : 0n;
    default:
      return 0;
  }
}

/** A scalar from outside as our own. @throws {InvalidInputError} for one that the field cannot hold */
export function adoptScalar(field: DescField, type: ScalarType, longAsString: boolean, value: unknown): unknown {
  switch (type) {
    case ScalarType.STRING:
      return adoptString(field, value);
    case ScalarType.BOOL:
      if (typeof value !== 'boolean') refuse(field, 'a boolean', value);
      return value;
    case ScalarType.BYTES:
      return adoptBytes(field, value);
    case ScalarType.FLOAT:
      if (typeof value !== 'number') refuse(field, 'a number', value);
      return singlePrecision(value);
    case ScalarType.DOUBLE:
      if (typeof value !== 'number') refuse(field, 'a number', value);
      return value;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      if (!isInteger(value, 0, 0xffffffff)) refuse(field, 'an unsigned integer of 32 bits', value);
      return value;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      if (!isInteger(value, -0x80000000, 0x7fffffff)) refuse(field, 'an integer of 32 bits', value);
      return value;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return adoptLong(field, longAsString, value, (long) => BigInt.asUintN(64, long));
    default:
      return adoptLong(field, longAsString, value, (long) => BigInt.asIntN(64, long));
  }
}

/** A text from outside. One with half of a surrogate pair has no UTF-8, and could never be written again. */
export function adoptString(where: { toString(): string }, value: unknown): string {
  if (typeof value !== 'string') refuse(where, 'a string', value);
  if (!isWellFormed(value)) refuse(where, 'a string without half characters', value);
  return value;
}

// newer than the oldest browsers that run the rest
const native = (String.prototype as { isWellFormed?: () => boolean }).isWellFormed;
const isWellFormed = (text: string): boolean =>
  native === undefined ? !/\p{Surrogate}/u.test(text) : native.call(text);

/** The number of an enum value; those that the schema does not name are kept. */
export function adoptEnum(field: DescField, value: unknown): number {
  if (!isInteger(value, -0x80000000, 0x7fffffff)) refuse(field, 'the number of an enum value', value);
  return value as number;
}

/** A copy of bytes from outside. */
export function adoptBytes(where: { toString(): string }, value: unknown): Uint8Array {
  // by its tag, since bytes may come from another realm
  if (!ArrayBuffer.isView(value) || Object.prototype.toString.call(value) !== '[object Uint8Array]') {
    refuse(where, 'a Uint8Array', value);
  }
  return new Uint8Array(value as Uint8Array);
}

function adoptLong(field: DescField, asString: boolean, value: unknown, wrapped: (long: bigint) => bigint): unknown {
  if (asString) {
    if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) refuse(field, 'an integer of 64 bits as text', value);
    const long = BigInt(value);
    if (wrapped(long) !== long) refuse(field, 'an integer of 64 bits as text', value);
    return value;
  }
  if (typeof value !== 'bigint' || wrapped(value) !== value) refuse(field, 'an integer of 64 bits', value);
  return value;
}

function isInteger(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/**
 * A number as a `float` holds it, written with the fewest digits that say so:
 * the wire holds 0.1 as 0.10000000149011612, and both are 0.1 here. So a state
 * is the same whether its events came as JSON or as bytes.
 */
export function singlePrecision(value: number): number {
  if (Number.isInteger(value) && Math.fround(value) === value) return value;
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single;
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(single.toPrecision(digits));
    if (Math.fround(shorter) === single) return shorter;
  }
  return Number(single.toPrecision(9));
}
