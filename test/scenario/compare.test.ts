import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareTrace } from '../../src/scenario/compare.js';
import { parseScenario } from '../../src/scenario/parse.js';
import type { ExpectedLine, TraceLine } from '../../src/scenario/scenario.js';
import { matchesText } from '../../src/scenario/text-pattern.js';
import { property } from '../properties/property.js';
import { expectedLine } from './arbitraries.js';

/** As `expect` steps are read. */
function expected(text: string): readonly ExpectedLine[] {
  const step = parseScenario(`{"expect":${text}}`, 'x').steps[0]?.step;
  return step !== undefined && 'expect' in step ? step.expect : [];
}

const found = (text: string) => expected(text) as unknown as readonly TraceLine[];

const compare = (one: string, other: string) => compareTrace(expected(one), found(other));

describe('lines that are equal', () => {
  test.each([
    ['[]', '[]'],
    ['[{"event":{"type":"text","text":"a"}}]', '[{"event":{"text":"a","type":"text"}}]'],
    [
      '[{"tool":"t1","execute":{"a":{"x":1,"y":[1,null,true]}}}]',
      '[{"execute":{"a":{"y":[1,null,true],"x":1}},"tool":"t1"}]',
    ],
    [
      '[{"closed":{"reason":"host","calls":{"2":"a","1":"b"}}}]',
      '[{"closed":{"calls":{"2":"a","1":"b"},"reason":"host"}}]',
    ],
    ['[{"event":{"type":"error","message":"…"}}]', '[{"event":{"type":"error","message":"whatever"}}]'],
  ])('%s', (one, other) => {
    expect(compare(one, other)).toEqual({ equal: true, differences: [], diff: '' });
  });

  test('a key that holds nothing is no key', () => {
    const line = { event: { type: 'closed', reason: undefined } } as unknown as TraceLine;
    expect(compareTrace([{ event: { type: 'closed' } }], [line]).equal).toBe(true);
  });

  property('whatever they hold', fc.array(expectedLine, { maxLength: 6 }), (lines) => {
    expect(compareTrace(lines, lines as unknown as TraceLine[]).equal).toBe(true);
  });
});

