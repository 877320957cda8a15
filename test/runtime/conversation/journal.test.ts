/** What a conversation writes: docs/design/journal.md, "Conversations and transactions". */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { machinesVersion } from '../../../machines/index.js';
import { type ResponseEvent, ResponseEventSchema } from '../../../proto/index.js';
import type { JournalEntry, JournalRecord, PayloadPolicy, RecordedFold } from '../../../src/contract/journal.js';
import type { FoldInput } from '../../../src/conversation/index.js';
import { type ConversationOptions, createConversation, InvalidIdError, InvalidInputError } from '../../../src/index.js';
import { digestOf, MemoryJournal, memoryJournal } from '../../../src/journal/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import {
  actions,
  add,
  append,
  begin,
  cancel,
  commit,
  done,
  eof,
  error,
  event,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
} from '../../conversation/events.js';
import { quiet } from '../stage.js';

const foldedOf = ({ data }: JournalRecord) => (data as { readonly folded: RecordedFold }).folded;

/** A record in a line: who, the event, the move where there is one, the version after it, and what it did. */
function lineOf(record: JournalRecord): string {
  const { actor, event: type, from, to, did } = record;
  const { stream = 0, version, level = 0 } = foldedOf(record);
  const who = `${actor.replace('c/transaction-', 'T')}${stream === 0 ? '' : `.${stream}`}${level === 0 ? '' : `@${level}`}`;
  const move = from === to ? from : `${from || '·'}→${to}`;
  const effects = did.map((each) => {
    const after = each.version === undefined ? '' : `=${each.version}`;
    return `${each.effect}${each.detail === undefined ? '' : ` ${each.detail}`}${after}`;
  });
  return `${who} ${type || 'begins'}: ${move} v${version}${effects.length === 0 ? '' : ` | ${effects.join(', ')}`}`;
}

/** What is written of inputs, the beginning left out. */
function written(inputs: readonly FoldInput[], options: ConversationOptions = {}): string[] {
  const journal = memoryJournal();
  const conversation = createConversation({ id: 'c', journal, ...options });
  for (const input of inputs) {
    try {
      conversation.apply(input);
    } catch {
      // strict
    }
  }
  return journal.records.slice(1).map(lineOf);
}

const opening = [init(), actions(task('t'))];
const opened = [
  'c init_next: awaiting_init→streaming v1 | startRequest',
  'c actions: streaming v2 | apply createTask=2',
];
const message = (id: string) => add('t', said(id, id));
const ofRest = (inputs: readonly FoldInput[], options?: ConversationOptions) => {
  const lines = written([...opening, ...inputs], options);
  expect(lines.slice(0, 2)).toEqual(opened);
  return lines.slice(2);
};

describe('a life', () => {
  it('begins with its rules', () => {
    const journal = memoryJournal();
    const clock = new VirtualClock();
    createConversation({ journal, id: 'c', mode: 'warp', policies: { nested: 'error' }, maxDiagnostics: 7, clock });
    const policies = { nested: 'error', onDoomedCommit: 'rollback', onFailure: 'commit', onCancel: 'commit' };
    const conversation = { machines: machinesVersion, mode: 'warp', policies, maxDiagnostics: 7, durable: false };
    expect(journal.records).toEqual([
      {
        seq: 1,
        at: clock.now(),
        actor: 'c',
        kind: 'conversation',
        event: '',
        from: '',
        to: 'awaiting_init',
        cause: 0,
        did: [],
        data: { conversation },
      },
    ]);
  });

  it('has an id of its own, or a generated one', () => {
    const journal = memoryJournal();
    const ids = [createConversation({ journal }).id, createConversation({ journal }).id];
    expect(journal.records.map(({ actor }) => actor)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^con_[0-9a-f]{24}$/);
    expect(createConversation({ id: 'mine' }).id).toBe('mine');
    expect(createConversation().id).toMatch(/^con_/);
    for (const id of ['', 'a/b', 'a b', 'x'.repeat(201), 7]) {
      expect(() => createConversation({ id: id as string })).toThrow(InvalidIdError);
    }
  });

  it.each([
    ['journal', null],
    ['journal', {}],
    ['journal', { append() {} }],
    ['clock', {}],
    ['from', 7],
    ['from', {}],
  ])('takes no %s that is none (%j)', (name, value) => {
    expect(() => createConversation({ [name]: value } as never)).toThrow(InvalidInputError);
  });
});

