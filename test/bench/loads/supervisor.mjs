import { createSupervisor } from 'commitpoint';
import { pushedProvider } from '../driver.mjs';
import { Meter, nextTurn } from '../meter.mjs';

/**
 * What it costs to start a session under a supervisor and to stop it again, beside so many that live.
 * @param {{ live: number, pairs?: number }} options `pairs`: how many are started and stopped, a hundred at a time.
 * @returns {Promise<import('../meter.mjs').Sample>} Pairs for each second of CPU time.
 */
export async function supervisedStarts({ live, pairs = 4_000 }) {
  const supervisor = createSupervisor();
  const provider = pushedProvider();
  const start = () => supervisor.startSession({ provider, connect: { model: 'm' } });
  for (let at = 0; at < live; at += 1) await start();

  const meter = new Meter();
  const hundred = async () => {
    const sessions = [];
    for (let at = 0; at < 100; at += 1) sessions.push(await start());
    for (const session of sessions) await session.close();
    provider.sessions.length = live;
  };
  for (let warm = 0; warm < 10; warm += 1) await hundred();
  for (let done = 0; done < pairs; done += 100) {
    meter.start();
    await hundred();
    meter.stop(100);
    await nextTurn();
  }
  if (supervisor.stats.sessions !== live) {
    throw new Error(`expected ${live} sessions, found ${supervisor.stats.sessions}`);
  }
  return meter.sample;
}

/**
 * How long a shutdown takes where nothing is at work: milliseconds of CPU time, for the whole.
 * @param {{ live: number }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function supervisorShutdown({ live }) {
  const supervisor = createSupervisor();
  const provider = pushedProvider();
  for (let at = 0; at < live; at += 1) await supervisor.startSession({ provider, connect: { model: 'm' } });
  await nextTurn();
  const meter = new Meter();
  meter.start();
  const { children } = await supervisor.shutdown({ deadlineMs: 10_000 });
  meter.stop(1);
  if (children.length !== live) throw new Error(`expected ${live} children in the report, found ${children.length}`);
  return { value: meter.cpuMs, unit: 'ms', wallMs: Math.round(meter.wallMs) };
}
