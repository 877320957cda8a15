/** What stands below the rows: how it ended, what became of each call, and what the marks mean. */
import type { CallStates, TimelineEntry, TraceLine } from '../scenario.js';
import type { Paint } from './paint.js';
import { type Life, lives, type Mark, marks, type Row, type Tone } from './row.js';
import { columns, cut, cutName, fill, harmless } from './text.js';

const meanings: Readonly<Record<string, readonly [Tone, string]>> = {
  admitted: ['plain', 'its input is being checked'],
  awaiting_approval: ['plain', 'waits for the host to approve or deny it'],
  queued: ['plain', 'waits for a place'],
  starting: ['plain', 'waits for the journal, then its code starts'],
  executing: ['run', 'its code runs'],
  committing: ['commit', 'waits for the journal, then its result is sent'],
  publishing: ['commit', 'its result was sent, the far side has not answered yet'],
  completed: ['good', 'the far side accepted its result'],
  rejected: ['bad', 'the far side refused its result'],
  unconfirmed: ['bad', 'its result was sent, no answer came in time'],
  abandoned: ['bad', 'interrupted or withdrawn before its commit point'],
  cancelled: ['bad', 'the session ended before its commit point'],
};

/** The lines below the rows. */
export function outcomes(
  entries: readonly TimelineEntry[],
  names: ReadonlyMap<string, string>,
  width: number,
  paint: Paint,
): string[] {
  const lines = entries.flatMap((entry): TraceLine[] => ('line' in entry ? [entry.line] : []));
  const closed = lines.flatMap((line) => ('closed' in line ? [line.closed] : [])).at(-1);
  const summary = lines.flatMap((line) => ('summary' in line ? [line.summary] : [])).at(-1);
  const told: string[] = [];
  if (closed !== undefined) told.push(cut(`ended: ${harmless(closed.reason)}`, width));
  else if (summary !== undefined) told.push(cut(`the session is ${harmless(summary.state)}`, width));
  told.push(...callRows(summary?.calls ?? closed?.calls ?? new Map(), names, width, paint));
  for (const violation of summary?.violations ?? [])
    told.push(paint(cut(`BROKEN  ${harmless(violation)}`, width), 'bad'));
  return told;
}

function callRows(states: CallStates, names: ReadonlyMap<string, string>, width: number, paint: Paint): string[] {
  const ids = [...states.keys()].map((id) => cutName(id, 32));
  const titles = [...states.keys()].map((id) => cut(harmless(names.get(id) ?? ''), 20));
  const idWidth = Math.max(0, ...ids.map(columns));
  const titleWidth = Math.max(0, ...titles.map(columns));
  return [...states.values()].map((state, index) => {
    const [tone, meaning] = meanings[state] ?? ['plain', ''];
    const head = `  ${fill(ids[index] ?? '', idWidth)}  ${fill(titles[index] ?? '', titleWidth)}  `;
    const rest = cut(`${fill(harmless(state), 11)}  ${meaning}`, width - columns(head));
    return head + paint(rest.slice(0, 11), tone) + rest.slice(11);
  });
}

/** What the marks and lines mean that the rows use. */
export function legend(rows: readonly Row[], width: number, paint: Paint): string[] {
  const used = new Set<Mark>();
  const lines = new Set<Life>();
  for (const row of rows) {
    for (const { mark, life } of row.marks) {
      used.add(mark);
      if (life !== undefined && life !== 'over') lines.add(life);
    }
  }
  const entries = [
    ...(Object.keys(marks) as Mark[])
      .filter((mark) => used.has(mark))
      .map((mark) => `${marks[mark].glyph} ${marks[mark].says}`),
    ...(Object.keys(lives) as Life[])
      .filter((life) => lines.has(life))
      .map((life) => `${lives[life].glyph} ${lives[life].says}`),
  ];
  const told: string[] = [];
  let current = '';
  for (const entry of entries) {
    const longer = current === '' ? entry : `${current}   ${entry}`;
    if (columns(longer) > width && current !== '') {
      told.push(current);
      current = entry;
    } else {
      current = longer;
    }
  }
  if (current !== '') told.push(current);
  return told.map((line) => paint(cut(line, width), 'quiet'));
}
