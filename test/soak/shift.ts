/**
 * A shift: a supervisor on a journal of its own, hosts that begin one session
 * after another, and a shutdown in the middle of it all. Then everything is
 * counted, and the journal is verified and thrown away: so disk and memory are
 * bounded, however long a soak goes on.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { Clock } from '../../src/contract/clock.js';
import { platformClock } from '../../src/contract/platform-clock.js';
import { type WebSocketFactory, wsSocket } from '../../src/contract/web-socket.js';
import { nodeDisk } from '../../src/journals/file/disk.js';
import { readJournalFile } from '../../src/journals/file/index.js';
import { openFileJournal } from '../../src/journals/file/open-file.js';
import { openaiRealtime } from '../../src/providers/openai-realtime/index.js';
import { createSupervisor } from '../../src/runtime/index.js';
import { openaiLoopback } from '../../src/testing/loopback/index.js';
import { verify } from '../../src/verify/index.js';
import { Random } from '../crash/random.js';
import { diskWith, SystemError } from '../journals/failing-disk.js';
import { later } from './far-side.js';
import { liveOnce } from './host.js';
import type { Tally } from './tally.js';

export interface ShiftOrders {
  readonly seed: number;
  readonly ms: number;
  /** How many hosts there are at once. */
  readonly hosts: number;
  readonly folder: string;
}

/** The platform's clock, and how many of its timers are set. */
class CountingClock implements Clock {
  readonly #timers = new Set<unknown>();

  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return platformClock.now();
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const handle = platformClock.setTimeout(() => {
      this.#timers.delete(handle);
      callback();
    }, ms);
    this.#timers.add(handle);
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle);
    platformClock.clearTimeout(handle);
  }
}

/** The package `ws`, handed in: a program in one file does not find it by its name. */
const webSocket: WebSocketFactory = (url, init) =>
  wsSocket(WebSocket as unknown as Parameters<typeof wsSocket>[0], url, init);

/** Works through one shift. */
export async function workShift({ seed, ms, hosts, folder }: ShiftOrders, tally: Tally): Promise<void> {
  const random = new Random(seed);
  const where = `shift of seed ${seed}`;
  const clock = new CountingClock();
  const path = join(folder, `shift-${seed}.journal`);
  const failsAt = random.chance(0.2) ? 200 + random.below(2000) : Number.POSITIVE_INFINITY;
  let operations = 0;
  const disk = diskWith((operation) => {
    if (operation !== 'open' && ++operations > failsAt) throw new SystemError('ENOSPC');
  });
  const isSound = failsAt === Number.POSITIVE_INFINITY;
  const durable = random.chance(0.5);
  const payloads = random.one(['keep', 'hash', 'omit'] as const);
  const journal = await openFileJournal(path, { durable, payloads }, isSound ? nodeDisk : disk);
  const fake = await openaiLoopback({
    reply: ({ index }) =>
      index % 3 === 1
        ? { text: 'one moment', calls: [{ name: 'deliver_read', arguments: '{"n":1}' }] }
        : { text: 'there you are' },
    connectFault: (index) =>
      index % 11 === 7
        ? ({ type: 'cut' } as const)
        : index % 13 === 9
          ? ({ type: 'refuse', status: 503 } as const)
          : undefined,
  });
  const supervisor = createSupervisor({
    journal,
    clock,
    random: () => random.next(),
    maxSessions: Math.max(1, hosts - 2),
    maxConcurrentTools: random.one([2, 8, 64]),
  });
  const end = Date.now() + ms;
  const isOver = () => Date.now() >= end || supervisor.actor.getSnapshot().value !== 'running';
  const socket = () =>
    openaiRealtime({
      apiKey: 'k',
      webSocket,
      baseUrl: fake.baseUrl,
      modalities: ['text'],
      turnDetection: null,
      closeTimeoutMs: 1000,
    });
  let lived = 0;
  const host = async () => {
    while (!isOver()) {
      await liveOnce({ supervisor, tally, socket, isOver }, seed * 1000 + lived++);
      await later(0);
    }
  };
  const living = Array.from({ length: hosts }, host);
  const compacting = compactNowAndThen(journal, isOver, tally, isSound, where);
  while (!isOver()) await later(Math.min(200, Math.max(1, end - Date.now())));
  const { children } = await supervisor.shutdown({ deadlineMs: random.below(300) });
  await Promise.all(living);
  await compacting;
  tally.shifts++;
  for (const child of children) {
    if (child.kind === 'session' && child.report === undefined) tally.found(where, `${child.id} has no report`);
  }
  const stats = supervisor.stats;
  const left = supervisor.list().length + stats.sessions + stats.conversations + stats.restarting;
  if (left > 0) tally.found(where, `something of the supervisor is left: ${JSON.stringify(stats)}`);
  if (stats.toolsRunning + stats.toolsWaiting > 0) tally.found(where, `places are left: ${JSON.stringify(stats)}`);
  if (stats.started !== stats.ended) tally.found(where, `${stats.started} were started, ${stats.ended} ended`);
  if (clock.pending > 0) tally.found(where, `${clock.pending} timers are left`);
  await fake.close();
  for (const violation of fake.violations.slice(0, 3)) tally.found(where, `the driver, on the wire: ${violation}`);
  await journal.close().catch((error: unknown) => {
    if (isSound) tally.found(where, `the journal cannot be closed: ${String(error)}`);
  });
  await check(path, isSound, where, tally);
  await rm(path, { force: true });
  // a disk that fails does not even take away what a compaction has begun
  if (!isSound) await rm(`${path}.making`, { force: true });
}

async function compactNowAndThen(
  journal: Awaited<ReturnType<typeof openFileJournal>>,
  isOver: () => boolean,
  tally: Tally,
  isSound: boolean,
  where: string,
): Promise<void> {
  while (!isOver()) {
    for (let time = 0; time < 20 && !isOver(); time++) await later(100);
    if (isOver()) return;
    try {
      await journal.compact();
      tally.compactions++;
    } catch (error) {
      if (isSound && !isOver()) tally.found(where, `the journal cannot be compacted: ${String(error)}`);
    }
  }
}

async function check(path: string, isSound: boolean, where: string, tally: Tally): Promise<void> {
  const { findings, findingsBeyond, records, unfinished } = await verify({ read: () => readJournalFile(path) });
  tally.journals++;
  tally.records += records;
  for (const { invariant, seq, what } of findings.slice(0, 5))
    tally.found(where, `${invariant} at record ${seq}: ${what}`);
  if (findings.length > 5) tally.found(where, `and ${findings.length - 5 + findingsBeyond} more`);
  if (!isSound) return;
  const open = unfinished.sessions + unfinished.conversations + unfinished.transactions + unfinished.supervisors;
  if (open > 0) tally.found(where, `lives without an end: ${JSON.stringify(unfinished)}`);
}
