import { pushedProvider } from '../driver.mjs';
import { Meter, nextTurn } from '../meter.mjs';

const perTurn = 16;
const measureMs = 600;

/**
 * A reader that comes late: text events are said, sixteen a turn of the event
 * loop as in `text.mjs`, while nobody reads; then all are read at once. Counts
 * both halves, saying and reading.
 * @param {import('../contestants.mjs').Start} start
 * @param {{ unread: number, readAtMost?: number }} options `readAtMost`: stop there, for those who would read for
 *   minutes; the cost of an event is then its share of the saying and of the reading that was done.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function backlog(start, { unread, readAtMost = unread }) {
  for (let warmUp = 0; warmUp < 16; warmUp += 1) await cycle(start, 8_192, 8_192, new Meter(), new Meter());
  const saying = new Meter();
  const reading = new Meter();
  do {
    await cycle(start, unread, Math.min(unread, readAtMost), saying, reading);
  } while (saying.cpuMs + reading.cpuMs < measureMs);
  return {
    value: 1e6 / (saying.each + reading.each),
    unit: '/CPU-s',
    wallMs: Math.round(saying.wallMs + reading.wallMs),
  };
}

/**
 * @param {import('../contestants.mjs').Start} start
 * @param {number} unread
 * @param {number} read
 * @param {Meter} saying
 * @param {Meter} reading
 */
async function cycle(start, unread, read, saying, reading) {
  const provider = pushedProvider();
  const session = await start({ provider, connect: { model: 'm' }, maxBufferedEvents: unread });
  const driver = /** @type {import('../driver.mjs').PushedSession} */ (provider.sessions[0]);
  await nextTurn();

  saying.start();
  await new Promise((/** @type {(nothing: void) => void} */ resolve) => {
    let said = 0;
    const turn = () => {
      if (said === unread) return resolve();
      for (let at = 0; at < perTurn; at += 1) driver.push({ type: 'text', text: 'word' });
      said += perTurn;
      setImmediate(turn);
    };
    turn();
  });
  saying.stop(unread);

  reading.start();
  let heard = 0;
  for await (const event of session.events()) {
    if (event.type !== 'text') throw new Error(`expected text, heard ${event.type}`);
    heard += 1;
    if (heard === read) break;
  }
  reading.stop(read);

  if (heard !== read) throw new Error(`${read} events were to be read, ${heard} were`);
  await session.close();
}
