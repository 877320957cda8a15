import type { CallRules } from '../../machines/index.js';
import type { Tool } from '../contract/tool.js';

const writtenAhead = new WeakMap<Tool, CallRules>();
const notWrittenAhead = new WeakMap<Tool, CallRules>();
const unknownTool: CallRules = { policy: 'abandon', writeStart: false, writePublish: false };
const unknownToolWrittenAhead: CallRules = { policy: 'abandon', writeStart: true, writePublish: true };

/** By what rules calls of a tool live; one object for all of them. */
export function rulesOf(tool: Tool | undefined, isDurable: boolean): CallRules {
  if (tool === undefined) return isDurable ? unknownToolWrittenAhead : unknownTool;
  const known = isDurable ? writtenAhead : notWrittenAhead;
  let rules = known.get(tool);
  if (rules === undefined) {
    rules = {
      policy: tool.onInterruption,
      writeStart: isDurable && tool.effect !== 'read',
      writePublish: isDurable,
    };
    known.set(tool, rules);
  }
  return rules;
}
