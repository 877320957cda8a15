/**
 * The strict reading of a protobuf message, before the library reads it. The
 * library takes a value of any wire type for any field, and lets a message run
 * over its own end; here both are faults.
 *
 * Invariants kept here:
 *
 * K1. What passes is whole: every value ends within its message, and the
 *     message where its bytes do.
 * K2. A known field has the wire type of its type, or comes packed where it is
 *     a list of numbers. An unknown one may have any, groups included.
 * K3. Messages and groups within one another: {@link maxDepth} at most.
 * K4. One pass, and no allocation but that of a fault.
 */
import { Fault } from '../fault.js';
import { type FieldPlan, type MessagePlan, wireTypes } from './plan.js';

/** How deep messages may stand in one another, the outermost counted. What the library takes. */
export const maxDepth = 100;

/** Set in the answer of {@link checkMessage}: there are fields of type `bytes`, or unknown ones, of which the library keeps views. */
export const holdsViews = 1;

/** Reads texts too, to say which of them is no UTF-8; for the way into an error only. */
let textReader: InstanceType<typeof TextDecoder> | undefined;

/** Where the last number that {@link readVarint} read has ended. */
let cursor = 0;
/** Where the message under check begins: faults count from there. */
let origin = 0;

/**
 * Checks the message in `bytes` from `start` to `end`.
 *
 * @returns 0, or {@link holdsViews}
 * @throws {Fault}
 */
export function checkMessage(plan: MessagePlan, bytes: Uint8Array, start: number, end: number): number {
  origin = start;
  return walk(plan, bytes, start, end, 1);
}

/**
 * The same, for bytes that passed and that the library refused for all that: finds the text that is no UTF-8.
 *
 * @throws {Fault}
 */
export function checkTexts(plan: MessagePlan, bytes: Uint8Array, start: number, end: number): void {
  textReader = new TextDecoder('utf-8', { fatal: true });
  try {
    checkMessage(plan, bytes, start, end);
  } finally {
    textReader = undefined;
  }
}

function walk(plan: MessagePlan, bytes: Uint8Array, start: number, end: number, depth: number): number {
  if (depth > maxDepth) throw tooDeep(start);
  const fields = plan.fields;
  let answer = 0;
  let pos = start;
  while (pos < end) {
    const tagAt = pos;
    let tag = bytes[pos++] as number;
    if (tag > 0x7f) {
      tag = readTag(bytes, tagAt, end);
      pos = cursor;
    }
    const number = tag >>> 3;
    const wireType = tag & 7;
    const field = number < fields.length ? fields[number] : undefined;
    if (field === undefined) {
      if (number === 0) throw new Fault('a field number from 1', `0 ${at(tagAt)}`);
      pos = skip(bytes, pos, end, number, wireType, depth, tagAt);
      answer |= holdsViews;
      continue;
    }
    if (wireType !== field.wireType && !(field.mayBePacked && wireType === wireTypes.delimited)) {
      throw wrongWireType(plan, field, wireType, tagAt);
    }
    switch (wireType) {
      case wireTypes.varint:
        pos = skipVarint(bytes, pos, end);
        continue;
      case wireTypes.fixed32:
        pos += 4;
        break;
      case wireTypes.fixed64:
        pos += 8;
        break;
      default: {
        let length = pos < end ? (bytes[pos++] as number) : cutOffLength(end);
        if (length > 0x7f) {
          length = readLength(bytes, pos - 1, end);
          pos = cursor;
        }
        const from = pos;
        pos += length;
        if (pos > end) break;
        if (field.inner !== undefined) {
          // an entry of a map is a message on the wire, but none that the library counts
          answer |= walk(field.inner, bytes, from, pos, field.content === 'entry' ? depth : depth + 1);
        } else if (field.content === 'text') {
          if (textReader !== undefined) readText(plan, field, bytes, from, pos);
        } else if (field.content === 'bytes') answer |= holdsViews;
        else checkPacked(field, bytes, from, pos);
        continue;
      }
    }
    if (pos > end) throw new Fault(`${field.name} of ${plan.name} to end within its message`, `its end ${at(end)}`);
  }
  return answer;
}