describe('inputs', () => {
  it.each<[string, FoldInput[], string[]]>([
    ['the same init again', [init()], ['c init_same: streaming v2']],
    ['another init', [init('c', 'r2')], ['c init_next: streaming v2 | report unexpected_init']],
    [
      'a finish',
      [done],
      ['c finished_done: streaming→finished v2 | recordFinish, closeTransactions finish_done=2, endRequest'],
    ],
    [
      'a failed finish',
      [failed],
      ['c finished_failed: streaming→failed v2 | recordFinish, closeTransactions finish_failed=2, endRequest'],
    ],
    [
      'the end of the input',
      [eof],
      ['c end_of_input: streaming→truncated v2 | closeTransactions input_ended=2, endRequest'],
    ],
    [
      'a transport error',
      [error],
      ['c transport_error: streaming→truncated v2 | closeTransactions input_ended=2, endRequest'],
    ],
    [
      'a bad frame',
      [{ end: 'bad_frame', message: 'm' }],
      ['c bad_frame: streaming→truncated v2 | report bad_frame, closeTransactions input_ended=2, endRequest'],
    ],
    ['a cancel', [cancel], ['c host_cancel: streaming→cancelled v2 | closeTransactions host_cancel=2, endRequest']],
    ['an event without a type', [event({})], ['c untyped: streaming v2 | report unknown_event']],
    ['no actions', [actions()], ['c actions: streaming v2']],
    [
      'an end after the end',
      [eof, eof, cancel],
      ['c end_of_input: streaming→truncated v2 | closeTransactions input_ended=2, endRequest'],
    ],
    [
      'the same init after a cut',
      [eof, init()],
      [
        'c end_of_input: streaming→truncated v2 | closeTransactions input_ended=2, endRequest',
        'c init_same: truncated→streaming v2 | resumeRequest',
      ],
    ],
  ])('%s', (_, inputs, expected) => {
    expect(ofRest(inputs)).toEqual(expected);
  });

  it('what is no event has no record, an event that changes nothing has one', () => {
    const journal = memoryJournal();
    const conversation = createConversation({ journal });
    expect(() => conversation.apply('close' as never)).toThrow(InvalidInputError);
    expect(() => conversation.apply({ end: 'x' } as never)).toThrow(InvalidInputError);
    expect(journal.records).toHaveLength(1);
    conversation.apply(actions());
    expect(journal.records).toHaveLength(2);
    expect(conversation.state.phase).toBe('awaiting_init');
  });

  it('are written when the state is set, before actors move and anybody is told', async () => {
    const seen: unknown[] = [];
    class Watched extends MemoryJournal {
      override append(entry: JournalEntry): number {
        if (entry.event !== '') {
          seen.push(`${entry.event}: ${conversation.state.phase}, ${conversation.actor.getSnapshot().value}, ${told}`);
        }
        return super.append(entry);
      }
    }
    let told = 0;
    const conversation = createConversation({ journal: new Watched() });
    conversation.changes$.subscribe(() => void told++);
    void conversation.ended.then(() => seen.push('ended'));
    conversation.apply(init());
    conversation.apply(done);
    await quiet();
    expect(seen).toEqual(['init_next: streaming, awaiting_init, 0', 'finished_done: finished, streaming, 1', 'ended']);
  });

  it('a journal that acts on what it is given is taken when the step is complete', () => {
    class Acting extends MemoryJournal {
      override append(entry: JournalEntry): number {
        if (entry.event === 'init_next') conversation.apply(done);
        return super.append(entry);
      }
    }
    const journal = new Acting();
    const conversation = createConversation({ journal });
    conversation.apply(init());
    expect(journal.records.map(({ event: type }) => type)).toEqual(['', 'init_next', 'finished_done']);
    expect(conversation.state.phase).toBe('finished');
  });

  it('a close is a cancel, of every stream that has not ended', () => {
    const journal = memoryJournal();
    const conversation = createConversation({ journal, id: 'c' });
    conversation.apply(init());
    const second = conversation.stream();
    second.apply(init('c', 'r2'));
    conversation.stream();
    conversation.close();
    conversation.close();
    expect(journal.records.slice(1).map(lineOf)).toEqual([
      'c init_next: awaiting_init→streaming v1 | startRequest',
      'c.1 init_next: awaiting_init→streaming v1 | startRequest',
      'c.1 host_cancel: streaming→cancelled v1 | closeTransactions host_cancel=1, endRequest',
      'c.2 host_cancel: awaiting_init→cancelled v1 | closeTransactions host_cancel=1, endRequest',
      'c host_cancel: streaming→cancelled v1 | closeTransactions host_cancel=1, endRequest',
    ]);
  });

  it('are counted: a record for each event is the position', () => {
    const journal = memoryJournal();
    const conversation = createConversation({ journal });
    for (const input of [...opening, init(), actions(), event({}), { end: 'bad_frame', message: '' } as const, done]) {
      conversation.apply(input);
    }
    expect(journal.records).toHaveLength(1 + conversation.state.position);
  });
});

