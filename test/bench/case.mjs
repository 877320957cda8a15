/**
 * One case in a process of its own: `node --expose-gc case.mjs WORK CONTESTANT OPTIONS`
 * prints its {@link import('./meter.mjs').Sample} as a line of JSON.
 */
import { startOf } from './contestants.mjs';

/** @typedef {(start: import('./contestants.mjs').Start, options: object) => Promise<import('./meter.mjs').Sample>} Work */

/** @type {Record<string, () => Promise<Work>>} */
const works = {
  text: async () => (await import('./work/text.mjs')).text,
  backlog: async () => /** @type {Work} */ ((await import('./work/backlog.mjs')).backlog),
  calls: async () => (await import('./work/calls.mjs')).calls,
  'idle-heap': async () => (await import('./work/idle-heap.mjs')).idleHeap,
  'openai-agents-calls': async () => {
    const { openaiAgentsCalls } = await import('./work/openai-agents-calls.mjs');
    return (_, options) => openaiAgentsCalls(options);
  },
};

const [work = '', contestant = '', options = '{}'] = process.argv.slice(2);
const load = works[work];
if (load === undefined) throw new TypeError(`no work is called ${work}`);
const measure = await load();
const sample = await measure(await startOf(contestant), JSON.parse(options));
process.stdout.write(`${JSON.stringify(sample)}\n`);
// A contestant that leaves a timer or a socket open does not hold up the rest.
process.exit(0);
