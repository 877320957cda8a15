/**
 * Random scenarios: sessions with small limits, and steps that are mostly legal
 * and mostly possible. A step names calls that were made before it; what a
 * header makes impossible (an answer that is not held back) is left out.
 */
import fc from 'fast-check';
import type { Scenario, ScenarioHeader, Step } from '../../../scenario/scenario.js';
import { about, type Draft, plain, stepsOf } from './drafts.js';
import { farEnd, legalWord } from './far-side.js';
import { scenarioHeader } from './headers.js';
import { act, hostEnd } from './host-acts.js';

const answers: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 12, arbitrary: about((id) => ({ tool: id, resolve: 'done' })) },
  { weight: 3, arbitrary: about((id) => ({ tool: id, reject: 'failed' })) },
  { weight: 8, arbitrary: about((id) => ({ publish: id, accept: true })) },
  { weight: 2, arbitrary: about((id) => ({ publish: id, reject: 'not now' })) },
  { weight: 8, arbitrary: plain({ flush: 'resolve' }) },
  { weight: 1, arbitrary: plain({ flush: 'reject', message: 'disk full' }) },
  { weight: 2, arbitrary: plain({ connect: 'resolve' }) },
  { weight: 1, arbitrary: plain({ connect: 'reject', message: 'no route' }) },
  { weight: 1, arbitrary: plain({ close: 'resolve' }) },
  { weight: 1, arbitrary: plain({ close: 'reject', message: 'stuck' }) },
);

const clock: fc.Arbitrary<Draft> = fc.constantFrom(0, 1, 4, 5, 10, 25, 60).map((ms) => () => ({ clock: ms }));

const draft: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 40, arbitrary: legalWord },
  { weight: 32, arbitrary: answers },
  { weight: 12, arbitrary: act },
  { weight: 7, arbitrary: clock },
  { weight: 1, arbitrary: fc.oneof({ weight: 3, arbitrary: farEnd }, { weight: 1, arbitrary: hostEnd }) },
);

/** Whether a header leaves a step any chance. */
function canBe(step: Step, { provider, journal }: ScenarioHeader): boolean {
  if ('connect' in step) return provider?.holdConnect === true;
  if ('publish' in step) return provider?.holdPublish === true;
  if ('close' in step) return provider?.holdClose === true;
  if ('flush' in step) return journal?.holdFlush === true;
  return true;
}

/** Ids of the first calls: plain ones, or such as trip a careless object. */
const names = fc.constantFrom<readonly string[]>([], [], ['__proto__', 'constructor', '7000', '900', 'a b']);

/**
 * A whole random scenario; it may stop with the session open. `simulate` runs it, unless it comes upon a step that is impossible
 * where the run then stands (a {@link ScenarioError}), as the answer of a call whose code does not run.
 */
export function scenario({ maxSteps = 60 }: { readonly maxSteps?: number } = {}): fc.Arbitrary<Scenario> {
  return fc
    .tuple(scenarioHeader, fc.array(draft, { maxLength: maxSteps, size: 'max' }), names)
    .map(([head, drafts, first]) => ({
      title: '',
      header: head,
      steps: stepsOf(drafts, { names: first })
        .filter((step) => canBe(step, head))
        .map((step, index) => ({ line: index + 2, step })),
    }));
}
