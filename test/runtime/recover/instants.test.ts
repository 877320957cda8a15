/**
 * Wherever a process dies: at every instant of random sessions, for every piece
 * of the journal that may then be left, what `recover` says is true to what was
 * done to the world, and `onLate` is told once at most.
 */
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import type { BidiEvent } from '../../../src/contract/provider.js';
import { type Recovery, recover } from '../../../src/runtime/index.js';
import { verify } from '../../../src/verify/verify.js';
import { Broken, property } from '../../properties/property.js';
import { expectNoHarm } from '../no-harm.js';
import { untruthsOf } from './truth.js';
import { LeftJournal, World, type WorldTool } from './world.js';

expectNoHarm();

const names = ['a', 'b', 'c'] as const;
const ids = ['1', '2', '3', '4/x', '5', '6'] as const;

const tool: fc.Arbitrary<WorldTool> = fc.record({
  onInterruption: fc.constantFrom('abandon', 'cancel', 'deliver'),
  effect: fc.constantFrom('read', 'idempotent', 'irreversible'),
  timeoutMs: fc.constantFrom(0, 0, 10),
  needsApproval: fc.constantFrom(false, false, true),
});

type Happening =
  | { readonly what: 'call'; readonly name: string; readonly args: string }
  | { readonly what: 'approve' | 'deny' | 'withdraw'; readonly id: string }
  /** `of`: the calls that wait for this. */
  | { readonly what: 'settle' | 'reject' | 'accept' | 'refuse'; readonly of: number }
  | { readonly what: 'far'; readonly event: BidiEvent }
  | { readonly what: 'clock'; readonly ms: number }
  | { readonly what: 'flush' | 'close' };

const one = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  one(
    8,
    fc.record({
      what: fc.constant('call' as const),
      name: fc.constantFrom(...names, ...names, ...names, 'nobody'),
      args: fc.constantFrom('{}', '{}', '{}', 'no JSON'),
    }),
  ),
  one(4, fc.record({ what: fc.constantFrom('approve', 'approve', 'deny', 'withdraw'), id: fc.constantFrom(...ids) })),
  one(6, fc.record({ what: fc.constantFrom('settle', 'settle', 'settle', 'reject'), of: fc.nat(5) })),
  one(6, fc.record({ what: fc.constantFrom('accept', 'accept', 'refuse'), of: fc.nat(5) })),
  one(9, fc.record({ what: fc.constant('flush' as const) })),
  one(2, fc.constant({ what: 'far' as const, event: { type: 'interrupted' } as const })),
  one(2, fc.constant({ what: 'far' as const, event: { type: 'text', text: 'hm' } as const })),
  one(1, fc.constantFrom({ what: 'clock' as const, ms: 12 }, { what: 'clock' as const, ms: 50 })),
  one(1, fc.constantFrom<Happening>({ what: 'close' }, { what: 'far', event: { type: 'closed' } })),
);

interface Life {
  readonly durable: boolean;
  readonly tools: Readonly<Record<string, WorldTool>>;
  readonly happenings: readonly Happening[];
}

const life: fc.Arbitrary<Life> = fc.record({
  durable: fc.constantFrom(true, true, true, false),
  tools: fc.record({ a: tool, b: tool, c: tool }),
  happenings: fc.array(happening, { minLength: 1, maxLength: 40 }),
});

async function happen(world: World, { happenings }: Life): Promise<void> {
  let next = 0;
  for (const happening of happenings) {
    switch (happening.what) {
      case 'call': {
        const id = ids[next++];
        if (id !== undefined) await world.call(id, happening.name, happening.args);
        break;
      }
      case 'settle':
        await world.settle(among(world.waiting.code, happening.of));
        break;
      case 'reject':
        await world.settle(among(world.waiting.code, happening.of), new TypeError('no'));
        break;
      case 'accept':
        await world.answer(among(world.waiting.publishes, happening.of), 'accepted');
        break;
      case 'refuse':
        await world.answer(among(world.waiting.publishes, happening.of), 'refused');
        break;
      case 'approve':
        world.session.approve(happening.id).catch(() => {});
        await world.emit();
        break;
      case 'deny':
        world.session.deny(happening.id, 'no').catch(() => {});
        await world.emit();
        break;
      case 'withdraw':
        await world.emit({ type: 'tool_call_cancelled', ids: [happening.id] });
        break;
      case 'far':
        await world.emit(happening.event);
        break;
      case 'clock':
        await world.advance(happening.ms);
        break;
      case 'flush':
        await world.flush();
        break;
      case 'close':
        world.session.close().catch(() => {});
        await world.emit();
        break;
    }
  }
}

