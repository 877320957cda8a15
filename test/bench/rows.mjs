/**
 * What is measured, and what is asked of it. A row runs all its cases in one
 * go, interleaved, so that a goal compares figures of the same minutes.
 */

/**
 * @typedef {object} Case
 * @property {string} work Which work, see `case.mjs`.
 * @property {string} contestant Who does it, see `contestants.mjs`.
 * @property {object} [options] For the work.
 * @property {true} [peer] Only with `--peers`.
 * @property {true} [slow] Not with `--quick`.
 */
/**
 * A ratio of two cases in the same round, or one figure alone where `of` is left out.
 * @typedef {object} Goal
 * @property {string} what
 * @property {string} value Name of a case.
 * @property {string} [of] Name of the case to divide by.
 * @property {number} [atLeast]
 * @property {number} [atMost] Without either bound the figure is only reported.
 */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} what
 * @property {Record<string, Case>} cases
 * @property {readonly Goal[]} goals
 */

/**
 * The same work for everybody.
 * @param {string} work
 * @param {object} [options]
 * @returns {Record<string, Case>}
 */
function everybody(work, options = {}) {
  return {
    commitpoint: { work, contestant: 'commitpoint', options },
    'hand-written': { work, contestant: 'hand-written', options },
    'hand-written, no inbox': { work, contestant: 'hand-written, no inbox', options },
    floor: { work, contestant: 'floor', options },
  };
}

/**
 * @param {number} [timesHandWritten]
 * @param {number} [timesFloor]
 * @returns {Goal[]}
 */
function againstEverybody(timesHandWritten, timesFloor) {
  return [
    {
      what: '× hand-written loop',
      value: 'commitpoint',
      of: 'hand-written',
      ...(timesHandWritten && { atLeast: timesHandWritten }),
    },
    { what: '× hand-written loop without inbox', value: 'commitpoint', of: 'hand-written, no inbox' },
    { what: '× floor', value: 'commitpoint', of: 'floor', ...(timesFloor && { atLeast: timesFloor }) },
  ];
}

/**
 * The package's own fold or decoder, as the options have it.
 * @param {string} work
 * @param {object} options
 * @returns {Case}
 */
const own = (work, options) => ({ work, contestant: 'commitpoint', options });

const k16 = 16_384;
const k256 = 262_144;

