/** A session that goes on until its journal takes no more, and what it did to the world. */
import type { Journal } from '../../src/contract/journal.js';
import type { CloseReport } from '../../src/contract/lifecycle.js';
import type { ToolEffect } from '../../src/contract/tool.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import { defineTool, startSession } from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { type Facts, nothing } from '../runtime/recover/world.js';
import { pause } from './child/sessions.js';

export interface UntilFull {
  readonly report: CloseReport;
  /** What the host was told, in words, of errors. */
  readonly errors: readonly string[];
  /** By call. */
  readonly facts: ReadonlyMap<string, Facts>;
}

/** More calls than any disk of these tests takes. */
const most = 2_000;

export async function liveUntilFull(journal: Journal): Promise<UntilFull> {
  const facts = new Map<string, Facts>();
  const note = (call: string, change: (facts: Facts) => Partial<Facts>) => {
    const before = facts.get(call) ?? nothing;
    facts.set(call, { ...before, ...change(before) });
  };
  const tools = (['read', 'idempotent', 'irreversible'] as const).map((effect: ToolEffect) =>
    defineTool({
      name: effect,
      description: '',
      input: {},
      effect,
      onLate: (_, { id }) => note(id, ({ told }) => ({ told: told + 1 })),
      async execute(_, { toolUseId }) {
        note(toolUseId, ({ started }) => ({ started: started + 1, effect }));
        await pause(0);
        note(toolUseId, () => ({ ended: true }));
        return 'done';
      },
    }),
  );
  const far = scriptedProvider({
    onCall(call, answer) {
      if (call.method === 'sendToolResult') {
        note(call.id, ({ published }) => ({ published: published + 1, answered: 'accepted' }));
      }
      answer.resolve();
    },
  });
  const session = await startSession({ provider: far, tools, connect: { model: 'scripted' }, journal });
  const errors: string[] = [];
  /** Is told when this call is decided. */
  let awaited: { readonly call: string; decided(): void } | undefined;
  session.events$.subscribe((event: BidiTurnEvent) => {
    if (event.type === 'error') errors.push(event.message);
    if (event.type === 'tool_completed' || event.type === 'tool_abandoned') {
      if (event.toolUseId === awaited?.call) awaited.decided();
    }
  });
  let hasEnded = false;
  session.closed.then(() => {
    hasEnded = true;
  });
  for (let number = 0; number < most && !hasEnded; number++) {
    const name = tools[number % tools.length]?.name ?? '';
    far.emit({ type: 'tool_call', id: `c${number}`, name, arguments: JSON.stringify({ padding: 'x'.repeat(200) }) });
    if (number % 9 === 8) far.emit({ type: 'interrupted' });
    if (number % 3 === 0) {
      const decided = new Promise<void>((resolve) => {
        awaited = { call: `c${number}`, decided: resolve };
      });
      await Promise.race([decided, session.closed]);
    } else await pause(0);
  }
  if (!hasEnded) session.close().catch(() => {});
  const report = await session.closed;
  // code that ran when it ended
  await pause(5);
  return { report, errors, facts };
}
