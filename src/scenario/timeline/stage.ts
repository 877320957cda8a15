/** The lanes side by side, and one row drawn across them. */
import type { Paint } from './paint.js';
import { type CallMark, type Lane, type Life, lives, marks, type Row, type Tone } from './row.js';
import { cutName, fill } from './text.js';

/** More calls than this share lanes: a call takes the first that is free. */
export const mostLanes = 6;

const titles = { far: 'far side', session: 'session', host: 'host' };

const markTones: Readonly<Record<keyof typeof marks, Tone>> = {
  asked: 'run',
  executes: 'run',
  settles: 'run',
  commits: 'commit',
  completed: 'good',
  rejected: 'bad',
  unanswered: 'bad',
  aborted: 'bad',
  abandoned: 'bad',
  late: 'quiet',
  cancelled: 'bad',
};

const lifeTones: Readonly<Record<Life, Tone>> = {
  waiting: 'quiet',
  running: 'run',
  committed: 'commit',
  draining: 'quiet',
  over: 'plain',
};

const crossings: Readonly<Record<string, string>> = { ' ': '─', '┃': '╂', '║': '╫' };

interface Cell {
  glyph: string;
  tone: Tone;
}

/** Draws rows one after the other; knows what each call is doing. */
export class Stage {
  private readonly slots: (string | undefined)[];
  private readonly life = new Map<string, Life>();
  private readonly ended = new Set<'far' | 'session'>();
  private readonly shared: boolean;
  private readonly laneWidth: number;

  /**
   * @param calls ids of all calls, in order of admission
   * @param room columns that may be used
   */
  constructor(
    private readonly calls: readonly string[],
    room: number,
    private readonly paint: Paint,
  ) {
    this.shared = calls.length > mostLanes;
    const lanes = this.shared ? mostLanes + 1 : calls.length;
    this.slots = this.shared ? Array.from({ length: lanes }) : [...calls];
    const longest = this.shared ? 1 : Math.max(0, ...calls.map((id) => id.length));
    const most = lanes === 0 ? 0 : Math.floor((room - 25) / lanes);
    this.laneWidth = Math.max(this.shared ? 3 : 4, Math.min(longest + 2, most));
  }

  /** Columns of the lanes together. */
  get width(): number {
    return this.place('host') + 3;
  }

  private place(lane: 'far' | 'session' | 'host' | number): number {
    if (lane === 'far') return 4;
    if (lane === 'session') return 13;
    const first = 17 + Math.floor(this.laneWidth / 2);
    return (
      first + (lane === 'host' ? Math.max(1, this.slots.length) : lane) * this.laneWidth + (lane === 'host' ? 2 : 0)
    );
  }

  /** The names above the lanes, and the rule below them. */
  head(): readonly string[] {
    const places: [number, string][] = [
      [this.place('far'), titles.far],
      [this.place('session'), titles.session],
      [this.place('host'), titles.host],
    ];
    if (this.shared) places.push([this.place(Math.floor(mostLanes / 2)), 'calls']);
    else {
      for (const [index, id] of this.calls.entries()) places.push([this.place(index), cutName(id, this.laneWidth - 1)]);
    }
    places.sort(([one], [other]) => one - other);
    let names = '';
    let rule = '';
    for (const [middle, title] of places) {
      const start = middle - Math.floor(title.length / 2);
      names = `${fill(names, start)}${title}`;
      rule = `${fill(rule, start)}${'─'.repeat(title.length)}`;
    }
    return [fill(names, this.width), fill(rule, this.width)];
  }

  /** Draws the lanes of one row. */
  draw(row: Row): string {
    const cells: Cell[] = Array.from({ length: this.width }, () => ({ glyph: ' ', tone: 'plain' }));
    const set = (at: number, glyph: string, tone: Tone) => {
      const cell = cells[at];
      if (cell !== undefined) Object.assign(cell, { glyph, tone });
    };
    for (const { call } of row.marks) this.enter(call);
    for (const lane of ['far', 'session', 'host'] as const) {
      if (lane === 'host' || !this.ended.has(lane)) set(this.place(lane), '│', 'quiet');
    }
    for (const [index, id] of this.slots.entries()) {
      const life = id === undefined || index === mostLanes ? 'over' : (this.life.get(id) ?? 'over');
      set(this.place(index), lives[life].glyph, lifeTones[life]);
    }
    this.arrow(row, cells, set);
    for (const mark of row.marks) set(this.placeOf({ call: mark.call }), marks[mark.mark].glyph, markTones[mark.mark]);
    this.leave(row.marks);
    for (const lane of row.ends ?? []) this.ended.add(lane);
    return this.join(cells);
  }

  private placeOf(lane: Lane): number {
    if (typeof lane === 'string') return this.place(lane);
    const slot = this.slots.indexOf(lane.call);
    return this.place(slot === -1 ? mostLanes : slot);
  }

  private arrow(
    { from, to, tone }: Row,
    cells: readonly Cell[],
    set: (at: number, glyph: string, tone: Tone) => void,
  ): void {
    if (from === undefined) return;
    const start = this.placeOf(from);
    if (to === undefined) {
      set(start, '●', tone);
      return;
    }
    const end = this.placeOf(to);
    const step = end > start ? 1 : -1;
    for (let at = start + step; at !== end; at += step) {
      const glyph = cells[at]?.glyph ?? ' ';
      set(at, crossings[glyph] ?? '┼', tone);
    }
    set(start, step > 0 ? '├' : '┤', tone);
    set(end - step, step > 0 ? '▶' : '◀', tone);
  }

  /** A call that has no lane yet takes the first free one. */
  private enter(call: string): void {
    if (!this.shared || this.slots.includes(call)) return;
    const free = this.slots.slice(0, mostLanes).indexOf(undefined);
    if (free !== -1 && !this.life.has(call)) this.slots[free] = call;
  }

  private leave(rowMarks: readonly CallMark[]): void {
    for (const { call, life } of rowMarks) {
      if (life === undefined) continue;
      this.life.set(call, life);
      const slot = this.slots.indexOf(call);
      if (this.shared && life === 'over' && slot !== -1) this.slots[slot] = undefined;
    }
  }

  /** Neighbours of one tone are painted together. */
  private join(cells: readonly Cell[]): string {
    let drawn = '';
    for (let at = 0; at < cells.length; ) {
      const { tone } = cells[at] as Cell;
      let text = '';
      while (at < cells.length && cells[at]?.tone === tone) text += cells[at++]?.glyph ?? '';
      drawn += this.paint(text, tone);
    }
    return drawn;
  }
}
