/** What a timeline shows in one row, before it is drawn. */

/** Who has a lane: the far side, the session, a call by its id, the host. */
export type Lane = 'far' | 'session' | 'host' | { readonly call: string };

/** What a row is about, which decides its colour. */
export type Tone = 'plain' | 'far' | 'host' | 'run' | 'commit' | 'good' | 'bad' | 'quiet';

/** What a call is doing between two marks. */
export type Life =
  | 'waiting'
  | 'running'
  /** Its result was sent and not yet answered. */
  | 'committed'
  /** Nobody waits for its code any more. */
  | 'draining'
  | 'over';

/** The marks on the lane of a call, and what they say. */
export const marks = {
  asked: { glyph: '○', says: 'asked for' },
  executes: { glyph: '▶', says: 'executes' },
  settles: { glyph: '●', says: 'its code settles' },
  commits: { glyph: '◆', says: 'result sent: the commit point' },
  completed: { glyph: '✔', says: 'completed' },
  rejected: { glyph: '✘', says: 'result refused' },
  unanswered: { glyph: '?', says: 'result not answered' },
  aborted: { glyph: '!', says: 'signal aborted' },
  abandoned: { glyph: '✕', says: 'abandoned' },
  late: { glyph: '◇', says: 'settles too late' },
  cancelled: { glyph: '■', says: 'cancelled by the end' },
} as const;

/** The name of a mark. */
export type Mark = keyof typeof marks;

/** The lines between the marks, and what they say. */
export const lives: Readonly<Record<Life, { readonly glyph: string; readonly says: string }>> = {
  waiting: { glyph: '┊', says: 'waits' },
  running: { glyph: '┃', says: 'runs' },
  committed: { glyph: '║', says: 'is committed' },
  draining: { glyph: '╎', says: 'runs on, unheard' },
  over: { glyph: ' ', says: '' },
};

/** A mark on the lane of a call, and what the call does from there on (absent: what it did). */
export interface CallMark {
  readonly call: string;
  readonly mark: Mark;
  readonly life?: Life;
}

/** One row. `at`: virtual milliseconds. */
export interface Row {
  readonly at: number;
  /** An arrow from one lane to another, or a dot on one lane. */
  readonly from?: Lane;
  readonly to?: Lane;
  readonly marks: readonly CallMark[];
  readonly text: string;
  readonly tone: Tone;
  /** Whether this follows from the step above it. */
  readonly consequence: boolean;
  /** Whether the far side or the session has no line from here on. */
  readonly ends?: readonly ('far' | 'session')[];
}
