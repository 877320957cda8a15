/**
 * One run of the real runtime among real promises: a driver, tools, a journal,
 * readers and a host whose every move waits for fast-check's scheduler, and a
 * log of what came of it.
 */
import type { Scheduler } from 'fast-check';
import type { IntentLog } from '../../../src/contract/journal.js';
import type { BidiEvent, BidiProvider, BidiSession } from '../../../src/contract/provider.js';
import type { Tool, ToolContext } from '../../../src/contract/tool.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import { EventQueue } from '../../../src/providers/scripted/event-queue.js';
import { defineTool } from '../../../src/runtime/index.js';
import type { Session } from '../../../src/runtime/session.js';
import { openSession } from '../../../src/runtime/start-session.js';
import type { ScenarioTool, Step } from '../../../src/scenario/scenario.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { listenersOf, strayFrom } from '../stray.js';
import { type DriverMethod, type Fact, Log } from './log.js';
import { type Act, type Answer, type Callback, type Code, idOf, type Plan } from './plan.js';
import { wordProblem } from './word.js';

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
  readonly #controller = new AbortController();
  readonly #queue = new EventQueue<BidiEvent>();
  readonly #session: Session;
  readonly #turns = new Map<string, number>();
  readonly #callbacks = new Map<Callback, number>();
  #moved: Promise<void> = Promise.resolve();
  #acts = 0;
  /** Whether the host is called by the session right now. */
  #inside = false;

  constructor(plan: Plan, scheduler: Scheduler) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    const { tools = {}, options = {}, journal } = plan.header;
    const { session, started } = openSession(
      {
        ...options,
        provider: this.#provider(),
        tools: Object.entries(tools).map(([name, tool]) => this.#tool(name, tool)),
        connect: { model: 'scheduled' },
        signal: this.#controller.signal,
        clock: this.clock,
      },
      journal === undefined ? undefined : this.#journal(journal.durable ?? true),
    );
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
    this.#read();
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
    sequence('far', far, (step) => this.#emit(step));
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

  /** Resolves when the scheduler says so. */
  #turn(label: string): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve(), label);
  }

  /** The next of a list that is taken in turn. */
  #next<Item>(what: string, items: readonly Item[]): Item {
    const taken = this.#turns.get(what) ?? 0;
    this.#turns.set(what, taken + 1);
    return items[taken % items.length] as Item;
  }

  #move(ms: number): void {
    this.log.note({ clock: ms });
    // one move after another; what a timer entails happens at its time
    this.#moved = this.#moved.then(() => this.clock.advance(ms, quiet));
  }

  // ── the far side and its driver ──

  #emit(step: Step): void {
    if ('far' in step && this.#queue.push(step.far as BidiEvent)) this.log.note({ far: step.far });
    else if ('far_stream' in step) {
      this.log.note({ stream: step.far_stream });
      if (step.far_stream === 'end') this.#queue.end();
      else this.#queue.fail(new Refused('socket gone'));
    }
  }

  #provider(): BidiProvider {
    return {
      id: 'scheduled',
      connect: ({ signal }) => {
        signal?.addEventListener('abort', () => this.log.note({ lifetime: 'over', reason: signal.reason }));
        return this.#answer(this.#plan.connect, 'connect').then(() => this.#driver());
      },
    };
  }

  #driver(): BidiSession {
    const { header, sends, publishes, close, yields } = this.#plan;
    const queue = this.#queue;
    const driver: BidiSession = {
      send: () => this.#answer(this.#next('send', sends), 'send'),
      sendToolResult: (id, output, isError = false) => {
        const publish = this.#next('publish', publishes);
        return this.#answer(publish, 'sendToolResult', { id, output, isError });
      },
      events: () => eventsOf(queue, yields),
      close: () => {
        queue.end();
        return this.#answer(close, 'close');
      },
      played: () => this.#answer(this.#next('send', sends), 'played'),
    };
    if (header.provider?.abandonToolCall) {
      driver.abandonToolCall = (id) => this.#answer(this.#next('send', sends), 'abandonToolCall', { id });
    }
    if (header.provider?.interrupt) {
      driver.interrupt = () => this.#answer(this.#next('send', sends), 'interrupt');
    }
    return driver;
  }

  #answer(
    answer: Answer,
    driver: DriverMethod,
    about: { readonly id?: string; readonly output?: string; readonly isError?: boolean } = {},
  ): Promise<void> {
    this.log.note({ driver, ...about });
    if (driver !== 'connect') this.#calledBack('driver');
    return this.#respond(answer, () => {
      const { id } = about;
      this.log.note({ answered: driver, accepts: answer.accepts, ...(id === undefined ? {} : { id }) });
    });
  }

  #journal(durable: boolean): IntentLog {
    return {
      durable,
      flush: () => {
        this.log.note({ journal: 'flush' });
        const answer = this.#next('flush', this.#plan.flushes);
        return this.#respond(answer, () => this.log.note({ answered: 'flush', accepts: answer.accepts }));
      },
    };
  }

  /** Answers in the way that was drawn; `note` is told when it happens. */
  #respond({ how, accepts }: Answer, note: () => void): Promise<void> {
    const settle = () => {
      note();
      if (!accepts) throw new Refused('refused');
    };
    switch (how) {
      case 'value':
        note();
        // a driver written in JavaScript may give no promise at all
        return (accepts ? undefined : Promise.reject(new Refused('refused'))) as unknown as Promise<void>;
      case 'throws':
        settle();
        return Promise.resolve();
      case 'at once':
        note();
        return accepts ? Promise.resolve() : Promise.reject(new Refused('refused'));
      case 'later':
        return this.#turn('answer').then(settle);
      case 'never':
        return new Promise(() => {});
    }
  }

  // ── tools ──

  #tool(name: string, tool: ScenarioTool): Tool {
    const parameters = tool.input as Record<string, unknown> | undefined;
    const validate = async (value: unknown) => {
      await this.#turn('judge');
      const problem = parameters === undefined ? undefined : wordProblem(value);
      return problem === undefined ? { value } : { issues: [{ message: problem }] };
    };
    return defineTool({
      name,
      description: name,
      input: this.#plan.judgesLater
        ? { '~standard': { version: 1, vendor: 'test', validate } }
        : (parameters ?? { type: 'object' }),
      parameters: parameters ?? { type: 'object' },
      onInterruption: tool.onInterruption ?? 'abandon',
      effect: tool.effect ?? 'irreversible',
      timeoutMs: tool.timeoutMs ?? 0,
      needsApproval: tool.needsApproval ?? false,
      execute: (input, context) => this.#execute(input, context),
      onLate: (outcome, { id }) => this.log.note({ late: id, outcome }),
    });
  }

  #execute(input: unknown, { toolUseId: id, signal }: ToolContext): unknown {
    const { how, succeeds } = this.#next('code', this.#plan.code);
    this.log.note({ code: id, is: 'started', input });
    signal.addEventListener('abort', () => {
      this.log.note({ code: id, is: 'aborted', reason: signal.reason });
      this.#calledBack('signal');
    });
    this.#calledBack('code');
    const end = () => {
      this.log.note({ code: id, is: succeeds ? 'resolved' : 'rejected' });
      if (!succeeds) throw new Refused(`code of ${id} failed`);
      return 'done';
    };
    return this.#endOf(how, signal, end);
  }

  #endOf(how: Code['how'], signal: AbortSignal, end: () => unknown): unknown {
    switch (how) {
      case 'returns':
      case 'throws':
        return end();
      case 'at once':
        return Promise.resolve().then(end);
      case 'later':
        return this.#turn('code').then(end);
      case 'heeds': {
        const fired = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        return Promise.race([fired, this.#turn('code')]).then(end);
      }
      case 'closes':
        return this.#turn('code')
          .then(() => this.#act({ act: 'close' }))
          .then(end, end);
      case 'never':
        return new Promise(() => {});
    }
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
    const { approvals } = this.#plan;
    this.#session.lifecycle$.subscribe((lifecycle) => {
      this.log.note({ lifecycle });
      this.#calledBack('lifecycle');
      if (lifecycle.type !== 'approval_requested') return;
      const { approve, when } = this.#next('approval', approvals);
      const { id } = lifecycle;
      const decide = () => this.#decide(approve, id);
      if (when === 'within the step') this.#within(decide);
      else if (when === 'later') void this.#turn('decide').then(decide);
    });
  }

  #decide(approve: boolean, id: string): void {
    const call = Number(id.slice(1));
    void this.#act({ act: approve ? 'approve' : 'deny', call });
  }

  #within(body: () => void): void {
    this.#inside = true;
    try {
      body();
    } finally {
      this.#inside = false;
    }
  }

  /** The session has called the host: what the host does there. */
  #calledBack(where: Callback): void {
    const count = this.#callbacks.get(where) ?? 0;
    this.#callbacks.set(where, count + 1);
    for (const { act } of this.#plan.within.filter((one) => one.where === where && one.at === count)) {
      if (act.act !== 'throw') this.#within(() => void this.#act(act));
      else if (where === 'event' || where === 'lifecycle') throw new Refused('a subscriber that throws');
    }
  }

  // ── readers ──

  #read(): void {
    const { who } = this.#plan.readers;
    if (who === 'loop' || who === 'both') void this.#loop();
    if (who === 'subscriber' || who === 'both') this.#subscribe();
    if (who === 'late subscriber') void this.#turn('subscribe').then(() => this.#subscribe());
  }

  #subscribe(): void {
    this.#session.events$.subscribe({
      next: (event) => this.#give(event),
      complete: () => this.log.note({ over: 'events$' }),
    });
  }

  #give(event: BidiTurnEvent): void {
    this.log.note({ event });
    this.#calledBack('event');
  }

  async #loop(): Promise<void> {
    const { leaves, ahead } = this.#plan.readers;
    for (const leave of [...leaves, Number.POSITIVE_INFINITY]) {
      const isOver = ahead === 1 ? await this.#readOne(leave) : await this.#readAhead(leave, ahead);
      if (isOver) break;
      await this.#turn('open the loop again');
    }
    this.log.note({ over: 'loop' });
  }

  /** A loop that leaves after so many events. Gives whether there will be no more. */
  async #readOne(leave: number): Promise<boolean> {
    let read = 0;
    for await (const event of this.#session.events()) {
      this.log.note({ read: event });
      if (this.#dawdles()) await this.#turn('read on');
      read++;
      if (read >= leave) return false;
    }
    return true;
  }

  /** The same by hand, with several questions open at a time. */
  async #readAhead(leave: number, ahead: number): Promise<boolean> {
    const iterator = this.#session.events()[Symbol.asyncIterator]();
    const asked = Array.from({ length: ahead }, () => iterator.next());
    for (let read = 0; read < leave; read++) {
      const result = await (asked.shift() as (typeof asked)[number]);
      if (result.done) return true;
      this.log.note({ read: result.value });
      if (this.#dawdles()) await this.#turn('read on');
      asked.push(iterator.next());
    }
    await iterator.return?.();
    // what was asked for before may have been given before
    for (const result of await Promise.all(asked)) if (!result.done) this.log.note({ read: result.value });
    return false;
  }

  #dawdles(): boolean {
    return this.#next('dawdle', this.#plan.readers.dawdles);
  }
}

function eventsOf(queue: EventQueue<BidiEvent>, yields: Plan['yields']): AsyncIterable<BidiEvent> {
  if (yields === 'queued') return queue;
  return yields === 'generated' ? generated(queue) : plain(queue);
}

async function* generated(queue: EventQueue<BidiEvent>): AsyncGenerator<BidiEvent> {
  yield* queue;
}

/** What a driver written in JavaScript may do: an object that is good enough for `await`, in a promise now and then. */
function plain(queue: EventQueue<BidiEvent>): AsyncIterable<BidiEvent> {
  const next = (): Promise<IteratorResult<BidiEvent>> => {
    const given = queue.next();
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    return { then: given.then.bind(given) } as Promise<IteratorResult<BidiEvent>>;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** What the parts of this world throw. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** What the host aborts with. */
class Enough extends Error {
  override readonly name = 'Enough';
}
