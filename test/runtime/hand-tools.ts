/** Tools that the tests of the runtime settle by hand, and what `lifecycle$` told of their calls. */
import { expect } from 'vitest';
import type { LifecycleEvent } from '../../src/contract/lifecycle.js';
import type { LateOutcome, ToolContext, ToolDefinition } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';
import { type Held, held } from './stage.js';

/** Tools whose code waits to be settled by the test, by call id. */
export function handTools(options: Partial<ToolDefinition> = {}) {
  const code = new Map<string, Held<unknown>>();
  const contexts = new Map<string, ToolContext>();
  const late: [outcome: LateOutcome, call: unknown][] = [];
  const tool = defineTool({
    name: 'hand',
    description: '',
    input: {},
    onLate: (outcome, call) => {
      late.push([outcome, call]);
    },
    ...options,
    execute: (_, context) => {
      const running = held();
      code.set(context.toolUseId, running);
      contexts.set(context.toolUseId, context);
      return running.promise;
    },
  });
  return {
    tools: [tool],
    late,
    /** The running code of a call. */
    code: (id: string) => code.get(id) as Held<unknown>,
    context: (id: string) => contexts.get(id) as ToolContext,
    isRunning: (id: string) => code.has(id),
  };
}

/** The events of one type, in order. */
export const ofType = <Type extends LifecycleEvent['type']>(events: LifecycleEvent[], type: Type) =>
  events.filter((event): event is Extract<LifecycleEvent, { type: Type }> => event.type === type);

/** A call's states as told, and the admission's `null`. */
export const path = (events: LifecycleEvent[], id: string) => {
  const changes = ofType(events, 'call').filter((event) => event.id === id);
  changes.forEach(({ from }, i) => {
    expect(from).toBe(i === 0 ? null : changes[i - 1]?.to);
  });
  return changes.map(({ to }) => to);
};
