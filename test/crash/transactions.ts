/** The transactions of the conversation that is killed: what each of them does and comes to is decided by a seed. */
import { Random } from './random.js';

/** How a transaction ends. */
export type Ending =
  | 'commit'
  | 'rollback'
  /** The request ends with it open, and keeps it. */
  | 'done'
  /** The request ends with it open, and takes it back. */
  | 'failed'
  | 'end_of_input';

/** What the `number`th transaction comes to. */
export function endingOf(seed: number, number: number): Ending {
  const random = new Random(seed * 1_000_003 + number);
  random.next();
  return random.one(['commit', 'commit', 'commit', 'commit', 'rollback', 'rollback', 'done', 'failed', 'end_of_input']);
}

export function isKept(ending: Ending): boolean {
  return ending === 'commit' || ending === 'done';
}

/** The one task of the conversation. */
export const taskId = 't';

/** What a transaction leaves behind, whole: messages by id, with their texts. */
export function messagesOf(number: number): ReadonlyMap<string, string> {
  return new Map([
    [`${number}.0`, 'one two three'],
    [`${number}.1`, 'four five'],
    [`${number}.2`, 'six'],
  ]);
}
