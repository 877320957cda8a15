import { pushedProvider } from '../driver.mjs';
import { Meter, nextTurn } from '../meter.mjs';

/** @typedef {import('commitpoint').BidiEvent} BidiEvent */

const perTurn = 16;
const warmUpEvents = 160_000;
const measureMs = 700;

/**
 * Text events from the driver through a session to a reader's `for await`,
 * sixteen a turn of the event loop (a socket's frame brings so many).
 * @param {import('../contestants.mjs').Start} start
 * @param {{ sessions?: number, controlEvery?: number, promisesAlone?: boolean }} options `sessions`: they take turns, one event each, in a round.
 *   `controlEvery`: each so-many-th event is a `turn_complete` or an `interrupted`, alternately. `promisesAlone`: see `driver.mjs`.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function text(start, { sessions = 1, controlEvery = 0, promisesAlone = false }) {
  const provider = pushedProvider({ promisesAlone });
  let heard = 0;
  /** @param {import('../contestants.mjs').Session} session */
  const read = async (session) => {
    for await (const event of session.events()) if (event.type !== 'closed') heard += 1;
  };
  const opened = [];
  for (let at = 0; at < sessions; at += 1) {
    const session = await start({ provider, connect: { model: 'm' } });
    opened.push({ session, reading: read(session) });
  }

  let said = 0;
  const turn = () => {
    for (let at = 0; at < perTurn; at += 1) {
      const driver = /** @type {import('../driver.mjs').PushedSession} */ (provider.sessions[said % sessions]);
      said += 1;
      driver.push(
        controlEvery > 0 && said % controlEvery === 0 ? control(said / controlEvery) : { type: 'text', text: 'word' },
      );
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

  await turnsUntil(() => said >= warmUpEvents);
  await nextTurn();
  const meter = new Meter();
  const before = said;
  let turns = 0;
  meter.start();
  await turnsUntil(() => ++turns % 256 === 0 && meter.runningMs >= measureMs);
  meter.stop(said - before);

  await nextTurn();
  if (heard !== said) throw new Error(`${said} events were said, ${heard} were heard`);
  for (const { session, reading } of opened) {
    await session.close();
    await reading;
  }
  return meter.sample;
}

/**
 * @param {number} nth
 * @returns {BidiEvent}
 */
function control(nth) {
  return nth % 2 === 0 ? { type: 'interrupted' } : { type: 'turn_complete' };
}
