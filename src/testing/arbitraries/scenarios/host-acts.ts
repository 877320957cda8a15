/** What a host does to its session. */
import fc from 'fast-check';
import type { Step } from '../../../scenario/scenario.js';
import { about, type Draft, plain, stepsOf } from './drafts.js';

/** Something that a host does and that ends nothing. */
export const act: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 3, arbitrary: plain({ host: 'send', input: { type: 'text', text: 'hello' } }) },
  { weight: 2, arbitrary: plain({ host: 'interrupt', playedMs: 120 }) },
  { weight: 1, arbitrary: plain({ host: 'interrupt' }) },
  { weight: 6, arbitrary: about((id) => ({ host: 'approve', id })) },
  { weight: 2, arbitrary: about((id) => ({ host: 'deny', id, message: 'not allowed' })) },
  { weight: 1, arbitrary: plain({ host: 'approve', id: 'nobody' }) },
  { weight: 3, arbitrary: plain({ host: 'pause' }) },
  { weight: 4, arbitrary: plain({ host: 'resume' }) },
);

/** What ends a session, from the host. */
export const hostEnd: fc.Arbitrary<Draft> = fc
  .constantFrom<Step>({ host: 'close' }, { host: 'abort', reason: 'enough' }, { host: 'abort' })
  .map((step) => () => step);

/** Which acts a host may come to. */
export interface HostActs {
  /** Ids of calls that it may approve or deny. Default: none. */
  readonly calls?: readonly string[];
  /** Whether it may end the session. Default `true`. */
  readonly ends?: boolean;
  /** Default 12. */
  readonly maxActs?: number;
}

/** Acts of a host, in order: it sends, interrupts, approves, denies, stops reading and goes on, and may end the session. */
export function hostActs({ calls = [], ends = true, maxActs = 12 }: HostActs = {}): fc.Arbitrary<Step[]> {
  const one = fc.oneof({ weight: 24, arbitrary: act }, { weight: ends ? 1 : 0, arbitrary: hostEnd });
  return fc.array(one, { maxLength: maxActs, size: 'max' }).map((drafts) => stepsOf(drafts, { made: calls }));
}
