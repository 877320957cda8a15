/** Tools that are there to be told: a recovery runs no code. */
import type { JournalRecord } from '../../src/contract/journal.js';
import type { Tool } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';

/** Tools of the names that were called, which run nothing, and how often each call was told of. */
export function listeners(records: readonly JournalRecord[]): { tools: readonly Tool[]; told: Map<string, number> } {
  const told = new Map<string, number>();
  const names = new Set<string>();
  for (const { data } of records) {
    if (data !== undefined && 'occurrence' in data && data.occurrence.candidate !== undefined) {
      names.add(data.occurrence.candidate.name);
    }
  }
  const tools = [...names].map((name) =>
    defineTool({
      name,
      description: '',
      input: {},
      execute: () => {
        throw new TypeError('a recovery runs no code');
      },
      onLate: ({ status }, { sessionId, id }) => {
        const call = `${sessionId}/${id}`;
        told.set(call, (told.get(call) ?? 0) + 1);
        if (status !== 'unknown') throw new TypeError(`a recovery cannot know that it ${status}`);
      },
    }),
  );
  return { tools, told };
}