describe('lines that differ', () => {
  test.each([
    ['[{"a":1}]', '[{"a":2}]', 'a: expected 1, found 2'],
    ['[{"a":1}]', '[{"a":"1"}]', 'a: expected 1, found "1"'],
    ['[{"a":null}]', '[{"a":{}}]', 'a: expected null, found an object'],
    ['[{"a":[1]}]', '[{"a":{"0":1}}]', 'a: expected an array, found an object'],
    ['[{"a":[1]}]', '[{"a":[1,2]}]', 'a: expected 1 elements, found 2'],
    ['[{"a":[1,2]}]', '[{"a":[1,3]}]', 'a[1]: expected 2, found 3'],
    ['[{"a":{"b":1,"c":2}}]', '[{"a":{"b":1}}]', 'a: expected a key "c", found none'],
    ['[{"a":{"b":1}}]', '[{"a":{"b":1,"c":2}}]', 'a: expected no further key, found "c"'],
    [
      '[{"closed":{"calls":{"t1":"a","t2":"b"}}}]',
      '[{"closed":{"calls":{"t2":"b","t1":"a"}}}]',
      'closed.calls: expected the order t1, t2, found t2, t1',
    ],
    [
      '[{"closed":{"calls":{"2":"a","1":"b"}}}]',
      '[{"closed":{"calls":{"1":"b","2":"a"}}}]',
      'closed.calls: expected the order 2, 1, found 1, 2',
    ],
    ['[{"x":"a…c"}]', '[{"x":"abd"}]', 'x: expected "a…c", found "abd"'],
  ])('%s and %s', (one, other, problem) => {
    const { equal, differences, diff } = compare(one, other);
    expect(equal).toBe(false);
    expect(differences).toMatchObject([{ kind: 'different', expectedIndex: 0, foundIndex: 0, problem }]);
    expect(diff).toContain(problem);
  });

  test('missing and unexpected lines are told by their place', () => {
    const missing = compare('[{"a":1},{"b":1},{"c":1}]', '[{"a":1},{"c":1}]');
    expect(missing.differences).toEqual([{ kind: 'missing', expectedIndex: 1, expected: { b: 1 } }]);
    const unexpected = compare('[{"a":1},{"c":1}]', '[{"a":1},{"b":1},{"c":1}]');
    expect(unexpected.differences).toEqual([{ kind: 'unexpected', foundIndex: 1, found: { b: 1 } }]);
  });

  test('order of lines matters', () => {
    expect(compare('[{"a":1},{"b":1}]', '[{"b":1},{"a":1}]').equal).toBe(false);
  });

  test('the diff shows both sides, numbered, with what is around them', () => {
    const lines = Array.from({ length: 12 }, (_, index) => ({ n: index }));
    const other = lines.map((line) => (line.n === 6 ? { n: 'six' } : line));
    const { diff } = compareTrace(lines, other as unknown as TraceLine[]);
    expect(diff.split('\n')).toEqual([
      '- expected',
      '+ found',
      '  (3 equal lines)',
      '   4  {"n":3}',
      '   5  {"n":4}',
      '   6  {"n":5}',
      '-  7  {"n":6}',
      '+  7  {"n":"six"}',
      '      ^ n: expected 6, found "six"',
      '   8  {"n":7}',
      '   9  {"n":8}',
      '  10  {"n":9}',
      '  (2 equal lines)',
    ]);
  });

  property(
    'one line more, one less, one changed: never equal',
    fc.tuple(fc.array(expectedLine, { minLength: 1, maxLength: 5 }), fc.nat()),
    ([lines, at]) => {
      const index = at % lines.length;
      const without = lines.filter((_, other) => other !== index) as unknown as TraceLine[];
      const more = [...lines, { further: true }] as unknown as TraceLine[];
      const changed = lines.map((line, other) =>
        other === index ? { ...line, changed: 1 } : line,
      ) as unknown as TraceLine[];
      for (const other of [without, more, changed]) expect(compareTrace(lines, other).equal).toBe(false);
    },
  );

  test('deep values do not exhaust the stack', () => {
    let [one, other]: unknown[] = [1, 2];
    for (let depth = 0; depth < 50_000; depth++) [one, other] = [[one], { deep: other }];
    expect(compareTrace([{ one, other }], [{ one, other } as unknown as TraceLine]).equal).toBe(true);
    expect(compareTrace([{ one, other }], [{ one: other, other: one } as unknown as TraceLine]).equal).toBe(false);
  });

  test('traces of thousands of lines that have little in common are compared all the same', () => {
    const lines = (seed: number) => Array.from({ length: 5_000 }, (_, index) => ({ n: index * seed }));
    const { equal, differences } = compareTrace(lines(2), lines(3) as unknown as TraceLine[]);
    expect(equal).toBe(false);
    expect(differences.length).toBe(4_999);
  });
});

describe('… in a text', () => {
  test.each([
    ['', '', true],
    ['', 'a', false],
    ['a', 'a', true],
    ['…', '', true],
    ['…', 'a\nb', true],
    ['a…', 'a', true],
    ['a…', 'ba', false],
    ['…a', 'ba', true],
    ['…a', 'ab', false],
    ['a…a', 'a', false],
    ['a…a', 'aa', true],
    ['ab…ba', 'aba', false],
    ['…b…', 'abc', true],
    ['…b…', 'ac', false],
    ['a…b…c', 'a1b2c', true],
    ['a…b…c', 'a1c2b', false],
    ['…ab…ab…', 'ab', false],
    ['…ab…ab…', 'xabab', true],
    ['……', 'x', true],
    ['a.c', 'abc', false],
    ['(…)*', '(x)*', true],
    ['a…', 'a…b', true],
    ['…', '…', true],
  ])('%j and %j: %j', (pattern, text, matches) => {
    expect(matchesText(pattern, text)).toBe(matches);
  });

  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 3 });

  property(
    'says what the same expression says',
    fc.tuple(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 }),
    ),
    ([pieces, text]) => {
      const expression = new RegExp(`^${pieces.map((one) => one.replaceAll('.', '\\.')).join('[^]*')}$`);
      expect(matchesText(pieces.join('…'), text)).toBe(expression.test(text));
    },
  );

  test('many of them in a long text take no time', () => {
    const pattern = `${'…a'.repeat(2_000)}…b`;
    expect(matchesText(pattern, 'a'.repeat(200_000))).toBe(false);
    expect(matchesText(pattern, `${'a'.repeat(200_000)}b`)).toBe(true);
  });
});
