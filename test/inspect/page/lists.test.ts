/** Rows, search, lanes and marks of the page (W1, L1, L2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LaneBook } from '../../../src/inspect/page/model/lanes.js';
import { isOver, markOf, marks } from '../../../src/inspect/page/model/marks.js';
import { Rows } from '../../../src/inspect/page/model/rows.js';
import { Run } from '../../../src/inspect/page/model/run.js';
import { isFiltering, matcher, noFilter } from '../../../src/inspect/page/model/search.js';
import { countUpTo } from '../../../src/inspect/page/model/search-sorted.js';
import { marks as drawn } from '../../../src/scenario/timeline/row.js';
import { property } from '../../properties/property.js';
import { step, steps } from './steps.js';

describe('rows', () => {
  property(
    'W1: are those of every step in order, however far each look goes and however the rule changes',
    fc.tuple(fc.array(fc.nat(3), { maxLength: 50 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 60 })),
    ([counts, stretch, cut]) => {
      const run = new Run();
      const told = counts.map((_, at) => step(at + 1));
      const rows = new Rows(() => 9);
      run.add(steps(...told.slice(0, cut)));
      rows.advance(run, stretch);
      rows.restart(({ n }) => counts[n - 1] ?? 0);
      rows.advance(run, stretch);
      run.add(steps(...told));
      let turns = 0;
      while (!rows.advance(run, stretch)) expect(++turns).toBeLessThan(100);
      const all = counts.flatMap((count, at) => Array.from({ length: count }, (_, part) => [at + 1, part]));
      expect(rows.steps.map((n, at) => [n, rows.parts[at]])).toEqual(all);
      for (let n = 0; n <= counts.length; n++) expect(rows.upTo(n)).toBe(all.filter(([of = 0]) => of <= n).length);
    },
  );

  it('begin anew when steps were let go', () => {
    const run = new Run(undefined, { mostSteps: 8 });
    const rows = new Rows(() => 1);
    for (let n = 1; n <= 40; n++) {
      run.add(steps(step(n)));
      rows.advance(run, 100);
      expect(rows.steps).toEqual(run.steps.map((one) => one.n));
    }
    expect(run.generation).toBeGreaterThan(5);
  });
});

describe('a search', () => {
  const told = step(1, {
    actor: 'ses/c1',
    kind: 'call',
    label: 'Book_Room',
    event: 'interrupted',
    did: [{ effect: 'abortSignal', detail: 'timeout' }],
    arrows: [{ from: 'session', to: 'host', text: 'tool_abandoned' }],
    edits: [{ edit: 'add', id: 'e', who: 'agent', text: 'Room seven', provisional: true }],
    why: 'it was spoken over',
  });

  it.each(['INTERR', 'c1', 'book_room', 'abortsignal', 'timeout', 'tool_abandoned', 'room seven', 'spoken', ''])(
    'finds %s, wherever it stands',
    (text) => expect(matcher({ ...noFilter, text })(told)).toBe(true),
  );

  it('wants every word, the kind and the actor', () => {
    expect(matcher({ ...noFilter, text: 'room nowhere' })(told)).toBe(false);
    expect(matcher({ ...noFilter, kinds: ['session', 'call'] })(told)).toBe(true);
    expect(matcher({ ...noFilter, kinds: ['session'] })(told)).toBe(false);
    expect(matcher({ ...noFilter, actor: 'ses' })(told)).toBe(false);
    expect(isFiltering(noFilter)).toBe(false);
    expect(isFiltering({ text: '', kinds: [], actor: 'ses' })).toBe(true);
  });
});

describe('lanes', () => {
  const call = (n: number, id: string, to = 'executing') => step(n, { actor: id, kind: 'call', from: '', to });

  it('L1, L2: are apart at first, are used again once their owner is over, and are never changed', () => {
    const book = new LaneBook();
    for (let n = 1; n <= 7; n++) book.take(call(n, `c${n}`));
    expect(book.count).toBe(7);
    book.take(call(8, 'c3', 'completed'));
    book.take(call(9, 'c9'));
    expect(book.columnOf('c9')).toBe(book.columnOf('c3'));
    expect([book.ownerOf(2, 8), book.ownerOf(2, 9), book.ownedSince(2, 9)]).toEqual(['c3', 'c9', 9]);
    book.take(call(10, 'c10'));
    expect(book.columnOf('c10')).toBe(7);
    expect(book.placeOf('host')).toBe(10);
    expect(book.placeOf('actor:c7')).toBe(8);
  });

  it('L2: are no more than a page can show, whatever runs', () => {
    const book = new LaneBook();
    for (let n = 1; n <= 100; n++) book.take(call(n, `c${n}`));
    expect(book.count).toBe(24);
    expect(book.columnOf('c100')).toBe(23);
  });

  it('are given to whoever a line runs to', () => {
    const book = new LaneBook();
    book.take(step(1, { arrows: [{ from: 'session', to: 'actor:t', text: '' }] }));
    expect(book.placeOf('actor:t')).toBe(2);
  });
});

describe('marks', () => {
  it('are those of the timeline', () => expect(marks).toEqual(drawn));

  it('stand where a call comes to something', () => {
    const mark = (from: string, to: string) => markOf(step(1, { kind: 'call', from, to }))?.glyph ?? '';
    expect(mark('', 'admitted')).toBe('○');
    expect(mark('admitted', 'queued')).toBe('');
    expect(mark('queued', 'executing')).toBe('▶');
    expect(mark('executing', 'committing')).toBe('●');
    expect(mark('executing', 'publishing')).toBe('◆');
    expect(mark('publishing', 'completed')).toBe('✔');
    expect(mark('executing', 'abandoned.draining')).toBe('✕');
    expect(mark('abandoned.draining', 'abandoned.settled')).toBe('◇');
    expect(mark('queued', 'cancelled')).toBe('■');
    expect(markOf(step(1))).toBeUndefined();
  });

  it('know when a life is over', () => {
    expect(isOver('call', 'abandoned.draining')).toBe(false);
    expect(isOver('call', 'abandoned.settled')).toBe(true);
    expect(isOver('transaction', 'rolled_back')).toBe(true);
    expect(isOver('session', 'closed')).toBe(true);
  });
});

describe('numbers that grow', () => {
  property('are counted up to a limit', fc.tuple(fc.array(fc.nat(20)), fc.nat(22)), ([numbers, limit]) => {
    const sorted = [...numbers].sort((one, two) => one - two);
    expect(countUpTo(sorted, limit)).toBe(sorted.filter((number) => number <= limit).length);
  });
});
