import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import type { Scenario, TimelineEntry } from '../../src/scenario/scenario.js';
import { columns } from '../../src/scenario/timeline/text.js';
import { drawTimeline } from '../../src/scenario/timeline.js';
import { expectedRun, given } from './given.js';

const run = (...lines: string[]): TimelineEntry[] => expectedRun(parseScenario(lines.join('\n'), 'x') as Scenario);

const interrupted = run(
  '{"provider":{"holdPublish":true,"abandonToolCall":true}}',
  '{"far":{"type":"text","text":"I will"}}',
  '{"expect":[{"provider":"connect"},{"event":{"type":"text","text":"I will"}}]}',
  '{"far":{"type":"tool_call","id":"t1","name":"look","arguments":"{\\"q\\":1}"}}',
  '{"expect":[{"event":{"type":"tool_started","toolUseId":"t1","toolName":"look"}},{"tool":"t1","execute":{"q":1}}]}',
  '{"far":{"type":"tool_call","id":"t2","name":"book","arguments":"{}"}}',
  '{"expect":[{"event":{"type":"tool_started","toolUseId":"t2","toolName":"book"}},{"tool":"t2","execute":{}}]}',
  '{"tool":"t1","resolve":"seen"}',
  '{"expect":[{"provider":"sendToolResult","id":"t1","output":"seen","isError":false}]}',
  '{"far":{"type":"interrupted"}}',
  '{"expect":[{"event":{"type":"interrupted"}},{"event":{"type":"tool_abandoned","toolUseId":"t2","toolName":"book"}},{"provider":"abandonToolCall","id":"t2"}]}',
  '{"publish":"t1","accept":true}',
  '{"expect":[{"event":{"type":"tool_completed","toolUseId":"t1","toolName":"look","output":"seen","isError":false}}]}',
  '{"clock":5000}',
  '{"tool":"t2","resolve":"booked"}',
  '{"expect":[{"tool":"t2","settled_late":"resolved"}]}',
  '{"host":"close"}',
  '{"expect":[{"provider":"close"},{"closed":{"reason":"host","calls":{"t1":"completed","t2":"abandoned"}}},{"summary":{"state":"closed","calls":{"t1":"completed","t2":"abandoned"},"violations":[]}}]}',
);

// The order of rows, and what stands in which lane, is the promise: so the drawing is pinned.
test('a run is drawn in lanes, in order, in words', () => {
  expect(`\n${drawTimeline(interrupted, { color: false })}\n`).toMatchInlineSnapshot(`
    "
      ms  far side  session t1  t2   host
    ────  ────────  ─────── ──  ──   ────
       0      │◀───────┤               │     the session connects
              ├────────┼──────────────▶│   the far side says “I will”
              ├────────┼─────○────────▶│   the far side asks for t1: look {"q":1}
              │        │     ▶         │     t1 executes with {"q":1}
              ├────────┼─────╂───○────▶│   the far side asks for t2: book {}
              │        │     ┃   ▶     │     t2 executes with {}
              │        │     ●   ┃     │   the code of t1 returns “seen”
              │◀───────┼─────◆   ┃     │     COMMIT POINT of t1: result “seen”
              ├────────┼─────╫───╂────▶│   the far side was interrupted by the user
              │        │     ║   ✕────▶│     t2 is abandoned, its code runs on
              │◀───────┼─────╫───┤     │     the far side is told that t2 gets no answer
              ├────────┼─────✔───┼────▶│   the far side accepts the result of t1: completed
              │        │         ╎     │   5,000 ms pass
    5000      │        │         ◇     │   the code of t2 returns “booked”: too late, only noted
              │        │◀──────────────┤   the host closes the session
              │◀───────┤               │     the session closes the driver
                       ●               │     the session is closed: host

    ended: host
      t1  look  completed    the far side accepted its result
      t2  book  abandoned    interrupted or withdrawn before its commit point

    ○ asked for   ▶ executes   ● its code settles   ◆ result sent: the commit point   ✔ completed
    ✕ abandoned   ◇ settles too late   ┊ waits   ┃ runs   ║ is committed   ╎ runs on, unheard
    "
  `);
});

