import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startSession } from 'commitpoint';
import { geminiLive } from 'commitpoint/providers/gemini-live';
import { openaiRealtime } from 'commitpoint/providers/openai-realtime';
import { WebSocket } from 'ws';
import { collect } from '../meter.mjs';

const warmUpMs = 1_000;
const bargeIns = 100;

/**
 * @typedef {object} Options
 * @property {'p99' | 'cpu' | 'growth' | 'barge-in'} measures
 * @property {'bare' | 'openai' | 'gemini'} [by] `bare`: a socket that parses what comes and does nothing else.
 * @property {number} [sessions] Default 500.
 * @property {number} [seconds] Default 2.
 */

/** @typedef {import('node:child_process').ChildProcess} Service */
/** Whether messages are events by now, and what is told of each event: how long ago its message came, in milliseconds. */
/** @typedef {{ live: boolean, read: (took: number) => void }} Watch */

/**
 * A driver, from the wire to the contract: five hundred sessions that get fifty events a second each, four of them audio of a
 * quarter of a second, from a service in another process. What is measured:
 *
 * - `p99`: what the driver adds, from the moment in which its socket hands a message over until the event is read in a loop
 * - `cpu`: events for each second of CPU time of this process
 * - `growth`: bytes on the heap of this process more after the stretch than before it, garbage collected
 * - `barge-in`: with two hundred pieces of audio unread in a session that drops them, the time from the moment in which the
 *   socket hands `speech_started` over until the host, who comes back to its loop, reads `interrupted`
 *
 * A minute of it, by hand: `node --expose-gc test/bench/case.mjs driver-frames commitpoint
 * '{"measures":"growth","by":"openai","seconds":60}'`.
 * @param {Options} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function driverFrames({ measures, by = 'openai', sessions = 500, seconds = 2 }) {
  const service = fork(fileURLToPath(new URL('driver-frames-service.mjs', import.meta.url)));
  try {
    const host = await said(service);
    if (measures === 'barge-in') return await bargeIn(service, host);
    return await steady(service, host, { measures, by, sessions, seconds });
  } finally {
    service.kill();
  }
}

/**
 * @param {Service} service
 * @param {string} host
 * @param {Required<Options>} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
async function steady(service, host, { measures, by, sessions, seconds }) {
  // room for all that can come: an array that grows would be measured with the driver
  const taken = new Float64Array(sessions * (seconds + 1) * 60);
  let count = 0;
  let counts = false;
  /** @type {Watch} */
  const watch = {
    live: false,
    read(took) {
      if (counts) taken[count++ % taken.length] = took;
    },
  };
  const open = by === 'bare' ? bare : driven(by, measures === 'p99');
  const closes = await Promise.all(Array.from({ length: sessions }, () => open(host, watch)));
  // what belongs to the set-up is read by then
  await later(warmUpMs / 4);
  watch.live = true;
  service.send('start');
  await later(warmUpMs);
  const before = measures === 'growth' ? held() : 0;
  const cpu = process.cpuUsage();
  const since = performance.now();
  counts = true;
  await later(seconds * 1_000);
  counts = false;
  const wallMs = Math.round(performance.now() - since);
  const { user, system } = process.cpuUsage(cpu);
  const after = measures === 'growth' ? held() : 0;
  service.send('stop');
  await Promise.all(closes.map((close) => close()));
  if (count === 0 || count > taken.length) throw new Error(`${count} events came, of ${sessions} × ${seconds} × 50`);
  process.stderr.write(`${count} events in ${wallMs} ms, of ${sessions * seconds * 50}\n`);
  if (measures === 'growth') return { value: Math.max(0, after - before), unit: 'B', wallMs };
  if (measures === 'cpu') return { value: (count * 1e6) / (user + system), unit: '/CPU-s', wallMs };
  return { value: p99(taken.subarray(0, count)), unit: 'ms', wallMs };
}

/**
 * @param {string} host
 * @param {Watch} watch
 */
