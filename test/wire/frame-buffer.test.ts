import { expect, test } from 'vitest';
import { FrameBuffer } from '../../src/wire/frame-buffer.js';

test('a buffer gives what it was given', () => {
  const buffer = new FrameBuffer();
  const expected: number[] = [];
  for (let size = 0; size < 60; size++) {
    const piece = Uint8Array.from({ length: size + 4 }, (_, i) => size + i);
    buffer.append(piece, 2, 2 + size);
    expected.push(...piece.subarray(2, 2 + size));
  }
  expect([...buffer.bytes.subarray(0, buffer.length)]).toEqual(expected);
  buffer.truncate(7);
  buffer.append(Uint8Array.of(1, 2), 1, 2);
  expect([...buffer.bytes.subarray(0, buffer.length)]).toEqual([...expected.slice(0, 7), 2]);
});

test('a buffer grows with what comes, twice as much at most, and gives back what a long frame took', () => {
  const buffer = new FrameBuffer();
  const piece = new Uint8Array(1000);
  for (let length = 1000; length <= 1_000_000; length += 1000) {
    buffer.append(piece, 0, 1000);
    expect(buffer.length).toBe(length);
    expect(buffer.bytes.length).toBeLessThanOrEqual(2 * length);
  }
  buffer.clear();
  expect(buffer.length).toBe(0);
  expect(buffer.bytes.length).toBe(0);
  buffer.append(piece, 0, 1000);
  const kept = buffer.bytes;
  buffer.clear();
  // a short one keeps its place for the next
  expect(buffer.bytes).toBe(kept);
  expect(buffer.reserve(100)).toBe(kept);
  expect(buffer.length).toBe(100);
});