describe('actions', () => {
  it('each is one apply or one fail, in order, behind what was told of it', () => {
    expect(
      ofRest([actions(message('a'), failing, task('t'), {}, add('t', said('a', 'other')), task('t', 'ghost'), commit)]),
    ).toEqual([
      [
        'c actions: streaming v4 | apply addMessagesToTask=3',
        'report unknown_task, fail unknown_task=3',
        'apply createTask=3',
        'report empty_action, apply=3',
        'report duplicate_message, apply addMessagesToTask=4',
        'report duplicate_task, fail duplicate_task=4',
        'report commit_without_begin, apply commitTransaction=4',
      ].join(', '),
    ]);
  });

  it('under `warp` those behind a failing one are not looked at', () => {
    expect(ofRest([actions(failing, message('a'))], { mode: 'warp' })).toEqual([
      'c actions: streaming v2 | report unknown_task, fail unknown_task=2',
    ]);
  });

  it('under `strict` what failed the stream is told of, undone, and `halted` follows', () => {
    expect(
      ofRest([actions(begin, message('a')), actions(message('b'), add('t', said('c', 'c'), said('c', 'd')))], {
        mode: 'strict',
      }),
    ).toEqual([
      'c actions: streaming v3 | apply beginTransaction=2, apply addMessagesToTask=3',
      'T1 begins: ·→open.sound v2',
      'c actions: streaming v4 | apply addMessagesToTask=4, report duplicate_message',
      'c halted: streaming→failed v2 | closeTransactions finish_failed=2, endRequest',
      'T1 finish_failed: open.sound→rolled_back v2 | restore',
    ]);
    expect(written([done, init()], { mode: 'strict' })).toEqual([
      'c finished_done: awaiting_init v1 | report actions_before_init',
      'c halted: awaiting_init→failed v1 | closeTransactions finish_failed=1, endRequest',
    ]);
  });
});

