/** A path through a response stream as a file that `commitpoint fold` reads, and such a path taken once more. */
import type { JsonObject } from '@bufbuild/protobuf';
import type { ConversationMode, ConversationPolicies } from '../../../conversation/index.js';
import { policyValues } from '../../../conversation/index.js';
import type { Finding } from '../walk.js';
import { inputOf } from './inputs.js';
import { StreamSystem } from './system.js';

/** Events of a response stream, and how they are folded. */
export interface StreamScenario {
  readonly title: string;
  readonly mode: ConversationMode;
  readonly policies: ConversationPolicies;
  /** Events and ends, one a line, as JSON writes them. */
  readonly lines: readonly string[];
}

/** The scenario of a path: the numbers of its inputs. */
export function streamScenarioOf(
  { fold, inputs }: StreamSystem,
  path: readonly number[],
  title: string,
): StreamScenario {
  const lines = path.map((code) => inputs[code]?.line ?? '');
  return { title, mode: fold.mode, policies: fold.policies, lines };
}

/** The scenario as a file, with the command that folds it. */
export function printStreamScenario({ title, mode, policies, lines }: StreamScenario): string {
  const names = Object.keys(policyValues) as (keyof ConversationPolicies)[];
  const set = names.map((name) => `--set ${name}=${policies[name]}`).join(' ');
  return [`// ${title}`, `// commitpoint fold FILE --mode ${mode} ${set}`, ...lines, ''].join('\n');
}

/** What is wrong about a scenario, in the order in which it shows. */
export function judgeStream({ mode, policies, lines }: StreamScenario): readonly Finding[] {
  const system = new StreamSystem({ mode, policies });
  let world = system.first();
  const found: Finding[] = [];
  for (const line of lines) {
    const stepped = system.step(world, { word: 'untyped', line, input: inputOf(JSON.parse(line) as JsonObject) });
    world = stepped.world;
    found.push(...stepped.findings);
  }
  return found;
}