/** @type {readonly Row[]} */
export const rows = [
  {
    name: 'P1',
    what: 'text events, driver → session → for await, 16 a turn of the event loop',
    cases: {
      ...everybody('text'),
      'commitpoint, by promises alone': {
        work: 'text',
        contestant: 'commitpoint',
        options: { promisesAlone: true },
      },
    },
    goals: [
      ...againstEverybody(3, 0.6),
      { what: 'by promises alone × hand-written loop', value: 'commitpoint, by promises alone', of: 'hand-written' },
      { what: 'by promises alone × floor', value: 'commitpoint, by promises alone', of: 'floor' },
    ],
  },
  {
    name: 'P2',
    what: 'the same with 16 k and 256 k unread events before the reader comes',
    cases: {
      steady: { work: 'text', contestant: 'commitpoint' },
      '16 k': { work: 'backlog', contestant: 'commitpoint', options: { unread: k16 } },
      '256 k': { work: 'backlog', contestant: 'commitpoint', options: { unread: k256 } },
      'hand-written, steady': { work: 'text', contestant: 'hand-written' },
      'hand-written, 16 k': { work: 'backlog', contestant: 'hand-written', options: { unread: k16 } },
      'hand-written, 256 k (first 4 k read)': {
        work: 'backlog',
        contestant: 'hand-written',
        options: { unread: k256, readAtMost: 4_096 },
      },
      'floor, steady': { work: 'text', contestant: 'floor' },
      'floor, 16 k': { work: 'backlog', contestant: 'floor', options: { unread: k16 } },
      'floor, 256 k': { work: 'backlog', contestant: 'floor', options: { unread: k256 } },
    },
    goals: [
      { what: 'rate at 16 k ÷ steady', value: '16 k', of: 'steady', atLeast: 0.9 },
      { what: 'rate at 256 k ÷ steady', value: '256 k', of: 'steady', atLeast: 0.9 },
      { what: 'hand-written: rate at 16 k ÷ steady', value: 'hand-written, 16 k', of: 'hand-written, steady' },
      {
        what: 'hand-written: rate at 256 k ÷ steady',
        value: 'hand-written, 256 k (first 4 k read)',
        of: 'hand-written, steady',
      },
      { what: 'floor: rate at 16 k ÷ steady', value: 'floor, 16 k', of: 'floor, steady' },
      { what: 'floor: rate at 256 k ÷ steady', value: 'floor, 256 k', of: 'floor, steady' },
      { what: '× hand-written loop at 16 k', value: '16 k', of: 'hand-written, 16 k' },
      { what: '× hand-written loop at 256 k', value: '256 k', of: 'hand-written, 256 k (first 4 k read)' },
      { what: '× floor at 16 k', value: '16 k', of: 'floor, 16 k' },
      { what: '× floor at 256 k', value: '256 k', of: 'floor, 256 k' },
    ],
  },
  {
    name: 'P3',
    what: 'P1 with 1 % turn_complete and interrupted mixed in',
    cases: everybody('text', { controlEvery: 100 }),
    goals: againstEverybody(2.5),
  },
  {
    name: 'P4',
    what: 'P1 over 2,000 sessions, one event each in turn',
    cases: everybody('text', { sessions: 2_000 }),
    goals: againstEverybody(3),
  },
  {
    name: 'P5',
    what: 'tool calls, admitted → executed → published → completed, 16 in flight, an instant tool',
    cases: {
      commitpoint: { work: 'calls', contestant: 'commitpoint', options: { callsBefore: 0 } },
      'after 10 k calls': { work: 'calls', contestant: 'commitpoint', options: { callsBefore: 10_000 } },
      'hand-written': { work: 'calls', contestant: 'hand-written', options: { callsBefore: 0 } },
      'hand-written, no inbox': { work: 'calls', contestant: 'hand-written, no inbox', options: { callsBefore: 0 } },
      'openai-agents, empty history': {
        work: 'openai-agents-calls',
        contestant: 'openai-agents',
        options: { history: 0 },
        peer: true,
      },
      'openai-agents, 200 items': {
        work: 'openai-agents-calls',
        contestant: 'openai-agents',
        options: { history: 200 },
        peer: true,
      },
    },
    goals: [
      { what: '× openai-agents, empty history', value: 'commitpoint', of: 'openai-agents, empty history', atLeast: 1 },
      { what: '× openai-agents, 200 items', value: 'commitpoint', of: 'openai-agents, 200 items', atLeast: 20 },
      { what: 'rate after 10 k calls ÷ after none', value: 'after 10 k calls', of: 'commitpoint', atLeast: 0.8 },
      { what: '× hand-written loop', value: 'commitpoint', of: 'hand-written', atLeast: 0.2 },
      { what: '× hand-written loop without inbox', value: 'commitpoint', of: 'hand-written, no inbox' },
    ],
  },
  {
    name: 'P6',
    what: 'heap of an open idle session, 10 k open, a for await waiting on each',
    cases: {
      ...everybody('idle-heap'),
      'commitpoint, no reader': { work: 'idle-heap', contestant: 'commitpoint', options: { read: false } },
      'floor, no reader': { work: 'idle-heap', contestant: 'floor', options: { read: false } },
    },
    goals: [
      { what: 'bytes', value: 'commitpoint', atMost: 3 * 1024 },
      { what: '× hand-written loop', value: 'commitpoint', of: 'hand-written', atMost: 0.75 },
      { what: '× hand-written loop without inbox', value: 'commitpoint', of: 'hand-written, no inbox' },
    ],
  },
  {
    name: 'P7',
    what: 'supervisor: a session started and stopped beside none and beside 10 k that live; shutdown of 10 k idle ones',
    cases: {
      'beside none': own('supervised-starts', { live: 0 }),
      'beside 10 k': own('supervised-starts', { live: 10_000 }),
      'shutdown of 10 k': own('supervisor-shutdown', { live: 10_000 }),
    },
    goals: [
      { what: 'rate beside 10 k ÷ beside none (time ≤ 1.5×)', value: 'beside 10 k', of: 'beside none', atLeast: 0.67 },
      { what: 'shutdown of 10 k, ms of CPU time', value: 'shutdown of 10 k', atMost: 1_000 },
    ],
  },
  {
    name: 'P8',
    what: 'fold: appends of 20 bytes to one message, after 1,000 messages, in a transaction',
    cases: {
      '4 k': own('fold-appends', { appends: 4_000, by: 'fold' }),
      '8 k': own('fold-appends', { appends: 8_000, by: 'fold' }),
      'living conversation, 8 k': own('fold-appends', { appends: 8_000, by: 'conversation' }),
      'transcode, 8 k': own('fold-appends', { appends: 8_000, by: 'transcode' }),
    },
    goals: [
      { what: 'rate at 8 k ÷ at 4 k (time ≤ 2.2×)', value: '8 k', of: '4 k', atLeast: 0.91 },
      { what: '× transcode', value: '8 k', of: 'transcode, 8 k', atLeast: 100 },
      { what: 'living conversation × transcode', value: 'living conversation, 8 k', of: 'transcode, 8 k' },
    ],
  },
  {
    name: 'P9',
    what: 'begin, commit, begin, rollback after a history; and the rollback of 10 k appends',
    cases: {
      'after 1 k messages': own('fold-boundaries', { messages: 1_000 }),
      'after 1 M messages': own('fold-boundaries', { messages: 1_000_000 }),
      'after 1 k messages, 1 M elsewhere': {
        ...own('fold-boundaries', { messages: 1_000, elsewhere: 1_000_000 }),
        slow: true,
      },
      'rollback of 10 k appends': own('fold-boundaries', { messages: 1_000, undoes: 10_000 }),
    },
    goals: [
      {
        what: 'rate after 1 M ÷ after 1 k (time ≤ 1.5×)',
        value: 'after 1 M messages',
        of: 'after 1 k messages',
        atLeast: 0.67,
      },
      {
        what: 'rate after 1 M ÷ after 1 k in as large a heap',
        value: 'after 1 M messages',
        of: 'after 1 k messages, 1 M elsewhere',
      },
      { what: 'rollbacks of 10 k appends (≤ 10 µs each)', value: 'rollback of 10 k appends', atLeast: 100_000 },
    ],
  },
  {
    name: 'P10',
    what: 'decode and fold of small events, from bytes in pieces of 16 KB',
    cases: {
      'length-delimited': own('decode-and-fold', { format: 'binary', does: 'fold' }),
      'server-sent events': own('decode-and-fold', { format: 'sse', does: 'fold' }),
      'length-delimited, decode alone': own('decode-and-fold', { format: 'binary', does: 'decode' }),
      'server-sent events, decode alone': own('decode-and-fold', { format: 'sse', does: 'decode' }),
      fromBinary: own('decode-and-fold', { format: 'binary', does: 'fromBinary' }),
    },
    goals: [
      { what: '× fromBinary', value: 'length-delimited', of: 'fromBinary', atLeast: 0.5 },
      { what: 'server-sent events × fromBinary', value: 'server-sent events', of: 'fromBinary', atLeast: 0.5 },
      { what: 'decode alone × fromBinary', value: 'length-delimited, decode alone', of: 'fromBinary' },
      {
        what: 'server-sent events, decode alone × fromBinary',
        value: 'server-sent events, decode alone',
        of: 'fromBinary',
      },
    ],
  },
  {
    name: 'P11',
    what: 'the journal on, payloads hashed: tool calls as in P5, text as in P1, and durable commit points in groups',
    cases: {
      'calls, no journal': { work: 'calls', contestant: 'commitpoint' },
      'calls, journal in memory': { work: 'calls', contestant: 'commitpoint, journal in memory' },
      'calls, journal in a file': { work: 'calls', contestant: 'commitpoint, journal in a file' },
      'text, no journal': { work: 'text', contestant: 'commitpoint' },
      'text, durable journal': { work: 'text', contestant: 'commitpoint, durable journal' },
      '1,000 commit points at once': own('journal-commits', { atOnce: 1_000 }),
      'one commit point at a time': own('journal-commits', { atOnce: 1 }),
    },
    goals: [
      {
        what: 'calls: rate with a journal in a file ÷ without (cost ≤ 1.3×)',
        value: 'calls, journal in a file',
        of: 'calls, no journal',
        atLeast: 0.77,
      },
      {
        what: 'calls: rate with a journal in memory ÷ without',
        value: 'calls, journal in memory',
        of: 'calls, no journal',
      },
      {
        what: 'text: rate with a durable journal ÷ without',
        value: 'text, durable journal',
        of: 'text, no journal',
        atLeast: 0.9,
      },
      { what: 'durable records in groups, /s', value: '1,000 commit points at once', atLeast: 50_000 },
      { what: 'durable records one at a time, /s', value: 'one commit point at a time' },
    ],
  },
  {
    name: 'P12',
    what: 'verify of a journal in a file: read, decoded, judged, every step taken again',
    cases: {
      '10 k records': own('verify', { records: 10_000, measures: 'rate' }),
      '500 k records': own('verify', { records: 500_000, measures: 'rate' }),
      'heap at 10 k records': own('verify', { records: 10_000, measures: 'heap' }),
      'heap at 500 k records': { ...own('verify', { records: 500_000, measures: 'heap' }), slow: true },
    },
    goals: [
      { what: 'records, /CPU-s', value: '500 k records', atLeast: 300_000 },
      { what: 'rate at 500 k ÷ at 10 k', value: '500 k records', of: '10 k records' },
      { what: 'heap at 500 k ÷ at 10 k', value: 'heap at 500 k records', of: 'heap at 10 k records', atMost: 1.5 },
    ],
  },
  {
    name: 'P13',
    what: 'explore: a session and its calls, every step judged, each state expanded once',
    cases: {
      '3 calls, 200 k states': own('explore', { calls: 3, states: 200_000 }),
      '3 calls, 50 k states': { ...own('explore', { calls: 3, states: 50_000 }), slow: true },
      '3 calls, durable, 200 k states': { ...own('explore', { calls: 3, states: 200_000, durable: true }), slow: true },
    },
    goals: [
      { what: 'transitions, /CPU-s', value: '3 calls, 200 k states', atLeast: 50_000 },
      { what: 'rate at 200 k states ÷ at 50 k', value: '3 calls, 200 k states', of: '3 calls, 50 k states' },
      { what: 'intents made durable: transitions, /CPU-s', value: '3 calls, durable, 200 k states' },
    ],
  },
  {
    name: 'P14',
    what: 'an inspector at one of 1,000 sessions: text events of the other 999, as in P1',
    cases: {
      'nobody inspected': {
        work: 'inspected',
        contestant: 'commitpoint',
        options: { inspected: 'nobody' },
        slow: true,
      },
      'one inspected, in turns': {
        work: 'inspected',
        contestant: 'commitpoint',
        options: { inspected: 'one, in turns' },
      },
      'one inspected': { work: 'inspected', contestant: 'commitpoint', options: { inspected: 'one' }, slow: true },
      'all inspected before, nobody now': {
        work: 'inspected',
        contestant: 'commitpoint',
        options: { inspected: 'all, and no more' },
        slow: true,
      },
      'the inspected one, by the bridge': {
        work: 'inspected',
        contestant: 'commitpoint',
        options: { inspected: 'one', heard: 'inspected' },
        slow: true,
      },
      'the inspected one, by createInspector': {
        work: 'inspected',
        contestant: 'commitpoint',
        options: { inspected: 'one', heard: 'inspected', by: 'stock' },
        slow: true,
      },
    },
    goals: [
      { what: 'rate of the others, one inspected ÷ nobody', value: 'one inspected, in turns', atLeast: 0.95 },
      { what: 'the same, in processes of their own', value: 'one inspected', of: 'nobody inspected' },
      {
        what: 'rate when all are detached ÷ nobody inspected',
        value: 'all inspected before, nobody now',
        of: 'nobody inspected',
      },
      {
        what: 'rate of the inspected one ÷ nobody inspected',
        value: 'the inspected one, by the bridge',
        of: 'nobody inspected',
      },
      {
        what: 'the inspected one: bridge × createInspector',
        value: 'the inspected one, by the bridge',
        of: 'the inspected one, by createInspector',
      },
    ],
  },
  {
    name: 'P15',
    what: 'driver, from the wire to the contract: 500 sessions × 50 events/s, four of them audio; and the barge-in',
    cases: {
      'OpenAI Realtime, p99': own('driver-frames', { measures: 'p99', by: 'openai' }),
      'Gemini Live, p99': { ...own('driver-frames', { measures: 'p99', by: 'gemini' }), slow: true },
      'bare socket': { ...own('driver-frames', { measures: 'cpu', by: 'bare' }), slow: true },
      'OpenAI Realtime': { ...own('driver-frames', { measures: 'cpu', by: 'openai' }), slow: true },
      'Gemini Live': { ...own('driver-frames', { measures: 'cpu', by: 'gemini' }), slow: true },
      'OpenAI Realtime, held more': { ...own('driver-frames', { measures: 'growth', by: 'openai' }), slow: true },
      'barge-in over 200 unread, p99': own('driver-frames', { measures: 'barge-in' }),
    },
    goals: [
      { what: 'OpenAI: p99 added, ms', value: 'OpenAI Realtime, p99', atMost: 2 },
      { what: 'Gemini: p99 added, ms', value: 'Gemini Live, p99', atMost: 2 },
      { what: 'barge-in: interrupted seen, p99, ms', value: 'barge-in over 200 unread, p99', atMost: 5 },
      { what: 'bytes held more after two seconds', value: 'OpenAI Realtime, held more', atMost: 1_000_000 },
      { what: 'OpenAI: events a CPU-second × bare socket', value: 'OpenAI Realtime', of: 'bare socket' },
      { what: 'Gemini: events a CPU-second × bare socket', value: 'Gemini Live', of: 'bare socket' },
    ],
  },
];
