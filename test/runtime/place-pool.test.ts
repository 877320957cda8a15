/** One pool of places over many sessions (K6–K9 of src/runtime/place-pool.ts; duplex.md §5, *Places*). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/contract/errors.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { type MemoryJournal, memoryJournal } from '../../src/journal/index.js';
import { PlacePool } from '../../src/runtime/place-pool.js';
import { openSession } from '../../src/runtime/start-session.js';
import { HandJournal } from '../../src/testing/hand-journal.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { verify } from '../../src/verify/index.js';
import { property } from '../properties/property.js';
import { handTools } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { quiet, readAll, type StageOptions, toolCall } from './stage.js';

expectNoHarm();

type Options = Omit<StageOptions, 'driver' | 'hold'> & { readonly pool: PlacePool; readonly journal?: MemoryJournal };

/** A session on a pool, whose tool is in hand. */
async function pooled({ pool, ...options }: Options) {
  const hand = handTools();
  const far = scriptedProvider();
  const clock = new VirtualClock();
  const all = { connect: { model: 'scripted' }, tools: hand.tools, ...options, provider: far, clock };
  const { session, started } = openSession(all, { places: pool });
  await started;
  const { seen } = readAll(session);
  return {
    session,
    hand,
    seen,
    clock,
    async call(...ids: string[]) {
      for (const id of ids) far.emit(toolCall(id, 'hand'));
      await quiet();
    },
    async emit(...events: Parameters<typeof far.emit>[0][]) {
      for (const event of events) far.emit(event);
      await quiet();
    },
    async settle(id: string) {
      hand.code(id).resolve('done');
      await quiet();
    },
    get running() {
      return session
        .calls()
        .filter(({ state }) => state === 'executing')
        .map(({ id }) => id);
    },
  };
}

const words = ({ actor, event, to, data }: JournalRecord) => {
  const occurrence = data !== undefined && 'occurrence' in data ? data.occurrence : {};
  return [`${actor} ${event} > ${to}`, 'places' in occurrence ? [occurrence.places] : []].flat().join(' /');
};

