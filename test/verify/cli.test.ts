/** `commitpoint verify` and `commitpoint replay`: what they say of sound, broken, torn, damaged and unreadable journals. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import { type ReplayCommandOptions, replayFile } from '../../src/cli/commands/replay.js';
import { verifyJournal } from '../../src/cli/commands/verify.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { createConversation } from '../../src/index.js';
import { encodeRecord, memoryJournal } from '../../src/journal/index.js';
import { fileJournal } from '../../src/journals/file/index.js';
import { actions, add, begin, init, said, task } from '../conversation/events.js';
import { ComposedSession, Pages } from './composed.js';
import { changed, draftOf } from './edits.js';
import { supervisedRecords } from './supervised.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verify-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

let files = 0;
const newPath = (extension = 'journal') => join(folder, `${++files}.${extension}`);

async function written(records: readonly JournalRecord[]): Promise<string> {
  const path = newPath();
  await using journal = await fileJournal(path);
  for (const { seq: _, ...entry } of records) journal.append(entry);
  return path;
}

async function verified(path: string, json = false) {
  const { status, lines, complaints } = await verifyJournal(path, { json });
  return {
    status,
    out: lines.join('\n').replaceAll(path, 'FILE'),
    err: complaints.join('\n').replaceAll(path, 'FILE'),
  };
}

async function replayed(path: string, options: ReplayCommandOptions = {}) {
  const { status, lines, complaints } = await replayFile(path, options);
  return {
    status,
    out: lines.join('\n').replaceAll(path, 'FILE'),
    err: complaints.join('\n').replaceAll(path, 'FILE'),
  };
}

/** A call that is interrupted while its code runs; the session is closed. */
function story(): readonly JournalRecord[] {
  const pages = new Pages();
  new ComposedSession(pages)
    .happens('connected')
    .calls('a')
    .call('a', 'input_accepted')
    .happens('interrupted')
    .call('a', 'code_resolved')
    .happens('host_close')
    .happens('close_settled');
  return pages.records;
}

/** The same, and its policy is said to be another one. */
function brokenStory(): readonly JournalRecord[] {
  return changed(['session', 'tool_call'], (record) => {
    record.data = JSON.parse(JSON.stringify(record.data).replace('"abandon"', '"deliver"'));
  })(draftOf(story()));
}

describe('verify', () => {
  test('says what a sound journal holds', async () => {
    expect(await verified(await written(story()))).toEqual({
      status: 0,
      out: `FILE: 11 records: 1 session, 1 call, 0 conversations, 0 transactions
  sound: no invariant is broken, and the machines take every step again`,
      err: '',
    });
  });

  test('says which records break which invariant, and how', async () => {
    const { status, out, err } = await verified(await written(brokenStory()));
    expect(status).toBe(1);
    expect(out).toContain('not sound');
    expect(err).toContain(
      'FILE: D3 at record 8 (ses_one/a): call "a" is abandoned by an interruption, and its policy is deliver',
    );
    expect(err).toContain(
      'record 8: call: interrupted, executing → abandoned.draining, after record 7: disarmTimeout reportAbandoned stub',
    );
    expect(err).toContain('D3: an interruption abandons exactly the calls not yet at the commit point');
    expect(err).toContain('FILE: divergent at record 8');
  });

  test('prints findings and verdict as JSON lines', async () => {
    const { status, out, err } = await verified(await written(brokenStory()), true);
    const lines = out.split('\n').map((line) => JSON.parse(line));
    expect([status, err]).toEqual([1, '']);
    expect(lines[0]).toMatchObject({ finding: { invariant: 'D3', record: { seq: 8, actor: 'ses_one/a' } } });
    expect(lines.at(-1)).toMatchObject({ verdict: { file: 'FILE', sound: false, records: 11, sessions: 1 } });
  });

  test('says of a torn tail where it is, and fails nothing', async () => {
    const path = await written(story());
    const size = readFileSync(path).length;
    appendFileSync(path, new Uint8Array([200, 0, 0, 0, 1, 2, 3, 4, 5]));
    const { status, out } = await verified(path);
    expect(status).toBe(0);
    expect(out).toContain(`the last write was cut off at byte ${size}`);
  });

  test('says of damage where it is, checks what stands before it, and fails', async () => {
    const path = await written(brokenStory());
    const bytes = readFileSync(path);
    bytes[bytes.length - 5] = (bytes.at(-5) as number) ^ 0xff;
    writeFileSync(path, Buffer.concat([bytes, readFileSync(await written(story())).subarray(8)]));
    const { status, out, err } = await verified(path);
    expect(status).toBe(1);
    expect(out).toContain('10 records');
    expect(err).toMatch(/damaged at \d+: the checksum is wrong\n {2}what stands before it was checked/);
    expect(err).toContain('D3 at record 8');
  });

  test('says that lives without an end are none to worry about', async () => {
    const { status, out } = await verified(await written(story().slice(0, 6)));
    expect(status).toBe(0);
    expect(out).toContain('without an end: 1 session, 1 call');
  });

  test('says that other machines have written', async () => {
    const records = draftOf(story());
    const older = changed(['session', ''], (record) => {
      record.data = JSON.parse(JSON.stringify(record.data).replace(/"machines":\d+/, '"machines":99'));
    })(records);
    const { status, out } = await verified(await written(older));
    expect(status).toBe(0);
    expect(out).toContain('written by version 99 of the machines');
  });

  test('reads JSON lines, and says which one is none', async () => {
    const lines = story().map((record) => toJsonString(RecordSchema, fromBinary(RecordSchema, encodeRecord(record))));
    const path = newPath('jsonl');
    writeFileSync(path, `// by hand\n${lines.join('\n')}\n`);
    expect((await verified(path)).out).toContain('11 records');
    writeFileSync(path, `${lines[0]}\n{"seq":"two"}\n`);
    const { status, err } = await verified(path);
    expect(status).toBe(1);
    expect(err).toContain('line 2 holds no record');
  });

  test('what is no journal cannot be used', async () => {
    const path = newPath();
    writeFileSync(path, 'nothing of the kind');
    await expect(verifyJournal(path, {})).rejects.toMatchObject({ code: 'journal_format' });
    await expect(verifyJournal(newPath(), {})).rejects.toMatchObject({ code: 'unreadable_file' });
    await expect(verifyJournal(folder, {})).rejects.toMatchObject({
      code: 'unreadable_file',
      message: expect.stringContaining(folder),
    });
  });
});

