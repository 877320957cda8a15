import { defineTool } from 'commitpoint';
import { pushedProvider } from '../driver.mjs';
import { Meter, nextTurn } from '../meter.mjs';

const inFlight = 16;
/** So many until the engine has compiled all that a call passes: before, it is the compiler that is measured. */
const warmUpCalls = 98_304;
const measured = 2_048;
const measureMs = 600;

export const lookup = () =>
  defineTool({
    name: 'lookup',
    description: 'Look a word up.',
    input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
    effect: 'read',
    execute: () => 'found',
  });

/**
 * Tool calls from the far side, sixteen at a time, of a tool that answers at
 * once: admitted, executed, published, and `tool_completed` read by the host.
 * @param {import('../contestants.mjs').Start} start
 * @param {{ callsBefore?: number }} options `callsBefore`: how many the session has behind it when measuring begins.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function calls(start, { callsBefore = 0 }) {
  const tools = [lookup()];
  const warmUp = await open(start, tools);
  await warmUp.make(warmUpCalls);
  await warmUp.close();

  const meter = new Meter();
  do {
    const session = await open(start, tools);
    await session.make(callsBefore);
    await nextTurn();
    meter.start();
    await session.make(measured);
    meter.stop(measured);
    await session.close();
  } while (meter.cpuMs < measureMs);
  return meter.sample;
}

/**
 * @param {import('../contestants.mjs').Start} start
 * @param {import('commitpoint').Tool[]} tools
 */
async function open(start, tools) {
  const provider = pushedProvider();
  const session = await start({ provider, tools, connect: { model: 'm' } });
  const driver = /** @type {import('../driver.mjs').PushedSession} */ (provider.sessions[0]);
  let asked = 0;
  let answered = 0;
  /** @type {() => void} */
  let allAnswered = () => {};
  const reading = (async () => {
    for await (const event of session.events()) {
      if (event.type !== 'tool_completed') continue;
      answered += 1;
      if (answered === asked) setImmediate(allAnswered);
    }
  })();
  return {
    /** @param {number} count */
    async make(count) {
      for (const goal = asked + count; asked < goal; ) {
        const answers = new Promise((/** @type {(nothing: void) => void} */ resolve) => {
          allAnswered = resolve;
        });
        for (let at = 0; at < inFlight; at += 1) {
          asked += 1;
          driver.push({ type: 'tool_call', id: `call_${asked}`, name: 'lookup', arguments: '{"word":"gate"}' });
        }
        await answers;
      }
    },
    async close() {
      if (driver.results !== asked) throw new Error(`${asked} calls were made, ${driver.results} results published`);
      await session.close();
      await reading;
    },
  };
}
