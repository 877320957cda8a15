import { describe, expect, test } from 'vitest';
import { JournalFailedError } from '../../../src/contract/errors.js';
import type { Journal, JournalEntry } from '../../../src/contract/journal.js';
import { decodeRecord, encodeRecord, memoryJournal, parseRecord, printRecord } from '../../../src/journal/index.js';
import { verify } from '../../../src/verify/index.js';
import { outcomeOf, quiet } from '../stage.js';
import { decodeJournal } from './journal-reading.js';
import { FarSide, stage, text } from './stage.js';

async function supervisorRecords(journal: Journal) {
  return (await decodeJournal(journal))
    .filter(({ kind }) => kind === 'supervisor')
    .map(({ event, from, to, did }) => ({
      step: `${event}: ${from} > ${to}`,
      did: did.map(({ effect, detail }) => (detail === undefined ? effect : `${effect} ${detail}`)),
    }));
}

describe('the journal', () => {
  test('holds one record for each step, and what it was about', async () => {
    const journal = memoryJournal();
    const far = new FarSide({ handle: () => 'handle' });
    const { start, supervisor, pass } = stage({ id: 'sup_it', journal, maxSessions: 1 });
    const session = await start(far, { id: 'talk', restart: { type: 'transient', intensity: 1 } });
    const first = session.current?.sessionId;
    await outcomeOf(start(far, { id: 'other' }));
    supervisor.createConversation({ id: 'c' });
    far.last.far.end();
    await pass(100);
    const second = session.current?.sessionId;
    far.last.far.end();
    await quiet();
    await supervisor.shutdown({ deadlineMs: 700 });
    expect(await supervisorRecords(journal)).toEqual([
      { step: ':  > running', did: ['maxSessions 1', 'maxConversations 65536', 'maxConcurrentTools 1073741823'] },
      { step: 'start_session: running > running', did: [`openIncarnation talk ${first}`] },
      { step: 'over_limit: running > running', did: ['refuseStart session'] },
      { step: 'start_conversation: running > running', did: ['openConversation c'] },
      { step: 'incarnation_ended: running > running', did: [`armRestart talk ${first} stream_ended`] },
      { step: 'restart_due: running > running', did: [`openIncarnation talk ${second}`] },
      { step: 'incarnation_connected: running > running', did: [`announceIncarnation talk ${second} resumed`] },
      {
        step: 'session_failed: running > running',
        did: [`reportFailure talk ${second} stream_ended`, `releaseChild talk ${second} stream_ended`],
      },
      { step: 'shutdown: running > draining', did: ['armDeadline 700', 'disarmRestarts', 'finishChildren'] },
      { step: 'conversation_ended: draining > draining', did: ['releaseChild c'] },
      { step: 'emptied: draining > stopped', did: ['disarmDeadline', 'resolveShutdown'] },
    ]);
  });

  test('is shared by the children, and sound: every incarnation is a life of its own', async () => {
    const journal = memoryJournal();
    const far = new FarSide();
    const { start, supervisor, pass } = stage({ journal });
    await start(far, { restart: { type: 'permanent' } });
    const own = memoryJournal();
    await start(new FarSide(), { journal: own });
    for (let n = 0; n < 3; n++) {
      far.last.far.emit(text('said'));
      far.last.far.end();
      await pass(100);
    }
    await supervisor.shutdown();
    const verdict = await verify(journal);
    expect(verdict.findings).toEqual([]);
    for (const record of await decodeJournal(journal)) {
      if (record.kind !== 'supervisor') continue;
      expect(decodeRecord(encodeRecord(record))).toEqual(record);
      expect(parseRecord(printRecord(record))).toEqual(record);
    }
    const actors = new Set((await decodeJournal(journal)).map(({ actor }) => actor));
    expect([...actors].filter((actor) => actor.startsWith('ses_'))).toHaveLength(4);
    expect((await decodeJournal(own)).every(({ kind }) => kind !== 'supervisor')).toBe(true);
  });

  test('is sound where audio of the last incarnation is dropped by an interruption of the next', async () => {
    const journal = memoryJournal();
    const far = new FarSide();
    const { start, supervisor, pass } = stage({ journal });
    const session = await start(far, { restart: { type: 'permanent' }, dropUnreadAudio: true, maxBufferedEvents: 4 });
    const audio = { type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' } as const;
    for (let n = 0; n < 3; n++) far.last.far.emit(audio);
    far.last.far.end();
    await pass(100);
    far.last.far.emit(audio);
    await quiet();
    far.last.far.emit({ type: 'interrupted' });
    await quiet();
    await supervisor.shutdown();
    void session;
    expect((await verify(journal)).findings).toEqual([]);
  });

  test('that can be written no more ends what writes into it, and the supervisor with it', async () => {
    const records: JournalEntry[] = [];
    const journal: Journal = {
      durable: false,
      append(entry) {
        if (records.length === 8) throw new JournalFailedError('of the test', new Error('full'));
        return records.push(entry);
      },
      flush: () => Promise.resolve(),
      read: async function* () {},
    };
    const far = new FarSide();
    const { start, supervisor } = stage({ journal });
    const outcomes = [];
    for (let n = 0; n < 5; n++) outcomes.push(await outcomeOf(start(far, { restart: { type: 'permanent' } })));
    expect(outcomes.some((outcome) => 'error' in outcome)).toBe(true);
    const { children } = await supervisor.closed;
    expect(children.length).toBeGreaterThan(0);
    expect(supervisor.actor.getSnapshot().value).toBe('stopped');
    expect(await outcomeOf(start(far))).toMatchObject({ error: { code: 'supervisor_stopping' } });
  });
});