describe('sessions that share a pool', () => {
  it('run no more calls at once than it has places, first come first served over all of them (K6, K7)', async () => {
    const pool = new PlacePool(2);
    const [one, two] = [await pooled({ pool }), await pooled({ pool })];
    await one.call('a', 'b');
    await two.call('x');
    await one.call('c');
    await two.call('y');
    expect([one.running, two.running, pool.waiting]).toEqual([['a', 'b'], [], 3]);
    await one.settle('a');
    // x asked before c
    expect([one.running, two.running]).toEqual([['b'], ['x']]);
    await one.settle('b');
    expect([one.running, two.running]).toEqual([['c'], ['x']]);
    await one.settle('c');
    await two.settle('x');
    expect([one.running, two.running, pool.free, pool.waiting]).toEqual([[], ['y'], 1, 0]);
  });

  it('keep the limit of their own beside it: a place that they cannot take is not asked for', async () => {
    const pool = new PlacePool(3);
    const one = await pooled({ pool, maxConcurrentTools: 1 });
    const two = await pooled({ pool });
    await one.call('a', 'b');
    expect([one.running, pool.free, pool.waiting]).toEqual([['a'], 2, 0]);
    await two.call('x', 'y');
    await one.settle('a');
    expect([one.running, two.running, pool.free]).toEqual([['b'], ['x', 'y'], 0]);
  });

  it('pass a place on at once that comes when the call was abandoned meanwhile (K8)', async () => {
    const pool = new PlacePool(1);
    const [one, two, three] = [await pooled({ pool }), await pooled({ pool }), await pooled({ pool })];
    await one.call('a');
    await two.call('x');
    await three.call('z');
    one.hand.code('a').resolve('done');
    // the place of a is lent to two, which is interrupted before it is told
    const lent = two.emit({ type: 'interrupted' });
    await lent;
    expect(two.session.calls().map(({ state }) => state)).toEqual(['abandoned']);
    expect([three.running, pool.free, pool.waiting]).toEqual([['z'], 0, 0]);
  });

  it('leave the queue when they end, and give back what they hold (K8)', async () => {
    const pool = new PlacePool(1);
    const [one, two, three] = [await pooled({ pool }), await pooled({ pool }), await pooled({ pool })];
    await one.call('a', 'b');
    await two.call('x', 'y');
    await three.call('z');
    await two.session.close();
    expect(pool.waiting).toBe(2);
    await one.session.close();
    await quiet();
    expect([three.running, pool.held, pool.waiting]).toEqual([['z'], 1, 0]);
    await three.session.close();
    expect([pool.held, pool.free, pool.waiting]).toEqual([0, 1, 0]);
    // code that runs on after its session holds nothing
    one.hand.code('a').resolve('late');
    await quiet();
    expect([pool.held, pool.free]).toEqual([0, 1]);
  });

  it('step on their own: none within a step of another (K9)', async () => {
    const pool = new PlacePool(1);
    const [one, two] = [await pooled({ pool }), await pooled({ pool })];
    await one.call('a');
    await two.call('x');
    const seen: string[] = [];
    one.session.lifecycle$.subscribe((event) => {
      if (event.type === 'call') seen.push(`one ${event.to}: x is ${two.session.calls()[0]?.state}`);
    });
    await one.settle('a');
    expect(seen).toEqual(['one publishing: x is queued', 'one completed: x is executing']);
  });

  it('record what the pool lent where that was too little, and the records are taken again (K2, K6)', async () => {
    const journal = memoryJournal();
    const pool = new PlacePool(1, 'pool_one');
    const one = await pooled({ pool, journal, sessionId: 'ses_one' });
    const two = await pooled({ pool, journal, sessionId: 'ses_two' });
    await one.call('a');
    await two.call('x', 'y');
    await one.settle('a');
    const records = journal.records.filter(({ event }) => ['input_accepted', 'placed', 'places_lent'].includes(event));
    expect(records.map(words)).toEqual([
      'ses_one/a input_accepted > queued',
      'ses_one/a placed > executing',
      'ses_two/x input_accepted > queued /0',
      'ses_two/y input_accepted > queued /0',
      'ses_two places_lent > open.responding /1',
      'ses_two/x placed > executing',
    ]);
    expect(journal.records[0]?.data).toMatchObject({ session: { pool: 'pool_one', poolPlaces: 1 } });
    await Promise.all([one.session.close(), two.session.close()]);
    expect((await verify(journal)).findings).toEqual([]);
  });

  it('give a place that was lent when they are told, not at an answer to a call that has its outcome', async () => {
    const flushes: (() => void)[] = [];
    const journal = new HandJournal(true, () => new Promise((resolve) => flushes.push(resolve)));
    const pool = new PlacePool(1);
    const one = await pooled({ pool, journal });
    const two = await pooled({ pool, journal, tools: [...handTools({ effect: 'read' }).tools] });
    await one.call('a');
    // a is abandoned before its start is durable; its place goes to x, and the next one to b
    await two.call('x');
    await one.emit({ type: 'interrupted' });
    await one.call('b');
    expect(one.session.calls().map(({ state }) => state)).toEqual(['abandoned', 'queued']);
    // the place of x comes to b in the very moment in which the start of a is durable
    flushes[0]?.();
    const ends = two.session.close();
    await ends;
    await quiet();
    expect(one.session.calls().map(({ state }) => state)).toEqual(['abandoned', 'starting']);
    await one.session.close();
    expect((await verify(journal)).findings).toEqual([]);
  });

  it('are lent none for what comes of a call that is complete, and so it is recorded (K2)', async () => {
    const journal = memoryJournal();
    const pool = new PlacePool(1);
    const slow = handTools({ timeoutMs: 10 });
    const one = await pooled({ pool, journal, tools: slow.tools });
    const two = await pooled({ pool, journal });
    await one.call('a');
    await one.clock.advance(10, quiet);
    await two.call('x');
    await one.call('b');
    // the place of x is lent to b; before that is told comes what the code of a has to say, which was given up
    two.hand.code('x').resolve('done');
    slow.code('a').resolve('late');
    await quiet();
    expect(one.session.calls().map(({ state }) => state)).toEqual(['completed', 'executing']);
    expect(journal.records.map(words).filter((said) => said.includes('/a code_resolved'))).toEqual([
      expect.stringMatching('/a code_resolved > completed /0$'),
    ]);
    await Promise.all([one.session.close(), two.session.close()]);
    expect((await verify(journal)).findings).toEqual([]);
  });

  it('count output that went by without a record, and give nobody a place for it', async () => {
    const journal = memoryJournal();
    const pool = new PlacePool(1);
    const one = await pooled({ pool, journal });
    const two = await pooled({ pool, journal });
    await one.call('a');
    await two.call('x');
    await two.emit({ type: 'turn_complete' }, { type: 'text', text: 'so' });
    await two.emit({ type: 'turn_complete' });
    await one.settle('a');
    expect(two.running).toEqual(['x']);
    await Promise.all([one.session.close(), two.session.close()]);
    expect((await verify(journal)).findings).toEqual([]);
  });
});

