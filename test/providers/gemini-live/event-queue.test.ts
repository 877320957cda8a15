import { expect, it } from 'vitest';
import { EventQueue } from '../../../src/providers/gemini-live/event-queue.js';

const text = (words: string) => ({ type: 'text', text: words }) as const;

it('counts events and characters, and has room again when they were read', async () => {
  const queue = new EventQueue({ events: 3, characters: 10 });
  queue.push(text('12345'));
  queue.push({ type: 'audio', data: '12345', mediaType: 'audio/pcm' });
  expect(queue.hasRoom).toBe(false);
  await queue.next();
  expect(queue.hasRoom).toBe(true);
  queue.push({ type: 'tool_call', id: 'c', name: 'n', arguments: '' });
  expect(queue.hasRoom).toBe(true);
  queue.push({ type: 'turn_complete' });
  expect(queue.hasRoom).toBe(false);
  for (let n = 0; n < 3; n++) await queue.next();
  expect(queue.hasRoom).toBe(true);
});

it('keeps its order through thousands of events, read in pieces', async () => {
  const queue = new EventQueue({ events: 1e6, characters: 1e6 });
  const read: string[] = [];
  for (let n = 0; n < 5000; n++) {
    queue.push(text(`${n}`));
    if (n % 3 === 0) read.push(((await queue.next()).value as { text: string }).text);
  }
  queue.end();
  for await (const event of queue) read.push((event as { text: string }).text);
  expect(read).toEqual(Array.from({ length: 5000 }, (_, n) => `${n}`));
  expect(queue.hasRoom).toBe(true);
});

it('answers readers that wait, in their order, and all of them at the end', async () => {
  const queue = new EventQueue({ events: 10, characters: 10 });
  const waiting = [queue.next(), queue.next(), queue.next()];
  queue.push(text('a'));
  queue.push(text('b'));
  queue.end();
  queue.push(text('c'));
  expect(await Promise.all(waiting)).toEqual([
    { done: false, value: text('a') },
    { done: false, value: text('b') },
    { done: true, value: undefined },
  ]);
  expect(await queue.next()).toEqual({ done: true, value: undefined });
});
