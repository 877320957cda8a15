import { InvalidInputError } from '../../contract/errors.js';
import { type Explored, explore, type FarWord, type Progress } from '../../verify/explore/index.js';
import type { ExitStatus } from '../exit.js';
import { print } from '../output.js';
import { modeOf, policiesOf } from './fold.js';

export interface ExploreOptions {
  /** How many calls. */
  readonly tools: string;
  readonly depth?: string;
  readonly states: string;
  /** Names with commas between them. */
  readonly far?: string;
  readonly durable?: boolean;
  readonly stream?: boolean;
  readonly mode: string;
  /** `policy=value`, one for each `--set`. */
  readonly set: readonly string[];
  readonly json?: boolean;
}

/**
 * `commitpoint explore`: every interleaving of a session and its calls, or of a
 * response stream and its transactions, up to a bound.
 *
 * @throws {InvalidInputError} for an option that there is not
 */
export function exploreAll(options: ExploreOptions): ExitStatus {
  const { depth, states, far, durable = false, json = false } = options;
  const bounds = {
    states: integer('--states', states),
    ...(depth === undefined ? {} : { depth: integer('--depth', depth) }),
    ...(process.stderr.isTTY === true ? { onProgress: tellProgress } : {}),
  };
  const stream = { mode: modeOf(options.mode), policies: policiesOf(options.set) };
  const explored: Explored<unknown> = options.stream
    ? explore({ stream, ...bounds })
    : explore({
        calls: integer('--tools', options.tools),
        durable,
        ...(far === undefined ? {} : { far: far.split(',') as FarWord[] }),
        ...bounds,
      });
  if (process.stderr.isTTY === true) process.stderr.write('\r\u001b[K');
  tell(explored, json);
  return explored.violations.length === 0 ? 0 : 1;
}

function integer(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidInputError(option, 'an integer', text);
  return Number(text);
}

function tellProgress({ states, transitions, depth, frontier }: Progress): void {
  const counts = `${count(states)} states, ${count(transitions)} transitions, depth ${depth}, ${count(frontier)} to go`;
  process.stderr.write(`\r\u001b[K${counts}`);
}

function tell({ states, transitions, depth, complete, violations }: Explored<unknown>, json: boolean): void {
  if (json) {
    for (const { invariant, what, file } of violations) print(JSON.stringify({ violation: { invariant, what, file } }));
    print(JSON.stringify({ explored: { states, transitions, depth, complete, violations: violations.length } }));
    return;
  }
  for (const { invariant, what, file } of violations) print(`${invariant}: ${what}\n\n${file}`);
  const whole = complete ? 'all there is' : 'cut off by the bounds';
  print(`${count(states)} states, ${count(transitions)} transitions, depth ${depth}: ${whole}`);
  print(violations.length === 0 ? 'no invariant is broken' : `broken invariants: ${violations.length}`);
}

function count(number: number): string {
  return number.toLocaleString('en');
}
