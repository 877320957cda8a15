import type { Tool } from '../contract/tool.js';
import { defineTool } from '../runtime/index.js';

/** The tools of `commitpoint run`: one that only reads, and one that somebody has to approve. */
export function exampleTools(now: () => Date = () => new Date()): Tool[] {
  const notes: string[] = [];
  return [
    defineTool({
      name: 'current_time',
      description: 'Says what time and date it is, in UTC.',
      input: { type: 'object', properties: {} },
      effect: 'read',
      timeoutMs: 1_000,
      execute: () => now().toISOString(),
    }),
    defineTool({
      name: 'keep_note',
      description:
        'Keeps a short note until the session ends, and says which notes there are. The user has to approve it.',
      input: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
      needsApproval: true,
      timeoutMs: 1_000,
      execute: ({ note }) => {
        notes.push(String(note));
        return { notes };
      },
    }),
  ];
}
