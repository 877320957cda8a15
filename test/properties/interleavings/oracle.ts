/**
 * An opinion of its own on what a session does, made from `docs/design/duplex.md`
 * and from what is seen from outside: nothing of the machines, the coordination
 * or the order checker is used.
 */
import { checkCalls, checkLimits } from './calls.js';
import { checkEnd, checkInterrupts, checkLate } from './end.js';
import { checkInterruptions, checkSignals } from './interruptions.js';
import { checkLoop, checkOrder } from './order.js';
import type { Plan } from './plan.js';
import { Story } from './story.js';
import { checkTexts } from './texts.js';
import type { Run } from './world.js';

/** What is wrong with a run, in words that begin with the number of the invariant. */
export function findingsOf(plan: Plan, run: Run): string[] {
  const story = new Story(plan, run);
  const checks = [
    checkOrder,
    checkLoop,
    checkCalls,
    checkLimits,
    checkInterruptions,
    checkSignals,
    checkEnd,
    checkInterrupts,
    checkLate,
    checkTexts,
  ];
  return checks.flatMap((check) => check(story));
}
