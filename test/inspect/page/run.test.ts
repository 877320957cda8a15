/** The run at any instant, against a fold from scratch of the steps up to it (R1–R3, T1, T2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Run } from '../../../src/inspect/page/model/run.js';
import { treeAt } from '../../../src/inspect/page/model/tree.js';
import type { Edit, Step } from '../../../src/inspect/view/frames.js';
import { property } from '../../properties/property.js';
import { type Deed, runOf, step, steps } from './steps.js';

const deeds = fc.array(
  fc.record({
    actor: fc.nat(4),
    to: fc.nat(4),
    edit: fc.nat(13),
    id: fc.nat(3),
    isProvisional: fc.boolean(),
  }) as fc.Arbitrary<Deed>,
  { minLength: 1, maxLength: 60 },
);

/** What a reader of the frames would note down, one step after the other. */
function fold(told: readonly Step[]) {
  const states: Record<string, string> = {};
  const talk: { id: string; text: string; standing: string }[] = [];
  const latest = (id: string) => talk.filter((entry) => entry.id === id).at(-1);
  const change = (edit: Edit) => {
    if (edit.edit === 'add') {
      talk.push({ id: edit.id, text: edit.text, standing: edit.provisional ? 'provisional' : 'standing' });
      return;
    }
    const named = edit.id === undefined ? undefined : latest(edit.id);
    if (edit.edit === 'append') {
      if (named !== undefined && named.standing !== 'withdrawn') named.text += edit.text;
    } else if (edit.edit === 'replace') {
      if (named !== undefined)
        Object.assign(named, { text: edit.text, standing: edit.provisional ? 'provisional' : 'standing' });
    } else {
      const becomes = edit.edit === 'settle' ? 'standing' : 'withdrawn';
      for (const entry of edit.id === undefined ? talk : [named]) {
        if (entry === undefined) continue;
        const takes = entry.standing === 'provisional' || (edit.id !== undefined && edit.edit === 'withdraw');
        if (takes) entry.standing = becomes;
      }
    }
  };
  for (const { actor, to, edits } of told) {
    states[actor] = to;
    for (const edit of edits) change(edit);
  }
  return { states, talk };
}

/** What the page shows at an instant. */
function shown(run: Run, n: number) {
  const states: Record<string, string> = {};
  for (const { actor } of treeAt(run, n, new Set())) states[actor.id] = run.stateAt(actor, n);
  const { said } = run.talk.at(n, 1_000, true);
  return { states, talk: said.map(({ entry: { id }, text, standing }) => ({ id, text, standing })) };
}

describe('a run', () => {
  property(
    'R1, T1: is at every instant what folding the steps up to it makes of them',
    deeds,
    (what) => {
      const told = runOf(what);
      const run = new Run();
      run.add(steps(...told));
      for (let n = 0; n <= told.length; n++) expect(shown(run, n)).toEqual(fold(told.slice(0, n)));
    },
    0.3,
  );

  property(
    'R1: the same, however the frames cut it up, and while the rest has not come',
    fc.tuple(deeds, fc.integer({ min: 1, max: 7 })),
    ([what, size]) => {
      const told = runOf(what);
      const run = new Run();
      for (let at = 0; at < told.length; at += size) {
        run.add(steps(...told.slice(at, at + size)));
        expect(shown(run, run.last)).toEqual(fold(told.slice(0, at + size)));
      }
      const half = told.length >> 1;
      expect(shown(run, half)).toEqual(fold(told.slice(0, half)));
    },
    0.3,
  );

  it('R2: passes over a step that is known, and takes nothing after a gap', () => {
    const run = new Run();
    run.add(steps(step(1, { from: '' }), step(2), step(2, { to: 'closed' })));
    expect(run.last).toBe(2);
    expect(run.fault).toBeUndefined();
    run.add(steps(step(4, { to: 'closed' }), step(3)));
    expect(run.fault).toBe('step 3 was expected, step 4 came');
    expect([run.last, run.steps.length]).toEqual([2, 2]);
  });

  it('R2: counts from whichever step comes first', () => {
    const run = new Run();
    run.add(steps(step(7, { from: '', to: 'connecting' }), step(8)));
    expect([run.first, run.last, run.clamp(1), run.clamp(99)]).toEqual([7, 8, 7, 8]);
    expect(run.step(7)?.to).toBe('connecting');
  });

  property(
    'R3: keeps so many steps, and the states that the older ones led to',
    deeds,
    (what) => {
      const told = runOf(what);
      const run = new Run(undefined, { mostSteps: 16 });
      for (const one of told) run.add(steps(one));
      expect(run.steps.length).toBeLessThanOrEqual(20);
      expect(run.last).toBe(told.length);
      const { states, talk } = shown(run, run.last);
      const whole = fold(told);
      expect(talk).toEqual(whole.talk);
      for (const [actor, state] of Object.entries(states)) expect(state).toBe(whole.states[actor]);
      // Who is not there any more was over.
      for (const [actor, state] of Object.entries(whole.states))
        if (!(actor in states)) expect(state).toMatch(/completed|abandoned.settled/);
      for (let n = run.first; n <= run.last; n++) {
        const then = shown(run, n).states;
        for (const [id, state] of Object.entries(then)) expect(state).toBe(fold(told.slice(0, n)).states[id]);
      }
    },
    0.3,
  );

  it('R3: lets calls go that were over by then: what lives for ever holds no more than its bounds', () => {
    const run = new Run(undefined, { mostSteps: 100, mostEntries: 10 });
    run.add(steps(step(1, { from: '' })));
    for (let n = 2; n <= 9_999; n += 2) {
      const call = { actor: `s/c${n}`, kind: 'call' as const };
      const said = { edit: 'add' as const, id: `e${n}`, who: 'agent' as const, text: 'x', provisional: true };
      run.add(steps(step(n, { ...call, parent: 's', from: '', to: 'executing', edits: [said] })));
      run.add(steps(step(n + 1, { ...call, from: 'executing', to: 'completed' })));
    }
    expect(run.actors.size).toBeLessThan(70);
    expect(run.talk.entries.length).toBeLessThanOrEqual(12);
    expect(run.talk.at(run.last, 5, true)).toMatchObject({ earlier: 4_994 });
    expect(run.lanes.count).toBe(6);
    expect(run.losses.length).toBe(0);
  });
});

