/**
 * One case in a process of its own: `node --expose-gc case.mjs WORK CONTESTANT OPTIONS`
 * prints its {@link import('./meter.mjs').Sample} as a line of JSON.
 */
import { startOf } from './contestants.mjs';

/** @typedef {(start: import('./contestants.mjs').Start, options: object) => Promise<import('./meter.mjs').Sample>} Work */

/** @type {Record<string, () => Promise<Work>>} */
const works = {
  text: async () => (await import('./loads/text.mjs')).text,
  backlog: async () => /** @type {Work} */ ((await import('./loads/backlog.mjs')).backlog),
  calls: async () => (await import('./loads/calls.mjs')).calls,
  'journal-commits': async () => {
    const { journalCommits } = await import('./loads/journal-commits.mjs');
    return (_, options) => journalCommits(/** @type {Parameters<typeof journalCommits>[0]} */ (options));
  },
  verify: async () => {
    const { verifyJournal } = await import('./loads/verify.mjs');
    return (_, options) => verifyJournal(/** @type {Parameters<typeof verifyJournal>[0]} */ (options));
  },
  explore: async () => {
    const { exploreSession } = await import('./loads/explore.mjs');
    return (_, options) => exploreSession(/** @type {Parameters<typeof exploreSession>[0]} */ (options));
  },
  'driver-frames': async () => {
    const { driverFrames } = await import('./loads/driver-frames.mjs');
    return (_, options) => driverFrames(/** @type {Parameters<typeof driverFrames>[0]} */ (options));
  },
  inspected: async () => /** @type {Work} */ ((await import('./loads/inspected.mjs')).inspected),
  'supervised-starts': async () => {
    const { supervisedStarts } = await import('./loads/supervisor.mjs');
    return (_, options) => supervisedStarts(/** @type {Parameters<typeof supervisedStarts>[0]} */ (options));
  },
  'supervisor-shutdown': async () => {
    const { supervisorShutdown } = await import('./loads/supervisor.mjs');
    return (_, options) => supervisorShutdown(/** @type {Parameters<typeof supervisorShutdown>[0]} */ (options));
  },
  'idle-heap': async () => (await import('./loads/idle-heap.mjs')).idleHeap,
  // a fold is nobody's session: who does it is said by the options
  'fold-appends': async () => {
    const { foldAppends } = await import('./loads/fold-appends.mjs');
    return (_, options) => foldAppends(/** @type {Parameters<typeof foldAppends>[0]} */ (options));
  },
  'fold-boundaries': async () => {
    const { foldBoundaries } = await import('./loads/fold-boundaries.mjs');
    return (_, options) => foldBoundaries(/** @type {Parameters<typeof foldBoundaries>[0]} */ (options));
  },
  'decode-and-fold': async () => {
    const { decodeAndFold } = await import('./loads/decode-and-fold.mjs');
    return (_, options) => decodeAndFold(/** @type {Parameters<typeof decodeAndFold>[0]} */ (options));
  },
  'openai-agents-calls': async () => {
    const { openaiAgentsCalls } = await import('./loads/openai-agents-calls.mjs');
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