describe('a journal in which a pool', () => {
  async function written(): Promise<readonly JournalRecord[]> {
    const journal = memoryJournal();
    const pool = new PlacePool(2);
    const one = await pooled({ pool, journal });
    const two = await pooled({ pool, journal });
    await one.call('a', 'b');
    await two.call('x');
    await one.settle('a');
    return journal.records;
  }
  const numbersOf = async (records: readonly JournalRecord[]) =>
    (await verify(records, { replays: false })).findings.map(({ invariant }) => invariant);

  it('has fewer places than calls run is unsound (K6)', async () => {
    const records = await written();
    expect(await numbersOf(records)).toEqual([]);
    const poorer = records.map((record) =>
      record.data !== undefined && 'session' in record.data
        ? { ...record, data: { session: { ...record.data.session, poolPlaces: 1 } } }
        : record,
    );
    expect(await numbersOf(poorer)).toContain('K6');
  });

  it('lends less than is taken, or more than nothing while a call waits, is unsound (K2)', async () => {
    const records = await written();
    const lending = (event: string, places: number) =>
      records.map((record) =>
        record.event === event && (event === 'places_lent' || 'occurrence' in (record.data ?? {}))
          ? { ...record, data: { occurrence: { places } } }
          : record,
      );
    expect(await numbersOf(lending('places_lent', 0))).toEqual(['K2']);
    expect(await numbersOf(lending('input_accepted', 1))).toEqual(['K2']);
  });

  it('is said to lend another number diverges where that is another step', async () => {
    const records = await written();
    const changed = records.map((record) => {
      if (record.event !== 'input_accepted' || record.data === undefined) return record;
      const { data: _, ...others } = record;
      return others;
    });
    expect((await verify(changed)).findings.map(({ invariant }) => invariant)).toContain('divergent');
  });
});

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a pool of %f places is none', (places) => {
  expect(() => new PlacePool(places)).toThrow(InvalidInputError);
});

