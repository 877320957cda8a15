import { pushedProvider } from '../driver.mjs';
import { collect, nextTurn } from '../meter.mjs';

const count = 10_000;

/**
 * What an open session weighs on the heap that nothing happens in: bytes for
 * each of ten thousand, all garbage collected before and after. The driver's
 * connection is in it, the same few hundred bytes for every contestant.
 * @param {import('../contestants.mjs').Start} start
 * @param {{ read?: boolean }} options `read`: whether a `for await` waits for the events of each.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function idleHeap(start, { read = true }) {
  let heard = 0;
  /** @param {import('../contestants.mjs').Session} session */
  const listen = async (session) => {
    for await (const _ of session.events()) heard += 1;
  };
  /** @param {number} howMany */
  const open = async (howMany) => {
    const provider = pushedProvider();
    const sessions = [];
    const readers = [];
    for (let at = 0; at < howMany; at += 1) {
      const session = await start({ provider, connect: { model: 'm' } });
      sessions.push(session);
      if (read) readers.push(listen(session));
    }
    return { provider, sessions, readers };
  };
  /** @param {Awaited<ReturnType<typeof open>>} opened */
  const close = async ({ sessions, readers }) => {
    for (const session of sessions) await session.close();
    for (const reader of readers) await reader;
  };

  await close(await open(500));
  await nextTurn();
  collect();
  const before = process.memoryUsage().heapUsed;
  const opened = await open(count);
  await nextTurn();
  collect();
  const after = process.memoryUsage().heapUsed;

  heard = 0;
  for (const driver of opened.provider.sessions) driver.push({ type: 'text', text: 'awake' });
  await nextTurn();
  if (read && heard !== count) throw new Error(`${count} sessions were open, ${heard} delivered`);
  await close(opened);
  return { value: (after - before) / count, unit: 'B' };
}
