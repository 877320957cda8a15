/**
 * The marks of the timeline that the command line draws, for a page that can
 * load nothing but its own folder; a test holds the two tables against each other.
 */
import type { ActorKind } from '../../../contract/journal.js';
import type { Step } from '../../view/frames.js';

/** The marks, and what they say. */
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

export type Mark = keyof typeof marks;

/** What decides a colour. */
export type Tone = 'plain' | 'run' | 'commit' | 'good' | 'bad' | 'quiet';

/** How a lane is drawn between two marks. */
export type Life = 'waiting' | 'running' | 'committed' | 'draining' | 'over';

interface Manner {
  readonly glyph: string;
  readonly tone: Tone;
  readonly life: Life;
  readonly mark?: Mark;
}

const waits: Manner = { glyph: marks.asked.glyph, tone: 'plain', life: 'waiting', mark: 'asked' };
const over = (mark: Mark, tone: Tone): Manner => ({ glyph: marks[mark].glyph, tone, life: 'over', mark });

const call: Readonly<Record<string, Manner>> = {
  admitted: waits,
  awaiting_approval: waits,
  queued: waits,
  starting: waits,
  executing: { glyph: marks.executes.glyph, tone: 'run', life: 'running', mark: 'executes' },
  committing: { glyph: marks.settles.glyph, tone: 'commit', life: 'running', mark: 'settles' },
  publishing: { glyph: marks.commits.glyph, tone: 'commit', life: 'committed', mark: 'commits' },
  completed: over('completed', 'good'),
  rejected: over('rejected', 'bad'),
  unconfirmed: over('unanswered', 'bad'),
  cancelled: over('cancelled', 'bad'),
  abandoned: over('abandoned', 'bad'),
  'abandoned.draining': { glyph: marks.abandoned.glyph, tone: 'bad', life: 'draining', mark: 'abandoned' },
  'abandoned.settled': over('abandoned', 'bad'),
};

const transaction: Readonly<Record<string, Manner>> = {
  open: waits,
  'open.sound': waits,
  'open.doomed': { glyph: '!', tone: 'bad', life: 'waiting', mark: 'aborted' },
  committed: { glyph: marks.commits.glyph, tone: 'good', life: 'over', mark: 'commits' },
  rolled_back: over('abandoned', 'bad'),
};

const ends: Readonly<Record<string, Manner>> = {
  closed: { glyph: marks.cancelled.glyph, tone: 'quiet', life: 'over' },
  closing: { glyph: marks.settles.glyph, tone: 'quiet', life: 'running' },
  finished: { glyph: marks.completed.glyph, tone: 'good', life: 'running' },
  failed: { glyph: marks.rejected.glyph, tone: 'bad', life: 'running' },
  truncated: { glyph: marks.unanswered.glyph, tone: 'bad', life: 'running' },
  cancelled: { glyph: marks.cancelled.glyph, tone: 'bad', life: 'running' },
};

const lives: Manner = { glyph: marks.settles.glyph, tone: 'plain', life: 'running' };

/** How an actor in this state looks. */
export function mannerOf(kind: ActorKind, state: string): Manner {
  if (kind === 'call') return call[state] ?? call[state.split('.')[0] as string] ?? lives;
  if (kind === 'transaction') return transaction[state] ?? lives;
  return ends[state] ?? lives;
}

/** Whether a call or a transaction that came to this state has no life left. */
export function isOver(kind: ActorKind, state: string): boolean {
  return kind === 'call' || kind === 'transaction' ? mannerOf(kind, state).life === 'over' : state === 'closed';
}

/** The mark that a step leaves on the lane of its actor; none where it changes nothing that a mark says. */
export function markOf(step: Step): { readonly glyph: string; readonly tone: Tone } | undefined {
  if (step.kind !== 'call' && step.kind !== 'transaction') return undefined;
  if (step.from === 'abandoned.draining') return { glyph: marks.late.glyph, tone: 'quiet' };
  if (step.from === step.to) return undefined;
  const after = mannerOf(step.kind, step.to);
  if (step.from !== '' && mannerOf(step.kind, step.from).glyph === after.glyph) return undefined;
  return after;
}

/** An event for people: the one that begins a life has no name. */
export function eventOf({ event, from }: Step): string {
  return event === '' ? (from === '' ? 'begins' : '(no event)') : event;
}

/** A state for people: `abandoned.draining` says what it drains from, words are apart. */
export function wordsOf(state: string): string {
  return state === '' ? 'not begun' : state.replaceAll('_', ' ').replaceAll('.', ' · ');
}