describe('transactions', () => {
  it('stand in the group of what moved them', () => {
    const journal = memoryJournal();
    const conversation = createConversation({ journal, id: 'c' });
    for (const input of [...opening, actions(begin, message('a'), commit, begin), actions(rollback)]) {
      conversation.apply(input);
    }
    const causes = journal.records.map(({ seq, kind, cause }) => [seq, kind, cause]);
    expect(causes).toEqual([
      [1, 'conversation', 0],
      [2, 'conversation', 0],
      [3, 'conversation', 0],
      [4, 'conversation', 0],
      [5, 'transaction', 4],
      [6, 'transaction', 4],
      [7, 'transaction', 4],
      [8, 'conversation', 0],
      [9, 'transaction', 8],
    ]);
  });

  it('keep what they did: nothing after a commit undoes it (C2)', () => {
    expect(ofRest([actions(begin, message('a')), actions(commit), actions(rollback)])).toEqual([
      'c actions: streaming v3 | apply beginTransaction=2, apply addMessagesToTask=3',
      'T1 begins: ·→open.sound v2',
      'c actions: streaming v3 | apply commitTransaction=3',
      'T1 commit: open.sound→committed v3 | keep',
      'c actions: streaming v3 | report rollback_without_begin, apply rollbackTransaction=3',
    ]);
  });

  it('give back the version of their Begin at a rollback (C1), and it is not given again', () => {
    expect(
      ofRest([actions(begin, message('a'), rollback, message('a')), actions(begin, message('b'), rollback)]),
    ).toEqual([
      [
        'c actions: streaming v4 | apply beginTransaction=2, apply addMessagesToTask=3',
        'apply rollbackTransaction=2, apply addMessagesToTask=4',
      ].join(', '),
      'T1 begins: ·→open.sound v2',
      'T1 rollback: open.sound→rolled_back v2 | restore',
      'c actions: streaming v4 | apply beginTransaction=4, apply addMessagesToTask=5, apply rollbackTransaction=4',
      'T2 begins: ·→open.sound v4',
      'T2 rollback: open.sound→rolled_back v4 | restore',
    ]);
  });

  it('are doomed once by what fails in them, and a doomed commit is a rollback (C3)', () => {
    expect(ofRest([actions(begin, message('a'), failing, failing), actions(commit)])).toEqual([
      [
        'c actions: streaming v3 | apply beginTransaction=2, apply addMessagesToTask=3',
        'report unknown_task, fail unknown_task=3, report unknown_task, fail unknown_task=3',
      ].join(', '),
      'T1 begins: ·→open.sound v2',
      'T1 action_failed: open.sound→open.doomed v3',
      'c actions: streaming v2 | report doomed_commit, apply commitTransaction=2',
      'T1 commit: open.doomed→rolled_back v2 | report doomed_commit, restore',
    ]);
  });

  it('are closed by every end', () => {
    expect(ofRest([actions(begin, message('a')), done]).slice(2)).toEqual([
      [
        'c finished_done: streaming→finished v3 | recordFinish, report unclosed_transaction',
        'closeTransactions finish_done=3, endRequest',
      ].join(', '),
      'T1 finish_done: open.sound→committed v3 | report unclosed_transaction, keep',
    ]);
    expect(ofRest([actions(begin, message('a')), eof]).slice(2)).toEqual([
      'c end_of_input: streaming→truncated v2 | closeTransactions input_ended=2, endRequest',
      'T1 input_ended: open.sound→rolled_back v2 | restore',
    ]);
  });

  it('are closed by a split, before it is applied', () => {
    expect(ofRest([actions(message('a'), begin, message('b')), actions(split('a'))]).slice(2)).toEqual([
      [
        'c actions: streaming v5 | report split_in_transaction, closeTransactions split=4',
        'apply startNewConversation=5',
      ].join(', '),
      'T1 split: open.sound→committed v4 | report split_in_transaction, keep',
    ]);
    // a rollback before it takes the message with it
    expect(ofRest([actions(begin, message('b'), failing), actions(split('b'))]).slice(3)).toEqual([
      [
        'c actions: streaming v2 | report split_in_transaction, report doomed_commit, closeTransactions split=2',
        'report unknown_message, fail unknown_message=2',
      ].join(', '),
      'T1 split: open.doomed→rolled_back v2 | report split_in_transaction, report doomed_commit, restore',
    ]);
  });

  const nesting = {
    ignore: ['T1 begin: open.sound v2 | report nested_begin', 'T1 rollback: open.sound→rolled_back v2 | restore'],
    savepoint: [
      'T1 begin: open.sound v2 | report nested_begin, openSavepoint',
      'T2@1 begins: ·→open.sound v2',
      'T2@1 rollback: open.sound→rolled_back v2 | restore',
    ],
    error: [
      'T1 begin: open.sound→open.doomed v2 | report nested_begin, refuseBegin',
      'T1 rollback: open.doomed→rolled_back v2 | restore',
    ],
  } as const;

  it.each(['ignore', 'savepoint', 'error'] as const)('nested: %s', (nested) => {
    const second = nested === 'error' ? 'fail nested_begin=2' : 'apply beginTransaction=2';
    expect(ofRest([actions(begin, begin, message('a'), rollback)], { policies: { nested } })).toEqual([
      [
        'c actions: streaming v2 | apply beginTransaction=2',
        `report nested_begin, ${second}`,
        'apply addMessagesToTask=3, apply rollbackTransaction=2',
      ].join(', '),
      'T1 begins: ·→open.sound v2',
      ...nesting[nested],
    ]);
  });

  it('of levels: the doom of an inner one that is committed passes outward', () => {
    const policies = { nested: 'savepoint', onDoomedCommit: 'commit' } as const;
    expect(ofRest([actions(begin, begin, failing), actions(commit)], { policies }).slice(5)).toEqual([
      'c actions: streaming v2 | report doomed_commit, apply commitTransaction=2',
      'T2@1 commit: open.doomed→committed v2 | report doomed_commit, passDoom, keep',
      'T1 doom_inherited: open.sound→open.doomed v2',
    ]);
  });

  it('are one stream’s: another one is busy, and its Commit finds none', () => {
    const journal = memoryJournal();
    const conversation = createConversation({ journal, id: 'c' });
    for (const input of [...opening, actions(begin)]) conversation.apply(input);
    const second = conversation.stream();
    second.apply(init('c', 'r2'));
    second.apply(actions(message('x'), begin, commit));
    expect(journal.records.slice(5).map(lineOf)).toEqual([
      'c.1 init_next: awaiting_init→streaming v2 | startRequest',
      [
        'c.1 actions: streaming v2 | report transaction_busy, fail transaction_busy=2',
        'report transaction_busy, fail transaction_busy=2',
        'report commit_without_begin, apply commitTransaction=2',
      ].join(', '),
    ]);
  });
});

