/** What a record of a conversation may say at all, whatever led to it. */
import type { Breaches } from './breach.js';
import type { ConversationFacts } from './conversation-facts.js';
import type { ConversationStep } from './conversation-steps.js';
import type { Act } from './steps.js';

/** What a conversation's own records ask for. */
const known: ReadonlySet<string> = new Set([
  'report',
  'apply',
  'fail',
  'closeTransactions',
  'startRequest',
  'resumeRequest',
  'nameConversation',
  'recordFinish',
  'endRequest',
  'holdEffect',
  'releaseEffect',
  'dropEffect',
  'runEffect',
]);

/** Looks at a step of the conversation itself. */
export function checkActs(step: ConversationStep, facts: ConversationFacts, breaches: Breaches): void {
  const { did, event } = step;
  if (event === 'effect') checkEffect(step, facts, breaches);
  let reported: string | undefined;
  let closed = '';
  for (const { effect, detail = '' } of did) {
    if (!known.has(effect)) breaches.add('structure', `a conversation does not ask for ${effect}`);
    else if (effect === 'runEffect' && event !== 'effect') {
      breaches.add('structure', `effect ${detail} runs at ${event}, and that is no record of its own`);
    } else if (effect === 'report') reported = detail;
    else if (effect === 'closeTransactions') closed = detail;
    else if (effect === 'fail' && reported !== detail) {
      breaches.add('structure', `an action fails with ${detail}, and that is not reported before it`);
    } else if (effect === 'apply') {
      if ((detail === 'startNewConversation') !== (closed === 'split')) {
        breaches.add(
          'structure',
          `${detail || 'an action'} is applied ${closed === 'split' ? 'behind' : 'without'} the end of transactions that a split is`,
        );
      }
      closed = '';
    } else if (effect === 'fail') closed = '';
  }
}

/** What a life of a conversation says in the beginning that goes on from another one. */
const goesOnFrom = ['restore', 'lastVersion', 'lastTransaction', 'lastStream', 'position'];

/** Looks at what a life says in its first record; gives what is wrong with it. */
export function problemOfBeginning(did: readonly Act[]): string | undefined {
  const names = did.map(({ effect }) => effect);
  if (names.length === 0) return undefined;
  const rest = names.slice(goesOnFrom.length).join();
  const isComplete = goesOnFrom.every((name, at) => names[at] === name);
  if (isComplete && ['', 'diverged', 'keep', 'diverged,keep'].includes(rest)) return undefined;
  return `a conversation begins with ${names.join(', ')}: expected nothing, or ${goesOnFrom.join(', ')}`;
}

/** An effect that runs is a record of its own, which moves nothing. */
function checkEffect({ did, from, to, stream }: ConversationStep, facts: ConversationFacts, breaches: Breaches): void {
  const { phase } = facts.stream(stream, from);
  if (from !== phase || to !== phase) {
    breaches.add('structure', `an effect runs, and the stream goes from ${from} to ${to}; it was ${phase}`);
  }
  if (did.length !== 1 || did[0]?.effect !== 'runEffect') {
    breaches.add('structure', 'an effect runs, and its record says something else');
  }
}