test('colour changes nothing but colour, and comes only when asked for', () => {
  const plain = drawTimeline(interrupted, { color: false });
  const colored = drawTimeline(interrupted, { color: true });
  expect(plain).not.toContain('\u001b');
  expect(colored).toContain('\u001b[');
  expect(colored.replace(/\p{Cc}\[[\d;]*m/gu, '')).toBe(plain);
});

describe('whatever a run holds', () => {
  const nasty = 'a\u001b[31m\nb\r\tc\u202Ed\u0007 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 👍';
  const step = (value: unknown) => JSON.stringify(value);
  const entries = run(
    '{}',
    step({ far: { type: 'text', text: nasty } }),
    step({ far: { type: nasty, [nasty]: nasty } }),
    step({ far: { type: 'tool_call', id: nasty, name: nasty, arguments: nasty } }),
    step({
      expect: [
        { event: { type: 'tool_started', toolUseId: nasty, toolName: nasty } },
        { tool: nasty, execute: { [nasty]: nasty } },
      ],
    }),
    step({ far: { type: 'tool_call_cancelled', ids: [nasty, 5] } }),
    step({ tool: nasty, reject: nasty }),
    step({ expect: [{ provider: 'sendToolResult', id: nasty, output: nasty, isError: true }] }),
    step({ host: 'send', input: { type: 'text', text: nasty } }),
    step({ expect: [{ host: 'send', rejected: nasty }, { event: { type: 'error', message: nasty } }] }),
    step({ far_stream: 'fail', message: nasty }),
    step({ expect: [{ summary: { state: nasty, calls: { [nasty]: nasty }, violations: [nasty] } }] }),
  );

  test.each([80, 100, 160])('no row is wider than %d columns', (width) => {
    for (const row of drawTimeline(entries, { color: false, width }).split('\n'))
      expect(columns(row), row).toBeLessThanOrEqual(width);
  });

  test('the cursor of a terminal is not moved', () => {
    const rows = drawTimeline(entries, { color: false }).split('\n');
    for (const row of rows) expect(row).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test('nothing is drawn of nothing but the head', () => {
    expect(drawTimeline([], { color: false }).split('\n')).toHaveLength(2);
  });
});

describe('more calls than there are lanes', () => {
  const ids = Array.from({ length: 20 }, (_, index) => `call_from_a_machine_${String(index).padStart(4, '0')}`);
  const lines = ids.flatMap((id) => [
    JSON.stringify({ far: { type: 'tool_call', id, name: 'look', arguments: '{}' } }),
    JSON.stringify({
      expect: [{ event: { type: 'tool_started', toolUseId: id, toolName: 'look' } }, { tool: id, execute: {} }],
    }),
  ]);
  const calls = Object.fromEntries(ids.map((id) => [id, 'cancelled']));
  const entries = run(
    '{}',
    ...lines,
    '{"host":"close"}',
    JSON.stringify({ expect: [{ closed: { reason: 'host', calls } }] }),
  );
  const rows = drawTimeline(entries, { color: false }).split('\n');

  test('every call is told of, and so is its end', () => {
    for (const id of ids) {
      expect(
        rows.filter((row) => row.includes(`${id.slice(-11)} executes`)),
        id,
      ).toHaveLength(1);
      expect(
        rows.filter((row) => row.includes(id) && row.includes('cancelled')),
        id,
      ).toHaveLength(1);
    }
  });

  test('rows stay as wide as they were', () => {
    for (const row of rows) expect(columns(row), row).toBeLessThanOrEqual(100);
  });
});

describe.skipIf(given.length === 0)('the given cases', () => {
  for (const { name, scenario } of given) {
    test(name, () => {
      const entries = expectedRun(scenario);
      const drawn = drawTimeline(entries, { color: false });
      for (const row of drawn.split('\n')) expect(columns(row), row).toBeLessThanOrEqual(100);
      const summary = entries.flatMap((entry) =>
        'line' in entry && 'summary' in entry.line ? [entry.line.summary] : [],
      )[0];
      const below = drawn.slice(drawn.indexOf('\n\n'));
      for (const [id, state] of summary?.calls ?? []) expect(below).toMatch(new RegExp(`^ {2}${id} .* ${state} `, 'm'));
      for (const entry of entries) {
        if ('line' in entry && 'execute' in entry.line) expect(drawn).toContain(`${entry.line.tool} executes with`);
      }
      const commits = entries.filter(
        (entry) => 'line' in entry && 'provider' in entry.line && entry.line.provider === 'sendToolResult',
      );
      expect(drawn.split('COMMIT POINT')).toHaveLength(commits.length + 1);
    });
  }
});