/** One of them, or a call that is none. */
function among(calls: readonly string[], of: number): string {
  return calls[of % calls.length] ?? 'none';
}

/** What was found over all runs: calls by outcome, and how many crashes were looked at. */
const found = new Map<string, number>();
let crashes = 0;

async function check(life: Life): Promise<void> {
  const world = new World(life.durable, life.tools);
  await world.emit();
  await happen(world, life);
  const findings = new Set<string>();
  const recoveries: Recovery[] = [];
  const told = (recovery: Recovery) => recovery.calls.filter(({ notice }) => notice === 'given').map(({ id }) => id);
  const { tools } = world;
  const instants = [...world.instants];
  for (let left = 0; left <= world.journal.records.length; left++) {
    const before = world.now.facts;
    const journal = new LeftJournal(world.left(left));
    const recovery = await recover(journal, { tools, calls: 'all', at: 0 });
    recoveries.push(recovery);
    // the notices went to the tools of the world: each as often as the recovery says
    for (const [id, { told: times }] of world.now.facts) {
      const expected = (before.get(id)?.told ?? 0) + (told(recovery).includes(id) ? 1 : 0);
      if (times !== expected) findings.add(`${id}: onLate was told ${times} times, expected ${expected}`);
    }
    // the next run begins, so that the records of the recovery are not the last
    const next = world.left(1).map((first) => ({ ...first, actor: 'ses_next' }));
    const { findings: unsound } = await verify(new LeftJournal([...journal.records, ...next]));
    for (const { invariant, actor, what } of unsound)
      findings.add(`verify, ${left} records: ${invariant} ${actor}: ${what}`);
    // what is kept while the journal is read makes no difference to what is said
    const some = await recover(new LeftJournal(world.left(left)), { tools: [], calls: 'unfinished' });
    const undecided = ['admitted', 'awaiting_approval', 'queued', 'starting', 'executing', 'committing', 'publishing'];
    const isWhole = recovery.calls.every(({ state }) => !undecided.includes(state));
    const hasEnded = isWhole && recovery.sessions.some(({ state }) => state === 'closed');
    const expected = hasEnded ? recovery.calls.filter(({ notice }) => notice === 'given') : recovery.calls;
    const idsOf = (calls: Recovery['calls']) => calls.map(({ id, outcome }) => `${id} ${outcome}`).join();
    if (idsOf(some.calls) !== idsOf(expected))
      findings.add(`listed: ${idsOf(some.calls)}, expected ${idsOf(expected)}`);
    if (JSON.stringify(some.counts) !== JSON.stringify(recovery.counts)) findings.add('the counts differ');
    const again = await recover(journal, { tools, calls: 'all', at: 0 });
    if (told(again).length > 0) findings.add(`a second recovery tells ${told(again).join()} again`);
    const outcomes = ({ calls }: Recovery) => JSON.stringify(calls.map(({ id, outcome, code }) => [id, outcome, code]));
    if (outcomes(again) !== outcomes(recovery)) findings.add('a second recovery finds something else');
    for (const { outcome } of recovery.calls) found.set(outcome, (found.get(outcome) ?? 0) + 1);
  }
  for (const { durable, appended, facts } of instants) {
    for (let left = life.durable ? durable : 0; left <= appended; left++) {
      crashes++;
      for (const untruth of untruthsOf(recoveries[left] as Recovery, facts, life.durable)) {
        findings.add(`with ${left} of ${appended} records: ${untruth}`);
      }
    }
  }
  if (findings.size > 0) throw new Broken([...findings].slice(0, 20), JSON.stringify(life, undefined, 1));
}

describe('a process that dies', () => {
  property('is told of truly, wherever it dies', life, check);

  afterAll(() => {
    // what random sessions must have led to, or nothing was shown
    for (const outcome of ['not_started', 'outcome_unknown', 'publish_unknown', 'delivered', 'refused', 'abandoned']) {
      expect(found.get(outcome) ?? 0, outcome).toBeGreaterThan(0);
    }
    expect(crashes).toBeGreaterThan(1000);
  });
});