describe('effects of the host', () => {
  const effects: ConversationOptions['effects'] = ({ action }) =>
    action.case === 'addMessagesToTask' ? [() => {}, () => {}] : [];

  it('are released behind their action, and recorded before they run', async () => {
    const journal = memoryJournal();
    const ran: number[] = [];
    const conversation = createConversation({
      journal,
      id: 'c',
      effects: ({ action }) =>
        action.case === 'addMessagesToTask' ? [() => void ran.push(journal.records.length)] : [],
    });
    for (const input of [...opening, actions(task('s', 't'), message('a'))]) conversation.apply(input);
    await quiet();
    expect(journal.records.slice(3).map(lineOf)).toEqual([
      'c actions: streaming v4 | apply createTask=3, apply addMessagesToTask=4, releaseEffect 2/1',
      'c effect: streaming v4 | runEffect 2/1',
    ]);
    expect(ran).toEqual([5]);
  });

  it('are held, then released by the commit', () => {
    const lines = ofRest([actions(begin, message('a')), actions(commit)], { effects });
    expect(lines).toEqual([
      'c actions: streaming v3 | apply beginTransaction=2, apply addMessagesToTask=3, holdEffect 2/1, holdEffect 2/1',
      'T1 begins: ·→open.sound v2',
      'c actions: streaming v3 | apply commitTransaction=3',
      'T1 commit: open.sound→committed v3 | keep, releaseEffect 2/1, releaseEffect 2/1',
      'c effect: streaming v3 | runEffect 2/1',
      'c effect: streaming v3 | runEffect 2/1',
    ]);
  });

  it('are dropped by the rollback; those of an inner level wait on in the outer one', () => {
    const policies = { nested: 'savepoint' } as const;
    const lines = ofRest([actions(begin, begin, message('a'), commit, message('b'), rollback)], { effects, policies });
    expect(lines.filter((line) => line.startsWith('T') && line.includes('→') && !line.includes('begins'))).toEqual([
      'T2@1 commit: open.sound→committed v3 | keep',
      'T1 rollback: open.sound→rolled_back v2 | restore, dropEffect 2/2, dropEffect 2/2, dropEffect 2/4, dropEffect 2/4',
    ]);
    expect(lines.some((line) => line.includes('runEffect'))).toBe(false);
  });
});