/** @returns where the value ends */
function skip(
  bytes: Uint8Array,
  start: number,
  end: number,
  number: number,
  wireType: number,
  depth: number,
  tagAt: number,
): number {
  let pos = start;
  switch (wireType) {
    case wireTypes.varint:
      return skipVarint(bytes, pos, end);
    case wireTypes.fixed32:
      pos += 4;
      break;
    case wireTypes.fixed64:
      pos += 8;
      break;
    case wireTypes.delimited:
      pos = readLength(bytes, pos, end) + cursor;
      break;
    case wireTypes.startGroup:
      return skipGroup(bytes, pos, end, number, depth + 1);
    case wireTypes.endGroup:
      throw new Fault('a group to begin before it ends', `the end of group ${number} ${at(tagAt)}`);
    default:
      throw new Fault('a wire type of 0 … 5', `${wireType} ${at(tagAt)}`);
  }
  if (pos > end) throw new Fault(`field ${number} to end within its message`, `its end ${at(end)}`);
  return pos;
}

function skipGroup(bytes: Uint8Array, start: number, end: number, group: number, depth: number): number {
  if (depth > maxDepth) throw tooDeep(start);
  let pos = start;
  while (pos < end) {
    const tagAt = pos;
    const tag = readTag(bytes, pos, end);
    pos = cursor;
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (number === 0) throw new Fault('a field number from 1', `0 ${at(tagAt)}`);
    if (wireType === wireTypes.endGroup) {
      if (number === group) return pos;
      throw new Fault(`the end of group ${group}`, `the end of group ${number} ${at(tagAt)}`);
    }
    pos = skip(bytes, pos, end, number, wireType, depth, tagAt);
  }
  throw new Fault(`the end of group ${group}`, `the end of its message ${at(end)}`);
}

function checkPacked(field: FieldPlan, bytes: Uint8Array, start: number, end: number): void {
  if (field.wireType === wireTypes.varint) {
    for (let pos = start; pos < end; ) pos = skipVarint(bytes, pos, end);
    return;
  }
  const width = field.wireType === wireTypes.fixed32 ? 4 : 8;
  if ((end - start) % width === 0) return;
  throw new Fault(`numbers of ${width} bytes in ${field.name}`, `${end - start} bytes ${at(start)}`);
}

function readText(plan: MessagePlan, field: FieldPlan, bytes: Uint8Array, start: number, end: number): void {
  try {
    textReader?.decode(bytes.subarray(start, end));
  } catch {
    throw new Fault(`UTF-8 in ${field.name} of ${plan.name}`, `other bytes ${at(start)}`);
  }
}

/** @returns where the number ends; of its ten bytes at most the last has one bit */
function skipVarint(bytes: Uint8Array, start: number, end: number): number {
  const most = start + 10;
  let pos = start;
  while (pos < end && pos < most) {
    const byte = bytes[pos++] as number;
    if (byte < 0x80) {
      if (pos === most && byte > 1) break;
      return pos;
    }
  }
  if (pos < most) throw new Fault('a number to end within its message', `its end ${at(end)}`);
  throw new Fault('a number of 64 bits at most', `a longer one ${at(start)}`);
}

function readTag(bytes: Uint8Array, start: number, end: number): number {
  return readUint32(bytes, start, end, 'a field number and wire type');
}

function readLength(bytes: Uint8Array, start: number, end: number): number {
  return readUint32(bytes, start, end, 'a length');
}

/** Reads a number of 32 bits at most, and sets {@link cursor}. */
function readUint32(bytes: Uint8Array, start: number, end: number, what: string): number {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    if (start + i >= end) throw new Fault(`${what} to end within its message`, `its end ${at(end)}`);
    const byte = bytes[start + i] as number;
    if (i === 4 && byte > 0x0f) break;
    value = (value | ((byte & 0x7f) << (i * 7))) >>> 0;
    if (byte < 0x80) {
      cursor = start + i + 1;
      return value;
    }
  }
  throw new Fault(`${what} of 32 bits at most`, `a longer one ${at(start)}`);
}

function cutOffLength(end: number): never {
  throw new Fault('a length to end within its message', `its end ${at(end)}`);
}

function wrongWireType(plan: MessagePlan, field: FieldPlan, wireType: number, tagAt: number): Fault {
  return new Fault(`wire type ${field.wireType} for ${field.name} of ${plan.name}`, `${wireType} ${at(tagAt)}`);
}

function tooDeep(start: number): Fault {
  return new Fault(`messages at most ${maxDepth} deep`, `a deeper one ${at(start)}`);
}

function at(position: number): string {
  return `at byte ${position - origin} of the message`;
}
