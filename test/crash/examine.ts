/** What is found after a crash, and whether it is true. */
import { stat, truncate } from 'node:fs/promises';
import type { JournalRecord } from '../../src/contract/journal.js';
import type { RecoveredConversation } from '../../src/conversation/index.js';
import { type FileJournal, fileJournal } from '../../src/journals/file/index.js';
import {
  createConversation,
  defineTool,
  type RecoveredCall,
  type Recovery,
  recover,
  startSession,
} from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { verify } from '../../src/verify/index.js';
import { actions, begin, commit, done, init, task } from '../conversation/events.js';
import { untruthsOf } from '../runtime/recover/truth.js';
import { listeners } from './listeners.js';
import type { Remains } from './program.js';
import { readSideEffects, type World } from './side-effects.js';
import { brokenTransactions } from './wholeness.js';

/** What an examination has found. */
export interface Found {
  /** What is wrong, one line each. */
  readonly wrong: readonly string[];
  readonly records: number;
  readonly calls: readonly RecoveredCall[];
  /** How many transactions the host was told of, and how many effects of the host ran. */
  readonly told: number;
  readonly ran: number;
  /** How much of the journal was cut off, as a power cut would. */
  readonly cutOff: number;
}

/**
 * Recovers the journal of a process that was killed, holds what is said to what was done, recovers it again, and goes on with it.
 * `cut`: of the bytes that were not durable, the share that a power cut takes.
 */
export async function examine({ seed, journal: path, effects }: Remains, cut = 0): Promise<Found> {
  const wrong: string[] = [];
  const world = await readSideEffects(effects);
  const cutOff = await cutPower(path, world.durable, cut);
  const journal = await fileJournal(path, { payloads: 'keep' });
  try {
    wrong.push(...(await faultsIn(journal, 'as it was left')));
    const records = await recordsOf(journal);
    const { tools, told } = listeners(records);
    const recovery = await recover(journal, { tools, calls: 'all' });
    wrong.push(...untrue(recovery, world), ...falselyTold(recovery, told));
    wrong.push(...brokenTransactions(seed, recovery.conversations, world));
    wrong.push(...(await faultsIn(journal, 'recovered')));
    told.clear();
    const again = await recover(journal, { tools, calls: 'all' });
    if (told.size > 0) wrong.push(`a second recovery tells ${[...told.keys()].join()} again`);
    if (saidBy(again) !== saidBy(recovery)) wrong.push('a second recovery says something else');
    await goOn(journal, again.conversations);
    const { conversations } = await recover(journal, { tools });
    for (const { id, state } of conversations) {
      if (!state?.conversation.tasks.has('next')) wrong.push(`${id}: what was committed after the recovery is gone`);
    }
    wrong.push(...(await faultsIn(journal, 'gone on with')));
    return {
      wrong,
      records: records.length,
      calls: recovery.calls,
      told: world.told.size,
      ran: world.ran.length,
      cutOff,
    };
  } finally {
    await journal.close();
  }
}

/** Takes a share of what was not durable; gives how many bytes that were. */
async function cutPower(path: string, durable: number, share: number): Promise<number> {
  if (share === 0) return 0;
  const { size } = await stat(path);
  const taken = Math.floor((size - durable) * share);
  if (taken > 0) await truncate(path, size - taken);
  return taken;
}

async function faultsIn(journal: FileJournal, when: string): Promise<string[]> {
  const { findings, findingsBeyond } = await verify(journal);
  const lines = findings.map(
    ({ invariant, seq, actor, what }) => `${when}: ${invariant} at ${seq} (${actor}): ${what}`,
  );
  return findingsBeyond > 0 ? [...lines, `and ${findingsBeyond} more`] : lines;
}

async function recordsOf(journal: FileJournal): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of journal.read()) records.push(record);
  return records;
}

function untrue(recovery: Recovery, { sessions, strange }: World): string[] {
  const wrong = strange.map((call) => `${call}: the run said that the end of its code is unknown`);
  const bySession = new Map(recovery.sessions.map(({ id, calls }) => [id as string, calls]));
  for (const id of new Set([...sessions.keys(), ...bySession.keys()])) {
    const calls = bySession.get(id) ?? [];
    const ofSession = { ...recovery, calls };
    wrong.push(...untruthsOf(ofSession, sessions.get(id) ?? new Map(), true).map((untruth) => `${id}/${untruth}`));
  }
  if (recovery.failure !== undefined) wrong.push(`the journal could not be written: ${String(recovery.failure)}`);
  return wrong;
}

/** What the recovery told the tools is what it says that it told them. */
function falselyTold({ calls }: Recovery, told: ReadonlyMap<string, number>): string[] {
  const expected = calls.filter(({ notice }) => notice === 'given').map(({ sessionId, id }) => `${sessionId}/${id}`);
  const found = [...told].flatMap(([call, times]) => Array.from({ length: times }, () => call));
  const differs = JSON.stringify(expected.sort()) !== JSON.stringify(found.sort());
  return differs ? [`told of ${found.join()}, expected ${expected.join()}`] : [];
}

function saidBy({ calls }: Recovery): string {
  return JSON.stringify(calls.map(({ sessionId, id, outcome, code }) => [sessionId, id, outcome, code]));
}

/** The next run, on the same journal. */
async function goOn(journal: FileJournal, conversations: readonly RecoveredConversation[]): Promise<void> {
  for (const from of conversations) {
    const conversation = createConversation({ from, journal });
    conversation.apply(init('con', 'next'));
    const root = conversation.state.rootTaskId;
    conversation.apply(actions(begin, task('next', root), commit));
    conversation.apply(done);
    await conversation.flush();
    conversation.close();
  }
  const far = scriptedProvider();
  const tool = defineTool({ name: 'next', description: '', input: {}, execute: () => 'done' });
  const session = await startSession({ provider: far, tools: [tool], connect: { model: 'scripted' }, journal });
  far.emit({ type: 'tool_call', id: 'c0', name: 'next', arguments: '{}' });
  for await (const event of session.events()) if (event.type === 'tool_completed') break;
  await session.close();
}