describe('an actor', () => {
  const told = [
    step(1, { from: '' }),
    step(2, { actor: 's/c1', kind: 'call', parent: 's', label: 'look', from: '', to: 'executing' }),
    step(3, {
      actor: 's/c1',
      kind: 'call',
      from: 'executing',
      to: 'abandoned.draining',
      why: 'interrupted',
      cause: 1,
    }),
    step(4, {
      actor: 's/c1',
      kind: 'call',
      from: 'abandoned.draining',
      to: 'abandoned.settled',
      why: 'late',
      cause: 3,
    }),
  ];
  const run = new Run();
  run.add(steps(...told));
  const call = run.actors.get('s/c1');

  it('keeps to the reason that decided what became of it', () => {
    expect(call?.why(2)).toBeUndefined();
    expect(call?.why(3)).toMatchObject({ n: 3, why: 'interrupted' });
    expect(call?.whyLater(3)).toBeUndefined();
    expect(call?.why(4)).toMatchObject({ n: 3, why: 'interrupted' });
    expect(call?.whyLater(4)).toMatchObject({ n: 4, why: 'late' });
    expect(run.losses).toEqual([3]);
  });

  it('has its causes up to what came from outside', () => {
    expect(run.causes(4).map(({ n }) => n)).toEqual([4, 3, 1]);
    expect(run.causes(99)).toEqual([]);
  });

  it('stops at a cause that is none: its own step, or a later one', () => {
    const odd = new Run();
    odd.add(steps(step(1, { from: '', cause: 1 }), step(2, { cause: 9 })));
    expect(odd.causes(1).map(({ n }) => n)).toEqual([1]);
    expect(odd.causes(2).map(({ n }) => n)).toEqual([2]);
  });

  it('is lit with the states around it', () => {
    expect(call === undefined ? [] : run.litAt(call, 3)).toEqual(['abandoned', 'abandoned.draining']);
    expect(call === undefined ? [] : run.litAt(call, 1)).toEqual([]);
  });

  it('is called by what is left of its id beside its parent', () => {
    expect([call?.label, call?.short]).toEqual(['look', 'c1']);
    expect([run.nameOf('s'), run.nameOf('s/c1'), run.nameOf('nobody')]).toEqual(['session', 'c1', 'nobody']);
  });
});

describe('what is judged', () => {
  it('collects findings, each once', () => {
    const run = new Run();
    const finding = { n: 1, actor: 's', invariant: 'D5', detail: 'a call ran twice' };
    run.add({ type: 'judged', upTo: 1, isJudged: true, findings: [finding] });
    run.add({ type: 'judged', upTo: 2, isJudged: true, findings: [finding, { ...finding, n: 2 }] });
    expect(run.findings.map(({ n }) => n)).toEqual([1, 2]);
    expect(run.judged).toEqual({ upTo: 2, isJudged: true });
  });
});

describe('time', () => {
  it('counts from the first step, and goes on doing so when that is let go', () => {
    const run = new Run(undefined, { mostSteps: 4 });
    for (let n = 1; n <= 9; n++) run.add(steps(step(n, { at: 1_796_071_717_140 + n * 2.5, from: n === 1 ? '' : 'x' })));
    expect(run.first).toBeGreaterThan(1);
    const last = run.step(9);
    expect(last === undefined ? '' : run.timeOf(last)).toBe('20');
  });
});