describe('payloads', () => {
  const inputs: FoldInput[] = [...opening, actions(append('t', said('a', 'x'))), error, done];

  function kept(payloads: PayloadPolicy | undefined): RecordedFold[] {
    const journal = memoryJournal(payloads === undefined ? {} : { payloads });
    const conversation = createConversation({ journal });
    for (const input of inputs) conversation.apply(input);
    return journal.records.slice(1).map(foldedOf);
  }

  it('keep: the event as bytes, the message of an end', () => {
    const folded = kept('keep');
    const events = folded.map(({ input }) => input && fromBinary(ResponseEventSchema, input));
    expect(events).toEqual(inputs.map((input) => ('end' in input ? undefined : input)));
    expect(folded.map(({ message: said }) => said)).toEqual([
      undefined,
      undefined,
      undefined,
      error.message,
      undefined,
    ]);
    expect(folded.every(({ digest }) => digest === undefined)).toBe(true);
  });

  it('hash, which is the default: a digest of the same bytes', () => {
    const digests = inputs.map((input) =>
      digestOf('end' in input ? new TextEncoder().encode(error.message) : toBinary(ResponseEventSchema, input)),
    );
    for (const policy of ['hash', undefined] as const) {
      const folded = kept(policy);
      expect(folded.map(({ digest }) => digest)).toEqual(digests);
      expect(folded.every(({ input, message: said }) => input === undefined && said === undefined)).toBe(true);
    }
  });

  it('omit: nothing', () => {
    for (const folded of kept('omit')) expect(Object.keys(folded)).toEqual(['version']);
  });

  it.each(['keep', 'hash'] as const)('%s: nothing of a bad frame', (payloads) => {
    const journal = memoryJournal({ payloads });
    createConversation({ journal }).apply({ end: 'bad_frame', message: 'found "secret"' });
    expect(JSON.stringify(journal.records)).not.toContain('secret');
    expect(foldedOf(journal.records[1] as JournalRecord)).toEqual({ version: 1 });
  });

  it('keep the texts of an append that its paths lead to, one member of a oneof among them', () => {
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal });
    for (const input of [...opening, actions(message('a'))]) conversation.apply(input);
    const patch = { id: 'a', agentOutput: { text: 'x', reasoning: 'y' }, serverMessageData: 'z' };
    const mask = 'agentOutput.text,agentOutput.reasoning,toolCall.server.payload,serverMessageData';
    const appended = actions(append('t', patch, mask));
    conversation.apply(appended);
    const { input } = foldedOf(journal.records.at(-1) as JournalRecord);
    expect(fromBinary(ResponseEventSchema, input as Uint8Array)).toEqual(appended);
  });

  it('keep what the fold read of an event, though it is read once', () => {
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal });
    for (const input of opening) conversation.apply(input);
    conversation.apply(actions(message('a')));
    let reads = 0;
    const one = actions(append('t', said('a', 'x'))) as ResponseEvent & { type: { value: object } };
    const { value } = one.type;
    Object.defineProperty(one.type, 'value', { get: () => (reads++ === 0 ? value : {}) });
    conversation.apply(one);
    const { input } = foldedOf(journal.records.at(-1) as JournalRecord);
    expect(fromBinary(ResponseEventSchema, input as Uint8Array)).toEqual(actions(append('t', said('a', 'x'))));
    expect(reads).toBe(1);
  });
});