async function bare(host, watch) {
  const socket = new WebSocket(`ws://${host}/v1/realtime?model=m`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  socket.on('message', (data) => {
    if (typeof JSON.parse(String(data)).delta === 'string') watch.read(0);
  });
  socket.send('{"type":"session.update"}');
  return async () => socket.terminate();
}

/**
 * @param {'openai' | 'gemini'} by
 * @param {boolean} timed Whether it is told how long ago the message came: that costs something itself.
 * @returns {typeof bare}
 */
function driven(by, timed) {
  return async (host, watch) => {
    /** When the messages came whose events are not read yet: each message is one event. */
    const arrivals = new Arrivals();
    const seam = timed ? { webSocket: watched(() => watch.live && arrivals.push(performance.now())) } : {};
    const provider =
      by === 'openai'
        ? openaiRealtime({ apiKey: 'k', baseUrl: `ws://${host}/v1`, ...seam })
        : geminiLive({ apiKey: 'k', baseUrl: `ws://${host}`, ...seam });
    const session = await provider.connect({ model: 'm' });
    const reading = (async () => {
      for await (const { type } of session.events()) {
        if (type === 'text' || type === 'audio') watch.read(timed ? performance.now() - arrivals.shift() : 0);
      }
    })();
    return async () => {
      await session.close();
      await reading;
      if (timed && arrivals.mismatched) throw new Error('an event came that no message had brought');
    };
  };
}

/**
 * Sockets that tell of each message before the driver hears of it.
 * @param {(data: unknown) => void} tell
 * @returns {import('commitpoint').WebSocketFactory}
 */
function watched(tell) {
  return (url, { protocols, headers }) => {
    const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false });
    socket.on('message', tell);
    return /** @type {any} */ (socket);
  };
}

/** A queue of times in a ring. */
class Arrivals {
  #times = new Float64Array(1024);
  #in = 0;
  #out = 0;
  mismatched = false;

  /** @param {number} time */
  push(time) {
    this.#times[this.#in++ % 1024] = time;
    if (this.#in - this.#out > 1024) this.mismatched = true;
  }

  shift() {
    if (this.#out === this.#in) this.mismatched = true;
    return this.#times[this.#out++ % 1024] ?? 0;
  }
}

/**
 * @param {Service} service
 * @param {string} host
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
async function bargeIn(service, host) {
  let spokeAt = 0;
  const webSocket = watched((data) => {
    if (String(data).includes('speech_started')) spokeAt = performance.now();
  });
  const session = await startSession({
    provider: openaiRealtime({ apiKey: 'k', baseUrl: `ws://${host}/v1`, webSocket }),
    connect: { model: 'm' },
    dropUnreadAudio: true,
  });
  // a second reader sees what the first one leaves unread
  let unread = 0;
  let arrived = () => {};
  session.events$.subscribe(({ type }) => {
    if (type === 'audio' && ++unread === 200) arrived();
    if (type === 'interrupted') arrived();
  });
  const until = () =>
    new Promise((/** @type {(nothing: void) => void} */ resolve) => {
      arrived = resolve;
    });
  const events = session.events()[Symbol.asyncIterator]();
  const taken = new Float64Array(bargeIns);
  const since = performance.now();
  for (let round = -10; round < bargeIns; round += 1) {
    unread = 0;
    const flooded = until();
    service.send('flood');
    await flooded;
    const interrupted = until();
    service.send('speak');
    await interrupted;
    let skipped = -1;
    for (let type = ''; type !== 'interrupted'; skipped += 1) type = (await events.next()).value?.type;
    const ms = performance.now() - spokeAt;
    if (skipped > 0) throw new Error(`${skipped} pieces of audio were not dropped`);
    // the first ones are the compiler's
    if (round >= 0) taken[round] = ms;
  }
  await session.close();
  return { value: p99(taken), unit: 'ms', wallMs: Math.round(performance.now() - since) };
}

/**
 * @param {Service} service
 * @returns {Promise<string>}
 */
function said(service) {
  return new Promise((resolve, reject) => {
    /** @param {number | null} code */
    const gone = (code) => reject(new Error(`the service ended with ${code}`));
    service.once('exit', gone);
    service.once('message', (message) => {
      service.off('exit', gone);
      resolve(String(message));
    });
  });
}

/** @param {number} ms */
function later(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The heap alone: what sockets hold beside it is what happens to be on its way. */
function held() {
  collect();
  return process.memoryUsage().heapUsed;
}

/** @param {Float64Array} ms */
function p99(ms) {
  const sorted = ms.slice().sort();
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
