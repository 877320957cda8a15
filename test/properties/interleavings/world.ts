/**
 * One run of the real runtime among real promises: a far side, tools, readers
 * and a host whose every move waits for fast-check's scheduler, and a log of
 * what came of it.
 */
import type { Scheduler } from 'fast-check';
import type { Session } from '../../../src/runtime/session.js';
import { openSession } from '../../../src/runtime/start-session.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { listenersOf, strayFrom } from '../stray.js';
import { FarSide } from './far-side.js';
import { type Fact, Log } from './log.js';
import { type Act, type Callback, idOf, type Plan } from './plan.js';
import { read } from './readers.js';
import { Enough, Refused } from './refused.js';
import { toolsOf } from './tools.js';
import { Turns } from './turns.js';

/** A run and what is left of it. */
export interface Run {
  readonly facts: readonly Fact[];
  /** The reason that the host's signal was, or would have been, aborted with. */
  readonly abortReason: unknown;
  readonly timersLeft: number;
  readonly listenersLeft: number;
  readonly stray: readonly string[];
}

/** Longer than any limit of time of a plan. */
const forEver = 100_000;

export async function run(plan: Plan, scheduler: Scheduler): Promise<Run> {
  const world = new World(plan, scheduler);
  const stray = await strayFrom(() => world.live());
  return {
    facts: world.log.facts,
    abortReason: world.abortReason,
    timersLeft: world.timersAtClosed ?? world.clock.pending,
    listenersLeft: listenersOf(world.signal),
    stray,
  };
}

class World {
  readonly clock = new VirtualClock();
  readonly log = new Log(() => this.clock.now());
  readonly abortReason = new Enough();
  timersAtClosed: number | undefined;
  readonly #plan: Plan;
  readonly #scheduler: Scheduler;
  readonly #turns: Turns;
  readonly #far: FarSide;
  readonly #controller = new AbortController();
  readonly #session: Session;
  #moved: Promise<void> = Promise.resolve();
  #acts = 0;
  /** Whether the host is called by the session right now. */
  #inside = false;

  constructor(plan: Plan, scheduler: Scheduler) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#turns = new Turns(scheduler);
    this.#far = new FarSide(plan, this.log, this.#turns, () => this.#calledBack('driver'));
    const { options = {}, journal } = plan.header;
    const { session, started } = openSession({
      ...options,
      provider: this.#far.provider(),
      tools: toolsOf(plan, this.log, this.#turns, {
        calledBack: (where) => this.#calledBack(where),
        close: () => this.#act({ act: 'close' }),
      }),
      connect: { model: 'scheduled' },
      signal: this.#controller.signal,
      clock: this.clock,
      ...(journal === undefined ? {} : { journal: this.#far.journal(journal.durable ?? true) }),
    });
    this.#session = session;
    started.then(
      () => this.log.note({ begun: true }),
      (error: unknown) => this.log.note({ begun: false, error }),
    );
    session.closed.then((report) => {
      this.timersAtClosed = this.clock.pending;
      this.log.note({ closed: report });
    });
    this.#watch();
    read(session, plan, this.log, this.#turns, () => this.#calledBack('event'));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Lets everything happen, then ends the session, if it has not ended, and lets time go by. */
  async live(): Promise<void> {
    const { far, host, clock } = this.#plan;
    const sequence = <Item>(label: string, items: readonly Item[], act: (item: Item) => unknown) =>
      this.#scheduler.scheduleSequence(
        items.map((item) => ({ label: `${label} ${JSON.stringify(item)}`, builder: async () => act(item) })),
      );
    sequence('far', far, (step) => this.#far.emit(step));
    sequence('host', host, (act) => this.#act(act));
    sequence('clock', clock, (ms) => this.#move(ms));
    await this.#untilIdle();
    if (!this.log.facts.some((fact) => 'closed' in fact)) this.#act({ act: 'close' });
    await this.#untilIdle();
    this.#move(forEver);
    await this.#untilIdle();
    // long after the end nothing happens either
    for (const act of ['send', 'close'] as const) this.#act({ act });
    this.#move(forEver);
    await this.#untilIdle();
  }

  /** Lets tasks go in bursts: those of one burst, and what they entail, run among one another. */
  async #untilIdle(): Promise<void> {
    const { rhythm } = this.#plan;
    for (let turn = 0; ; turn++) {
      if (this.#scheduler.count() === 0) {
        await this.#moved;
        await this.#untilQuiet();
        if (this.#scheduler.count() === 0) return;
      }
      const { burst, wait } = rhythm[turn % rhythm.length] as Plan['rhythm'][number];
      for (let i = 0; i < burst && this.#scheduler.count() > 0; i++) void this.#scheduler.waitOne();
      if (wait === 'quiet') await this.#untilQuiet();
      else for (let tick = 0; tick < wait; tick++) await Promise.resolve();
    }
  }

  async #untilQuiet(): Promise<void> {
    await quiet();
    this.log.note({ quiet: this.#session.calls() });
  }

  #move(ms: number): void {
    this.log.note({ clock: ms });
    // one move after another; what a timer entails happens at its time
    this.#moved = this.#moved.then(() => this.clock.advance(ms, quiet));
  }

  // ── the host ──

  /** Does what the host does; the promise settles with the act, where the host looks at it, and never rejects. */
  #act(act: Act): Promise<void> {
    const number = this.#acts++;
    const id = 'call' in act ? idOf(act.call) : undefined;
    this.log.note({ host: act.act, number, inside: this.#inside, ...(id === undefined ? {} : { id }) });
    const promise = this.#promiseOf(act, id ?? '');
    if (this.#plan.forgets) return Promise.resolve();
    return promise.then(
      () => this.log.note({ settled: number }),
      (error: unknown) => this.log.note({ settled: number, error }),
    );
  }

  #promiseOf({ act }: Act, id: string): Promise<void> {
    const session = this.#session;
    switch (act) {
      case 'send':
        return session.send({ type: 'text', text: 'hello' });
      case 'interrupt':
        return session.interrupt({ playedMs: 120 });
      case 'played':
        return session.played(120);
      case 'approve':
        return session.approve(id);
      case 'deny':
        return session.deny(id, 'not allowed');
      case 'close':
        return session.close();
      case 'abort':
        this.#controller.abort(this.abortReason);
        return Promise.resolve();
    }
  }

  #watch(): void {
    this.#session.lifecycle$.subscribe((lifecycle) => {
      this.log.note({ lifecycle });
      this.#calledBack('lifecycle');
      if (lifecycle.type !== 'approval_requested') return;
      const { approve, when } = this.#turns.next('approval', this.#plan.approvals);
      const call = Number(lifecycle.id.slice(1));
      const decide = () => void this.#act({ act: approve ? 'approve' : 'deny', call });
      if (when === 'within the step') this.#within(decide);
      else if (when === 'later') void this.#turns.wait('decide').then(decide);
    });
  }

  /** The session has called the host: what the host does there. */
  #calledBack(where: Callback): void {
    const count = this.#turns.count(`called back in ${where}`);
    for (const { act } of this.#plan.within.filter((one) => one.where === where && one.at === count)) {
      if (act.act !== 'throw') this.#within(() => void this.#act(act));
      else if (where === 'event' || where === 'lifecycle') throw new Refused('a subscriber that throws');
    }
  }

  #within(body: () => void): void {
    this.#inside = true;
    try {
      body();
    } finally {
      this.#inside = false;
    }
  }
}
