import type { TimelineEntry } from './scenario.js';
import { narrate } from './timeline/narrate.js';
import { legend, outcomes } from './timeline/outcomes.js';
import { painter } from './timeline/paint.js';
import type { Row } from './timeline/row.js';
import { Stage } from './timeline/stage.js';
import { cut, harmless } from './timeline/text.js';

export type { TimelineEntry } from './scenario.js';

/** How to draw. */
export interface TimelineOptions {
  /** Whether to colour with ANSI escapes; without it the drawing holds none. */
  readonly color: boolean;
  /** Columns that a row may take, 100 where absent, 80 at least. */
  readonly width?: number;
}

/**
 * Draws a run for people: time in virtual milliseconds at the left, a lane for
 * the far side, the session, each call and the host, and each row in words at
 * the right; below it the outcome of each call and the meaning of the marks.
 * Whatever a run holds, the drawing cannot move the cursor of a terminal.
 * @returns rows joined by line feeds, without one at the end
 */
export function drawTimeline(entries: readonly TimelineEntry[], { color, width = 100 }: TimelineOptions): string {
  const paint = painter(color);
  const columnsInAll = Math.max(80, Math.floor(width));
  const { rows, calls } = narrate(entries);
  const timeWidth = Math.max(4, ...rows.map(({ at }) => String(at).length));
  const stage = new Stage([...calls.keys()], columnsInAll - timeWidth - 45, paint);
  const left = timeWidth + 2;
  const room = columnsInAll - left - stage.width - 1;

  const [names = '', rule = ''] = stage.head();
  const drawn = [
    `${'ms'.padStart(timeWidth)}  ${names}`.trimEnd(),
    paint(`${'─'.repeat(timeWidth)}  ${rule}`.trimEnd(), 'quiet'),
  ];
  let shown: number | undefined;
  for (const row of rows) {
    const time = row.at === shown ? '' : String(row.at);
    shown = row.at;
    drawn.push(`${paint(time.padStart(timeWidth), 'quiet')}  ${stage.draw(row)} ${words(row, room, paint)}`.trimEnd());
  }
  const below = [outcomes(entries, calls, columnsInAll, paint), legend(rows, columnsInAll, paint)];
  for (const block of below) if (block.length > 0) drawn.push('', ...block);
  return drawn.join('\n');
}

function words(row: Row, room: number, paint: ReturnType<typeof painter>): string {
  const text = harmless(row.text);
  return paint(cut(row.consequence ? `  ${text}` : text, room), row.tone);
}
