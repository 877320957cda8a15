import { createInspectionBridge } from 'commitpoint/inspect';
import { pushedProvider } from '../driver.mjs';
import { Meter, nextTurn } from '../meter.mjs';

const perTurn = 16;
const sessions = 1_000;
const measureMs = 700;

/** @typedef {import('commitpoint').Session} Session */

/**
 * Text events of a thousand sessions, as in the work `text`. Who is inspected is said by `inspected`; what is counted by `heard`:
 * the events of the sessions that are not the inspected one, which says nothing meanwhile, or those of that one alone. `by`: who
 * looks on; both make the text that goes over the wire. `in turns`: in many short stretches, every other one with the inspector
 * attached; gives how much faster those are, which hangs less on the process and its neighbours than the ratio of two processes.
 * @param {import('../contestants.mjs').Start} start
 * @param {{ inspected: 'nobody' | 'one' | 'one, in turns' | 'all, and no more', heard?: 'others' | 'inspected', by?: 'bridge' | 'stock' }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function inspected(start, { inspected: who, heard: of = 'others', by = 'bridge' }) {
  const provider = pushedProvider();
  let heard = 0;
  /** @param {import('../contestants.mjs').Session} session */
  const read = async (session) => {
    for await (const event of session.events()) if (event.type !== 'closed') heard += 1;
  };
  const opened = [];
  for (let at = 0; at < sessions; at += 1) {
    const session = await start({ provider, connect: { model: 'm' } });
    opened.push({ session: /** @type {Session} */ (session), reading: read(session) });
  }
  const bridge = createInspectionBridge({ send: () => {} });
  const { session: first } = /** @type {{ session: Session }} */ (opened[0]);
  let stock = 0;
  if (who === 'one' && by === 'bridge') bridge.watch(first);
  if (who === 'one' && by === 'stock') {
    const { createInspector } = await import('@statelyai/inspect');
    const adapter = {
      start() {},
      stop() {},
      send: (/** @type {object} */ event) => (stock += JSON.stringify(event).length),
    };
    first.inspect(createInspector(adapter).inspect);
  }
  if (who === 'all, and no more') for (const detach of opened.map(({ session }) => bridge.watch(session))) detach();

  let said = 0;
  const turn = () => {
    for (let at = 0; at < perTurn; at += 1) {
      const nth = of === 'inspected' ? 0 : 1 + (said % (sessions - 1));
      said += 1;
      const driver = /** @type {import('../driver.mjs').PushedSession} */ (provider.sessions[nth]);
      driver.push({ type: 'text', text: 'word' });
    }
  };
  /** @param {() => boolean} enough */
  const turnsUntil = (enough) =>
    new Promise((/** @type {(nothing: void) => void} */ resolve) => {
      const step = () => {
        if (enough()) return resolve();
        turn();
        setImmediate(step);
      };
      step();
    });

  await turnsUntil(() => said >= (of === 'inspected' ? 16_000 : 160_000));
  await nextTurn();
  const [meter, attached] = [new Meter(), new Meter()];
  /** @param {Meter} by @param {number} ms */
  const stretch = async (by, ms) => {
    const before = said;
    let turns = 0;
    by.start();
    await turnsUntil(() => ++turns % 256 === 0 && by.runningMs >= ms);
    by.stop(said - before);
  };
  if (who === 'one, in turns') {
    for (let nth = 0; nth < 40; nth += 1) {
      // either goes first as often as the other
      for (const isAttached of nth % 2 === 0 ? [true, false] : [false, true]) {
        const detach = isAttached ? bridge.watch(first) : () => {};
        await stretch(isAttached ? attached : meter, measureMs / 20);
        detach();
      }
    }
  } else await stretch(meter, measureMs);

  await nextTurn();
  if (heard !== said) throw new Error(`${said} events were said, ${heard} were heard`);
  const { sent, queued, dropped } = bridge.counts;
  if (who.startsWith('one') && sent + queued + dropped + stock === 0) throw new Error('nobody looked on');
  bridge.close();
  for (const { session, reading } of opened) {
    await session.close();
    await reading;
  }
  return who === 'one, in turns' ? { value: meter.each / attached.each, unit: '×' } : meter.sample;
}
