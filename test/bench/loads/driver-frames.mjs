/**
 * P15: a driver from the wire to the contract. By hand, after `npm run build`:
 *
 *     node --expose-gc test/bench/loads/driver-frames.mjs [sessions] [seconds]
 *
 * A service in a process of its own, so that this one has a core for the driver alone, sends each of 500 sessions 50 events a
 * second, four of them a quarter of a second of speech. Each names the moment at which it was sent; what is measured is the
 * time until the contract event is read. A bare socket that only parses is measured first: what it takes is no driver's fault.
 * Then the barge-in: two hundred frames of audio are unread when the user speaks, and the host comes back to its loop.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startSession } from 'commitpoint';
import { openaiRealtime } from 'commitpoint/providers/openai-realtime';
import { WebSocket } from 'ws';

const perSecond = 50;
const me = fileURLToPath(import.meta.url);

if (process.argv[2] === 'service') await serve();
else await measure(Number(process.argv[2] ?? 500), Number(process.argv[3] ?? 20));

/**
 * @param {number} sessions
 * @param {number} seconds
 */
async function measure(sessions, seconds) {
  const service = fork(me, ['service']);
  /** @type {string} */
  const baseUrl = await next(service);
  const figures = {
    sessions,
    bare: await steady(service, sessions, seconds, (tell) => bare(baseUrl, tell)),
    driver: await steady(service, sessions, seconds, (tell) => driven(baseUrl, tell)),
    bargeIn: await bargeIn(service, baseUrl),
  };
  console.log(JSON.stringify(figures, null, 2));
  service.kill();
}

/**
 * @param {import('node:child_process').ChildProcess} service
 * @param {number} sessions
 * @param {number} seconds
 * @param {(tell: (sentAt: string) => void) => Promise<() => unknown>} open
 */
async function steady(service, sessions, seconds, open) {
  /** @type {number[]} */
  let taken = [];
  const closes = await Promise.all(
    Array.from({ length: sessions }, () =>
      open((sentAt) => taken.push(Number(process.hrtime.bigint() - BigInt(sentAt)))),
    ),
  );
  service.send({ do: 'send', on: true });
  await later(2_000);
  taken = [];
  const heapBefore = heap();
  const cpu = process.cpuUsage();
  await later(seconds * 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const events = taken.length;
  const sorted = Float64Array.from(taken).sort();
  taken = [];
  const heapAfter = heap();
  service.send({ do: 'send', on: false });
  await Promise.all(closes.map((close) => close()));
  return {
    eventsPerSecond: Math.round(events / seconds),
    cores: round((user + system) / 1e6 / seconds),
    ...percentiles(sorted),
    heapGrowthMb: round((heapAfter - heapBefore) / 1e6),
  };
}

/**
 * @param {string} baseUrl
 * @param {(sentAt: string) => void} tell
 */
async function bare(baseUrl, tell) {
  const socket = new WebSocket(`${baseUrl}/realtime?model=m`, {
    headers: { authorization: 'Bearer k' },
    perMessageDeflate: false,
  });
  await new Promise((resolve) => socket.on('open', resolve));
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    if (frame.type.endsWith('.delta')) tell(frame.sent_at);
  });
  return () => socket.terminate();
}

/**
 * @param {string} baseUrl
 * @param {(sentAt: string) => void} tell
 */
async function driven(baseUrl, tell) {
  const session = await openaiRealtime({ apiKey: 'k', baseUrl }).connect({ model: 'm' });
  void (async () => {
    for await (const event of session.events()) {
      if (event.type === 'text') tell(event.text);
    }
  })();
  return () => session.close();
}

/**
 * @param {import('node:child_process').ChildProcess} service
 * @param {string} baseUrl
 */
async function bargeIn(service, baseUrl) {
  const session = await startSession({
    provider: openaiRealtime({ apiKey: 'k', baseUrl }),
    connect: { model: 'm' },
    dropUnreadAudio: true,
  });
  const events = session.events()[Symbol.asyncIterator]();
  /** @type {number[]} */
  const taken = [];
  for (let round = 0; round < 200; round++) {
    service.send({ do: 'flood' });
    await next(service);
    await later(20);
    service.send({ do: 'speak' });
    const sentAt = BigInt(await next(service));
    let event = await events.next();
    while (event.value?.type !== 'interrupted') event = await events.next();
    taken.push(Number(process.hrtime.bigint() - sentAt));
  }
  await session.close();
  return { rounds: taken.length, ...percentiles(Float64Array.from(taken).sort()) };
}

async function serve() {
  const { LoopbackServer } = await import('../../../dist/src/testing/loopback/server.js');
  const speech = 'AAAA'.repeat(4_000);
  const server = await LoopbackServer.listen({
    upgrade: () => ({ accept: true }),
    connected(connection) {
      connection.onMessage((message) => {
        if (JSON.parse(message).type === 'session.update')
          connection.sendJson({ type: 'session.updated', session: {} });
      });
      connection.sendJson({ type: 'session.created', session: {} });
    },
  });
  let on = false;
  let responses = 0;
  const delta = (/** @type {string} */ kind, /** @type {string} */ text) => ({
    type: `response.output_${kind}.delta`,
    response_id: 'steady',
    item_id: 'i',
    content_index: 0,
    sent_at: String(process.hrtime.bigint()),
    delta: text,
  });
  let turn = 0;
  // Ten times a second a tenth of the sessions' events, spread over the sessions, as users are.
  setInterval(() => {
    if (!on) return;
    const open = server.connections.filter(({ isOpen }) => isOpen);
    turn++;
    for (const [index, connection] of open.entries()) {
      if ((index + turn) % 4 !== 0) continue;
      for (let n = 0; n < (perSecond * 4) / 100; n++) {
        const frame = delta('text', '');
        connection.sendJson({ ...frame, delta: frame.sent_at });
      }
      if ((index + turn) % 24 === 0) connection.sendJson(delta('audio', speech));
    }
  }, 10);
  process.on('message', (/** @type {{ do: string, on?: boolean }} */ message) => {
    const connection = server.connections.at(-1);
    if (message.do === 'send') on = message.on === true;
    else if (message.do === 'flood') {
      const id = `r${++responses}`;
      connection?.sendJson({ type: 'response.created', response: { id } });
      for (let n = 0; n < 200; n++) connection?.sendJson({ ...delta('audio', speech), response_id: id });
      process.send?.('flooded');
    } else {
      connection?.sendJson({ type: 'input_audio_buffer.speech_started', item_id: 'u' });
      process.send?.(String(process.hrtime.bigint()));
      connection?.sendJson({ type: 'response.done', response: { id: `r${responses}`, status: 'cancelled' } });
    }
  });
  process.send?.(`ws://${server.host}/v1`);
}

/** @param {import('node:child_process').ChildProcess} service */
function next(service) {
  return new Promise((/** @type {(message: any) => void} */ resolve) => service.once('message', resolve));
}

/** @param {number} ms */
function later(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function heap() {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** @param {Float64Array} sorted Nanoseconds. */
function percentiles(sorted) {
  const at = (/** @type {number} */ share) => round((sorted[Math.floor(sorted.length * share)] ?? 0) / 1e6);
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: round((sorted.at(-1) ?? 0) / 1e6) };
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 1000) / 1000;
}
