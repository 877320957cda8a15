/**
 * Random lives of children under one supervisor, against a model that knows no runtime: how many sessions live, how many
 * incarnations each has had, why it ended, and in which order what it says may come.
 */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type EndReason, restartsAfter } from '../../../machines/index.js';
import type { LifecycleEvent } from '../../../src/contract/lifecycle.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import { memoryJournal } from '../../../src/journal/index.js';
import type { SupervisedSession } from '../../../src/runtime/index.js';
import { expectLegal } from '../../../src/testing/index.js';
import { verify } from '../../../src/verify/index.js';
import { property } from '../../properties/property.js';
import { outcomeOf, quiet } from '../stage.js';
import { FarSide, type Line, stage, text, watch } from './stage.js';

const maxSessions = 3;
const intensity = 2;
const periodMs = 1000;
const backoffMs = 100;

type Act =
  | { readonly act: 'start'; readonly type: 'temporary' | 'transient' | 'permanent' }
  | {
      readonly act: 'says' | 'closes' | 'ends' | 'fails' | 'breaks' | 'send' | 'close' | 'close incarnation';
      readonly of: number;
    }
  | { readonly act: 'pass'; readonly ms: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('start' as const),
      type: fc.constantFrom('temporary', 'transient', 'permanent'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constantFrom('says', 'closes', 'ends', 'fails', 'breaks', 'send', 'close', 'close incarnation'),
      of: fc.nat(5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(0, 50, 100, 400, 1000) }),
  },
);

/** What a session is to the model. */
class Expected {
  state: 'open' | 'gap' | 'over' = 'open';
  incarnations = 1;
  reason: EndReason | undefined;
  failed = false;
  dueAt = 0;
  readonly restarts: number[] = [];
  /** What is said, in order, by incarnation. */
  readonly said: string[] = [];

  constructor(readonly type: 'temporary' | 'transient' | 'permanent') {}

  ends(reason: EndReason, now: number): void {
    const recent = this.restarts.filter((time) => time > now - periodMs);
    const isAgain = restartsAfter(this.type, reason);
    this.failed = isAgain && recent.length >= intensity;
    if (isAgain && !this.failed) {
      this.restarts.push(now);
      this.state = 'gap';
      this.dueAt = now + backoffMs;
    } else {
      this.state = 'over';
      this.reason = reason;
    }
  }
}

interface Life {
  readonly far: FarSide;
  readonly session: SupervisedSession;
  readonly expected: Expected;
  readonly seen: BidiTurnEvent[];
  readonly notes: LifecycleEvent[];
}

const endings: Record<string, { readonly reason: EndReason; by(line: Line): void }> = {
  closes: { reason: 'far_side', by: ({ far }) => far.emit({ type: 'closed' }) },
  ends: { reason: 'stream_ended', by: ({ far }) => far.end() },
  fails: { reason: 'stream_failed', by: ({ far }) => far.fail(new Error('cut')) },
  breaks: { reason: 'protocol_failure', by: ({ far }) => far.emit({ type: 'text' }) },
};

async function live(history: readonly Act[]): Promise<void> {
  const journal = memoryJournal();
  const { supervisor, start, pass, clock } = stage({ journal, maxSessions });
  const lives: Life[] = [];
  let refused = 0;
  const living = () => lives.filter(({ expected }) => expected.state !== 'over');

  const check = () => {
    expect(supervisor.stats).toMatchObject({
      sessions: living().length,
      restarting: lives.filter(({ expected }) => expected.state === 'gap').length,
      ended: lives.length - living().length,
      failures: lives.filter(({ expected }) => expected.failed).length,
      refused,
    });
    expect(supervisor.list()).toEqual(living().map(({ session }) => session));
    for (const { far, session, expected } of lives) {
      expect(far.lines).toHaveLength(expected.incarnations);
      expect(session.current !== undefined).toBe(expected.state === 'open');
    }
  };

  for (const act of history) {
    if (act.act === 'start') {
      const far = new FarSide();
      const options = { restart: { type: act.type, intensity, periodMs, backoff: () => backoffMs } };
      const outcome = await outcomeOf(start(far, options));
      if (living().length === maxSessions) {
        refused++;
        expect(outcome).toMatchObject({ error: { code: 'supervisor_limit' } });
      } else {
        const session = (outcome as { value: SupervisedSession }).value;
        const { seen, notes } = watch(session);
        lives.push({ far, session, expected: new Expected(act.type), seen, notes });
      }
    } else if (act.act === 'pass') {
      const now = clock.now() + act.ms;
      for (const { expected } of lives) {
        if (expected.state !== 'gap' || expected.dueAt > now) continue;
        expected.state = 'open';
        expected.incarnations++;
      }
      await pass(act.ms);
    } else {
      const life = lives[act.of % Math.max(1, lives.length)];
      if (life === undefined) continue;
      const { far, session, expected } = life;
      const ending = endings[act.act];
      if (ending !== undefined) {
        ending.by(far.last);
        if (expected.state === 'open') expected.ends(ending.reason, clock.now());
      } else if (act.act === 'says') {
        const word = `${expected.incarnations}:${expected.said.length}`;
        far.last.far.emit(text(word));
        if (expected.state === 'open') expected.said.push(word);
      } else if (act.act === 'send') {
        const outcome = await outcomeOf(session.send({ type: 'text', text: 'x' }));
        const code = { open: undefined, gap: 'session_restarting', over: 'session_ended' }[expected.state];
        expect(outcome).toMatchObject(code === undefined ? { value: undefined } : { error: { code } });
      } else if (act.act === 'close') {
        await session.close();
        if (expected.state !== 'over') expected.reason = 'host';
        expected.state = 'over';
      } else {
        await session.current?.close();
        if (expected.state === 'open') expected.ends('host', clock.now());
      }
      await quiet();
    }
    check();
  }

  const { children } = await supervisor.shutdown();
  // in the order of their ends: where there is nobody to close a session ends at once
  const youngestFirst = living().reverse();
  const inOrderOfEnd = ['gap', 'open'].flatMap((state) =>
    youngestFirst.filter(({ expected }) => expected.state === state).map(({ session }) => session.id),
  );
  expect(children.map(({ id }) => id)).toEqual(inOrderOfEnd);
  for (const { session, expected, seen, notes } of lives) {
    const report = await session.closed;
    expect(report).toMatchObject({
      reason: expected.reason ?? 'host',
      incarnations: expected.incarnations,
      failed: expected.failed,
    });
    expect(seen.flatMap((event) => (event.type === 'text' ? [event.text] : []))).toEqual(expected.said);
    // the events of an incarnation are together, and legal
    const ids = seen.map(({ sessionId }) => sessionId);
    const inOrder = ids.filter((id, index) => id !== ids[index - 1]);
    expect(new Set(inOrder).size).toBe(inOrder.length);
    for (const id of inOrder) expectLegal(seen.filter(({ sessionId }) => sessionId === id));
    const restarted = notes.filter(({ type }) => type === 'restarted');
    expect(restarted.map((note) => 'attempt' in note && note.attempt)).toEqual(restarted.map((_, index) => index + 1));
    expect(restarted).toHaveLength(expected.incarnations - 1);
  }
  expect(clock.pending).toBe(0);
  expect((await verify(journal)).findings).toEqual([]);
}

describe('random lives of sessions under a supervisor', () => {
  property('go as the model says, and leave nothing behind', fc.array(acts, { maxLength: 30 }), live, 0.3);
});
