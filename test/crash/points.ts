/** The commit points at which a process is killed on purpose. */

/** What is made durable before it is done. */
export const intents = ['start', 'publish', 'notice', 'commit'] as const;
export type Intent = (typeof intents)[number];

/** Between the record of an intent and the act itself. */
export const places = [
  'before the record is appended',
  'when it is appended',
  'when its flush is asked for',
  'when it is durable',
  'before the act',
  'after the act',
] as const;
export type Place = (typeof places)[number];

/** The nth time that the process is at a place. */
export interface Point {
  readonly intent: Intent;
  readonly place: Place;
  readonly nth: number;
}

/** What the program of a child is told. */
export interface Orders {
  /** Paths. */
  readonly journal: string;
  readonly effects: string;
  readonly seed: number;
  readonly stopAt?: Point;
}