describe('a pool', () => {
  it('takes the newest wish away of a session that wants less: it keeps its turn (K8)', () => {
    const pool = new PlacePool(1);
    const [holder, one, two] = [pool.join(() => {}), pool.join(() => {}), pool.join(() => {})];
    holder.settle(1, 1, 0);
    one.settle(0, 0, 1);
    two.settle(0, 0, 1);
    one.settle(0, 0, 2);
    one.settle(0, 0, 1);
    holder.settle(0, 0, 0);
    expect([one.places, two.places, pool.waiting]).toEqual([1, 0, 1]);
  });

  /** One session of the model: what it wants and holds, without a limit of its own. */
  interface Client {
    lease: ReturnType<PlacePool['join']>;
    held: number;
    wanted: number;
    told: number;
  }
  type Move = readonly [client: number, of: 'want' | 'drop' | 'free' | 'use' | 'end', count: number];
  const moves = fc.array(
    fc.tuple(
      fc.nat({ max: 4 }),
      fc.constantFrom('want', 'want', 'drop', 'free', 'free', 'use', 'end'),
      fc.integer({ min: 1, max: 3 }),
    ) as fc.Arbitrary<Move>,
    { maxLength: 60 },
  );

  property(
    'is never overdrawn, serves in order of asking, and leaves nobody waiting (K6–K8)',
    fc.tuple(fc.integer({ min: 1, max: 4 }), moves),
    async ([places, steps]) => {
      const pool = new PlacePool(places);
      const clients: Client[] = Array.from({ length: 5 }, () => {
        const client: Client = { lease: pool.join(() => step(client)), held: 0, wanted: 0, told: 0 };
        return client;
      });
      /** The naive model: who waits, a place for each, oldest first. */
      const queue: Client[] = [];
      const reserved = new Map<Client, number>();
      const of = (client: Client) => reserved.get(client) ?? 0;
      const freeInModel = () => {
        const out = clients.reduce((sum, client) => sum + client.held + of(client), 0);
        return places - out;
      };
      const serve = () => {
        while (queue.length > 0 && freeInModel() > 0) {
          const first = queue.shift() as Client;
          reserved.set(first, of(first) + 1);
        }
      };
      /** A step of a session: takes what it can, and tells the pool; `freed`: what it gives back in it. */
      const step = (client: Client, freed = 0) => {
        client.told++;
        const offered = client.lease.places;
        expect(offered).toBe(of(client) + (queue.length > 0 ? 0 : freeInModel()));
        const taken = Math.min(offered, client.wanted);
        const ofReserved = Math.min(of(client), taken);
        client.wanted -= taken;
        client.held += taken - freed;
        client.lease.settle(taken, client.held, client.wanted);
        reserved.set(client, of(client) - ofReserved);
        const waits = () => queue.filter((one) => one === client).length;
        while (waits() > 0 && waits() + of(client) > client.wanted) queue.splice(queue.lastIndexOf(client), 1);
        if (of(client) > client.wanted) reserved.set(client, client.wanted);
        while (waits() + of(client) < client.wanted) queue.push(client);
        serve();
        expect([pool.held, pool.free, pool.waiting]).toEqual([
          clients.reduce((sum, one) => sum + one.held, 0),
          freeInModel(),
          queue.length,
        ]);
        expect(pool.held).toBeLessThanOrEqual(places);
        if (pool.waiting > 0) expect(pool.free).toBe(0);
      };
      for (const [index, what, count] of steps) {
        const client = clients[index] as Client;
        if (what === 'want') client.wanted += count;
        else if (what === 'drop') client.wanted = Math.max(0, client.wanted - count);
        else if (what === 'end') client.wanted = 0;
        else if (what === 'use') {
          // all that were told of something take it
          await quiet();
          for (const one of clients) expect(of(one)).toBe(0);
          continue;
        }
        const freed = what === 'free' ? Math.min(client.held, count) : what === 'end' ? client.held : 0;
        step(client, freed);
      }
      // everybody gives back: everybody is served, and the pool is whole
      for (let round = 0; round < 1000 && clients.some(({ held, wanted }) => held + wanted > 0); round++) {
        for (const client of clients) if (client.held > 0) step(client, client.held);
        await quiet();
      }
      expect(clients.map(({ held, wanted }) => held + wanted)).toEqual([0, 0, 0, 0, 0]);
      expect([pool.free, pool.held, pool.waiting]).toEqual([places, 0, 0]);
    },
    1,
  );
});

