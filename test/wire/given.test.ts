import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BadFrameError } from '../../src/contract/errors.js';
import { decodeJsonLine, decodeSse } from '../../src/wire/index.js';
import { badFrameOf, inPiecesOf, readAll } from './streams.js';

// The cases are not ours to copy: they lie beside the repository, in CI and on our machines, and not beside a stranger's clone.
const folder = fileURLToPath(new URL('../../../shared/cases/fold/', import.meta.url));
const haveCases = existsSync(folder);
if (!haveCases) console.warn('No given cases beside the repository (../shared/cases/fold): their tests are skipped.');

const read = (name: string) => readFileSync(`${folder}${name}`);
const named = (ending: string) => (haveCases ? readdirSync(folder).filter((name) => name.endsWith(ending)) : []);

/** What stands in the way of the last event, where something does. */
const bad: Record<string, unknown> = {
  'sse-missing-padding.sse': {
    index: 5,
    offset: 132,
    expected: 'base64url with its padding',
    found: '3 characters, which is no multiple of four',
  },
  'sse-done-marker-after-the-finish.sse': {
    index: 4,
    offset: 104,
    expected: 'base64url with its padding',
    found: "'[' at character 0",
  },
};

describe.skipIf(!haveCases)('given cases', () => {
  test.each(named('.sse'))('%s', async (name) => {
    const whole = read(name);
    const frames = whole.toString().match(/^data/gm)?.length ?? 0;
    const reading = await readAll(decodeSse([whole]));
    const expected = bad[name] as { readonly index: number } | undefined;
    expect(reading.events.length).toBe(expected?.index ?? frames);
    expect(badFrameOf(reading)).toEqual(expected);
    for (const size of [1, 2, 3, 7, 64]) expect(await readAll(decodeSse(inPiecesOf(size, whole)))).toEqual(reading);
  });

  test('lines of JSON are events, but for the one that is meant not to be', () => {
    const refused: unknown[] = [];
    let events = 0;
    for (const name of named('.jsonl')) {
      for (const [i, line] of read(name).toString().split('\n').entries()) {
        if (line === '' || /^(\/\/|\{"(end|expect)")/.test(line)) continue;
        try {
          decodeJsonLine(line, i + 1);
          events += 1;
        } catch (error) {
          refused.push([name, error instanceof BadFrameError ? [error.line, error.found] : error]);
        }
      }
    }
    expect(refused).toEqual([['unreadable-unknown-key.jsonl', [5, 'key "clientActionz" is unknown']]]);
    expect(events).toBeGreaterThan(300);
  });
});
