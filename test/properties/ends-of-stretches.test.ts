/**
 * The end of a stretch is taken with the output before it only while no call is open: where code is about to answer, what an
 * interruption behind output comes to is the same for a driver that offers what waits as for one of promises alone.
 */
import { expect, it } from 'vitest';
import type { BidiEvent, BidiEventIterator } from '../../src/contract/provider.js';
import { EventQueue } from '../../src/providers/scripted/event-queue.js';
import { defineTool, startSession } from '../../src/runtime/index.js';
import { quiet } from '../../src/testing/quiet.js';

/** Whose code answers after so many turns of the microtask queue. */
const answering = (turns: number) =>
  defineTool({
    name: 'answer',
    description: 'Answers soon.',
    input: { type: 'object' },
    effect: 'read',
    execute: async () => {
      for (let turn = 0; turn < turns; turn++) await undefined;
      return 'done';
    },
  });

/** A call, so many pieces of text and an interruption, all in one burst: what becomes of the call. */
async function outcome(offersWhatWaits: boolean, texts: number, turns: number): Promise<string | undefined> {
  const queue = new EventQueue<BidiEvent>();
  const iterator: BidiEventIterator = { next: () => queue.next(), return: () => queue.return() };
  if (offersWhatWaits) iterator.takeWaiting = () => queue.takeWaiting();
  const connection = {
    send: async () => {},
    sendToolResult: async () => {},
    events: () => ({ [Symbol.asyncIterator]: () => iterator }),
    close: async () => queue.end(),
  };
  const session = await startSession({
    provider: { id: 'far', connect: async () => connection },
    connect: { model: 'm' },
    tools: [answering(turns)],
  });
  queue.push({ type: 'tool_call', id: 'a', name: 'answer', arguments: '{}' });
  for (let text = 0; text < texts; text++) queue.push({ type: 'text', text: 'x' });
  queue.push({ type: 'interrupted' });
  await quiet();
  const state = session.calls()[0]?.state;
  await session.close();
  return state;
}

it.each([0, 1, 4, 8])('behind a call and %i pieces of text', async (texts) => {
  for (const turns of [0, 1, 2, 4, 6, 9]) {
    expect({ turns, state: await outcome(true, texts, turns) }).toEqual({
      turns,
      state: await outcome(false, texts, turns),
    });
  }
});