describe('many sessions on one pool', () => {
  type Op = readonly [session: number, what: 'call' | 'settle' | 'interrupt' | 'close'];
  const ops = fc.array(
    fc.tuple(
      fc.nat({ max: 5 }),
      fc.constantFrom('call', 'call', 'call', 'call', 'settle', 'settle', 'settle', 'interrupt', 'close'),
    ) as fc.Arbitrary<Op>,
    { maxLength: 50 },
  );
  const places = fc.integer({ min: 1, max: 4 });

  async function sessionsOn(pool: PlacePool, journal: MemoryJournal) {
    let running = 0;
    let most = 0;
    const executed: string[] = [];
    const rigs = await Promise.all(Array.from({ length: 6 }, () => pooled({ pool, journal })));
    for (const { session } of rigs) {
      session.lifecycle$.subscribe((event) => {
        if (event.type !== 'call') return;
        if (event.from === 'executing') running--;
        if (event.to !== 'executing') return;
        running++;
        most = Math.max(most, running);
        executed.push(event.id);
      });
    }
    return {
      rigs,
      executed,
      get most() {
        return most;
      },
      /** Lets every call end, however many wait. */
      async finish() {
        for (let round = 0; round < 200; round++) {
          const open = rigs.flatMap(({ running, hand }) => running.map((id) => hand.code(id)));
          if (open.length === 0) break;
          for (const code of open) code.resolve('done');
          await quiet();
        }
      },
    };
  }

  const stateOfAll = (rigs: readonly Awaited<ReturnType<typeof pooled>>[]) =>
    rigs.flatMap(({ session }) => session.calls().map(({ state }) => state));

  property(
    'one thing after another: who runs is who asked first (K7)',
    fc.tuple(places, ops),
    async ([size, steps]) => {
      const journal = memoryJournal();
      const pool = new PlacePool(size);
      const on = await sessionsOn(pool, journal);
      // the model: who waits, by session, the oldest first; and how many of each session run
      let queue: number[] = [];
      const runs = on.rigs.map(() => 0);
      let calls = 0;
      for (const [of, what] of steps) {
        const rig = on.rigs[of] as (typeof on.rigs)[number];
        const isOver = rig.session.actor.getSnapshot().status === 'done';
        const [oldest] = rig.running;
        if (what === 'call') {
          if (!isOver) queue.push(of);
          await rig.call(`c${++calls}`);
        } else if (what === 'settle') {
          if (oldest !== undefined) {
            runs[of] = (runs[of] as number) - 1;
            await rig.settle(oldest);
          }
        } else {
          queue = queue.filter((one) => one !== of);
          runs[of] = 0;
          if (what === 'interrupt') await rig.emit({ type: 'interrupted' });
          else await rig.session.close();
        }
        await quiet();
        while (queue.length > 0 && runs.reduce((sum, one) => sum + one, 0) < size) {
          const first = queue.shift() as number;
          runs[first] = (runs[first] as number) + 1;
        }
        expect(on.rigs.map(({ running }) => running.length)).toEqual(runs);
      }
      await on.finish();
      expect(stateOfAll(on.rigs).filter((state) => state === 'queued' || state === 'executing')).toEqual([]);
      expect([pool.free, pool.waiting]).toEqual([size, 0]);
      expect((await verify(journal)).findings).toEqual([]);
    },
    0.3,
  );

  property(
    'all at once: never more run than there are places, all are served, and the journal is sound (K6)',
    fc.tuple(places, ops),
    async ([size, steps]) => {
      const journal = memoryJournal();
      const pool = new PlacePool(size);
      const on = await sessionsOn(pool, journal);
      const going: Promise<unknown>[] = [];
      for (const [index, [of, what]] of steps.entries()) {
        const rig = on.rigs[of] as (typeof on.rigs)[number];
        const [oldest] = rig.running;
        if (what === 'call') going.push(rig.call(`c${index}`));
        else if (what === 'interrupt') going.push(rig.emit({ type: 'interrupted' }));
        else if (what === 'close') going.push(rig.session.close());
        else if (oldest !== undefined) going.push(rig.settle(oldest));
        // some things happen between two microtasks
        if (index % 3 === 0) await Promise.resolve();
        if (index % 7 === 0) await quiet();
      }
      await Promise.all(going);
      await on.finish();
      expect(on.most).toBeLessThanOrEqual(size);
      expect(new Set(on.executed).size).toBe(on.executed.length);
      expect(stateOfAll(on.rigs).filter((state) => state === 'queued' || state === 'executing')).toEqual([]);
      expect([pool.free, pool.waiting]).toEqual([size, 0]);
      expect((await verify(journal)).findings).toEqual([]);
    },
    0.3,
  );
});