describe('replay', () => {
  test('says where everything stood at a record', async () => {
    const path = await written(story());
    expect(await replayed(path, { at: '6' })).toEqual({
      status: 0,
      out: `FILE: at record 6, after 6 records
session ses_one: open.responding
  a  executing          lookup`,
      err: '',
    });
    expect((await replayed(path, { at: '7' })).out).toContain('open.waiting\n  a  executing');
    expect((await replayed(path, { at: '8' })).out).toContain('open.waiting\n  a  abandoned');
    expect((await replayed(path)).out).toContain('session ses_one: closed (host)\n  a  abandoned');
    expect((await replayed(path, { at: '999' })).out).toContain('there is no record 999; the last one before it is 11');
  });

  test('says where records and machines part, and goes on with the records', async () => {
    const { status, out, err } = await replayed(await written(brokenStory()));
    expect(status).toBe(1);
    expect(out).toContain('session ses_one: closed, as the records have it');
    expect(err).toContain('divergent at record 8');
  });

  test('brings back what a conversation held, where it was kept', async () => {
    for (const payloads of ['keep', 'hash'] as const) {
      const memory = memoryJournal({ payloads });
      const conversation = createConversation({ journal: memory });
      conversation.apply(init());
      conversation.apply(actions(task('t'), add('t', said('m', 'hello'))));
      conversation.apply(actions(begin, add('t', said('n', 'more'))));
      const path = await written(memory.records);
      const { status, out } = await replayed(path);
      expect(status).toBe(0);
      expect(out).toContain('streaming, transaction open');
      expect(out.includes('task t: 2 messages')).toBe(payloads === 'keep');
      expect(out.includes('payloads were not kept')).toBe(payloads === 'hash');
      const json = (await replayed(path, { json: true })).out.split('\n').map((line) => JSON.parse(line));
      const [first] = json;
      expect(first.conversation.result?.tasks[0].messages.length).toBe(payloads === 'keep' ? 2 : undefined);
    }
  });

  test('a place that is none is refused', async () => {
    const path = await written(story());
    for (const at of ['x', '-1', '1.5', '']) {
      await expect(replayFile(path, { at })).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});

describe('a supervisor', () => {
  test('is counted, and has no end where the journal was cut off', async () => {
    const records = await supervisedRecords;
    const whole = await verified(await written(records));
    expect(whole.out.split('\n')[0]).toMatch(
      /^FILE: \d+ records: 7 sessions, 2 calls, 1 conversation, 0 transactions, 1 supervisor$/,
    );
    const cut = await verified(await written(records.slice(0, -1)));
    expect(cut).toMatchObject({ status: 0 });
    expect(cut.out).toContain('without an end: 1 supervisor (they go on, or their process is gone)');
  });

  test('stands with its children at any record', async () => {
    const records = await supervisedRecords;
    const path = await written(records);
    const at = String((records.find(({ event }) => event === 'shutdown')?.seq ?? 0) - 1);
    const { status, out } = await replayed(path, { at });
    expect(status).toBe(0);
    const lines = out.split('\n');
    const supervisor = lines.findIndex((line) => line.startsWith('supervisor '));
    expect(lines.slice(supervisor).map((line) => line.replace(/ses_\w+/, 'SES'))).toEqual([
      'supervisor sup_one: running, 3 children',
      '  session one  waits to begin again after SES',
      '  conversation con_one',
      '  session two  SES',
    ]);
    const json = await replayed(path, { json: true });
    const told = json.out.split('\n').map((line) => JSON.parse(line) as { supervisor?: unknown });
    expect(told.find(({ supervisor }) => supervisor !== undefined)).toEqual({
      supervisor: { id: 'sup_one', state: 'stopped', children: [] },
    });
  });
});
