/** For every invariant that a journal shows: journals that break it, found under its number. */
import { describe, expect, test } from 'vitest';
import { invariants, verify } from '../../src/verify/index.js';
import { brokenConversations } from './broken-conversations.js';
import { brokenSessions } from './broken-sessions.js';
import { brokenSupervisors } from './broken-supervisors.js';

const broken = [...brokenSessions, ...brokenConversations, ...brokenSupervisors];

describe.each(broken)('$invariant: $title', ({ invariant, title, records }) => {
  test('is found under its number, and under no other', async () => {
    const { findings } = await verify(records);
    const found = new Set(findings.map((finding) => finding.invariant));
    expect(found).toContain(invariant);
    // whatever is broken, the machines do something else, and what follows may not hang together
    for (const other of ['divergent', 'structure'] as const) if (other !== invariant) found.delete(other);
    expect([...found]).toEqual([invariant]);
  });

  test('is found without the machines', async () => {
    const { findings } = await verify(records, { replays: false });
    const found = findings.some((finding) => finding.invariant === invariant);
    expect(found).toBe(invariant !== 'divergent' && !title.endsWith('for another reason'));
  });
});

test('there is one for every invariant that is judged, and for every one of the column of verification.md', () => {
  const column = 'D1 D2 D3 D4 D5 D6 D7 D9 D10 D11 D12 D13 D15 D16 C1 C2 C3 C4 C7 C8'.split(' ');
  const judged: string[] = invariants.map(({ number }) => number);
  expect(judged).toEqual(expect.arrayContaining(column));
  const rows = new Set<string>(broken.map(({ invariant }) => invariant));
  expect(judged.filter((number) => !rows.has(number))).toEqual([]);
});
