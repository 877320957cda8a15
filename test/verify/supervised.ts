/** The journal of a supervisor and its children: two sessions that are begun again, one that is given up, a conversation, refusals, and a shutdown. */
import type { JournalRecord } from '../../src/contract/journal.js';
import { memoryJournal } from '../../src/journal/index.js';
import { defineTool } from '../../src/runtime/index.js';
import { quiet, toolCall } from '../runtime/stage.js';
import { FarSide, stage } from '../runtime/supervisor/stage.js';

const look = defineTool({ name: 'look', description: '', input: {}, execute: () => 'seen' });

async function supervised(): Promise<readonly JournalRecord[]> {
  const journal = memoryJournal();
  const on = stage({ id: 'sup_one', journal, maxSessions: 3, maxConversations: 1, maxConcurrentTools: 2 });
  const [one, two, three] = [
    new FarSide(),
    new FarSide(),
    new FarSide({ refuse: (line) => (line > 1 ? new TypeError('no') : undefined) }),
  ];
  const again = { type: 'permanent', intensity: 2, periodMs: 1_000_000 } as const;
  const tools = [look];
  await on.start(one, { id: 'one', tools, restart: again });
  on.supervisor.createConversation({ id: 'con_one' });
  await on.start(two, { id: 'two', tools, restart: { ...again, type: 'transient' } });
  await on.start(three, { id: 'three', tools, restart: again });
  await on.start(one, { id: 'four' }).catch(() => {});
  one.last.far.emit(toolCall('a', 'look'));
  await quiet();
  one.last.far.emit({ type: 'closed' });
  await on.pass(100);
  one.last.far.emit(toolCall('a', 'look'));
  two.last.far.end();
  await on.pass(100);
  // given up: it cannot connect any more
  three.last.far.emit({ type: 'closed' });
  await on.pass(1000);
  // one waits for its next incarnation when the end comes
  one.last.far.emit({ type: 'closed' });
  await quiet();
  const stopping = on.supervisor.shutdown({ deadlineMs: 1000 });
  await on.start(one, { id: 'late' }).catch(() => {});
  await on.pass(2000);
  await stopping;
  return journal.records;
}

/** Made once. */
export const supervisedRecords: Promise<readonly JournalRecord[]> = supervised();
