/** What the records of a conversation come to, whatever they keep and wherever they were cut off. */
import { describe, expect, it } from 'vitest';
import { machinesVersion } from '../../machines/index.js';
import type { JournalRecord, PayloadPolicy } from '../../src/contract/journal.js';
import {
  createFold,
  type FoldInput,
  foldJournal,
  JournalFold,
  type RecoveredConversation,
  restoreCommitted,
} from '../../src/conversation/index.js';
import {
  type ConversationOptions,
  createConversation,
  JournalDamagedError,
  JournalFormatError,
} from '../../src/index.js';
import { decodeRecord, encodeRecord, memoryJournal } from '../../src/journal/index.js';
import { quiet } from '../runtime/stage.js';
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
} from './events.js';
import { shownOf } from './shown.js';

const message = (id: string) => add('t', said(id, id));

interface Lived extends ConversationOptions {
  readonly payloads?: PayloadPolicy;
}

function lived(inputs: readonly FoldInput[], { payloads = 'keep', ...options }: Lived = {}) {
  const journal = memoryJournal({ payloads });
  const conversation = createConversation({ journal, id: 'c', ...options });
  for (const input of inputs) {
    try {
      conversation.apply(input);
    } catch {
      // strict
    }
  }
  return { conversation, journal, records: journal.records };
}

const stateOf = ({ state }: Pick<RecoveredConversation, 'state'>) => state && shownOf(state.conversation);
const texts = ({ state }: Pick<RecoveredConversation, 'state'>) =>
  state?.conversation.tasks
    .get('t')
    ?.messages.toArray()
    .map(({ id }) => id);

const history: FoldInput[] = [
  init(),
  actions(task('t'), message('a')),
  actions(begin, message('b')),
  actions(begin, message('c')),
  actions(commit, message('d'), failing),
  actions(begin, message('e'), failing),
  actions(commit),
  actions(message('f'), begin),
  actions(split('b')),
  init('next', 'r'),
  actions(begin, append('t', said('f', '!')), rollback),
  event({}),
  actions(begin, message('g')),
];

describe('a committed state', () => {
  it('has no transaction open, and a request that was under way was cut off', () => {
    const fold = createFold();
    const before = fold.take(fold.take(fold.initial, init()).state, actions(task('t'), message('a'))).state;
    const open = fold.take(before, actions(begin, message('b'), failing)).state;
    const committed = restoreCommitted(open);
    expect(committed.parts.tree).toBe(before.parts.tree);
    expect(committed.conversation).toMatchObject({ phase: 'truncated', transaction: 'none', position: 3 });
    expect(committed.conversation.diagnostics.map(({ code }) => code)).toEqual(['unknown_task']);
    // the same init resumes the request
    expect(fold.take(committed, init()).state.conversation).toMatchObject({ phase: 'streaming', requestId: 'r' });
  });

  it.each([
    ['awaits its init', [], 'awaiting_init'],
    ['is finished', [init(), done], 'finished'],
    ['has failed', [init(), failed], 'failed'],
    ['was cancelled', [init(), cancel], 'cancelled'],
    ['was truncated', [eof], 'truncated'],
  ] as const)('of one that %s stands where it stood', (_, inputs, phase) => {
    const fold = createFold();
    const state = inputs.reduce((before, input) => fold.take(before, input).state, fold.initial);
    expect(restoreCommitted(state).conversation).toEqual(state.conversation);
    expect(restoreCommitted(state).conversation.phase).toBe(phase);
  });

  it('has no further streams, and what one of them had open is gone', () => {
    const fold = createFold();
    let state = fold.open(fold.take(fold.initial, init()).state, 1);
    state = fold.take(state, actions(task('t'))).state;
    const { tree } = state.parts;
    for (const input of [init('c', 'r2'), actions(begin, message('a'))]) state = fold.take(state, input, 1).state;
    const committed = restoreCommitted(state);
    expect(committed.parts.tree).toBe(tree);
    expect(committed.phaseOf(1)).toBeUndefined();
  });
});

describe('records', () => {
  it.each<[string, Lived]>([
    ['tolerant', {}],
    ['savepoints', { policies: { nested: 'savepoint' } }],
    ['doomed commits that commit', { policies: { nested: 'savepoint', onDoomedCommit: 'commit' } }],
    ['refused Begins', { policies: { nested: 'error' } }],
    ['warp', { mode: 'warp' }],
    ['strict', { mode: 'strict' }],
  ])('cut off anywhere come to what was committed by then: %s', (_, options) => {
    const { records } = lived(history, options);
    const fold = createFold(options);
    let state = fold.initial;
    let next = 0;
    const replay = new JournalFold('c');
    for (const record of records) {
      // bytes and back, as a file has it
      replay.take(decodeRecord(encodeRecord(record)));
      if (record.kind === 'conversation' && record.event !== '' && record.event !== 'halted') {
        state = fold.take(state, history[next++] as FoldInput).state;
      }
      const recovered = replay.recovered();
      // a group whose transactions were cut off is whole all the same
      expect(stateOf(recovered)).toEqual(shownOf(restoreCommitted(state).conversation));
      expect(recovered.phase).toBe(recovered.state?.conversation.phase);
      expect(recovered.openTransactions).toHaveLength(state.parts.levels.length);
      expect(recovered.position).toBe(state.conversation.position);
      // whatever was kept of the payloads, the rest is the same
      const { state: _, ...rest } = recovered;
      const hashed = records.slice(0, records.indexOf(record) + 1).map(withoutInput);
      expect(foldJournal('c', hashed)).toMatchObject(rest);
    }
    expect(next).toBe(options.mode === 'strict' ? 4 : history.length);
  });

  function withoutInput(record: JournalRecord): JournalRecord {
    const { data } = record;
    if (data === undefined || !('folded' in data)) return record;
    const { input: _, message: __, ...folded } = data.folded;
    return { ...record, data: { folded } };
  }

  it.each(['hash', 'omit'] as const)('that keep no inputs (%s) come to all but the state', (payloads) => {
    const { conversation, records } = lived(history, { payloads });
    expect(foldJournal('c', records)).toEqual({
      id: 'c',
      began: expect.objectContaining({ mode: 'tolerant', maxDiagnostics: 1000 }),
      state: undefined,
      phase: 'truncated',
      version: 9,
      lastVersion: 11,
      position: conversation.state.position,
      lastStream: 0,
      lastTransaction: 5,
      openTransactions: ['c/transaction-5'],
      effectsNotRun: [],
    });
  });

  it('of others, and of none, are passed over', () => {
    const { records } = lived(history);
    const others = lived([init('x', 'x')], { id: 'c2' } as never).records;
    const session = { ...(records[1] as JournalRecord), kind: 'session', actor: 'c' } as const;
    const mixed = records.flatMap((record) => [record, ...others, session]);
    expect(stateOf(foldJournal('c', mixed))).toEqual(stateOf(foldJournal('c', records)));
  });

  it.each(['keep', 'omit'] as const)('of another stream move no transaction of the first (%s)', (payloads) => {
    const { conversation, records } = lived([init(), actions(task('t'), begin, message('a'))], { payloads });
    const second = conversation.stream();
    second.apply(init('c', 'r2'));
    second.apply(actions(message('b'), failing, begin, commit, rollback));
    second.apply(done);
    expect(foldJournal('c', records)).toMatchObject({
      openTransactions: ['c/transaction-1'],
      version: 2,
      lastStream: 1,
    });
    conversation.apply(actions(commit));
    const recovered = foldJournal('c', records);
    expect(recovered).toMatchObject({ openTransactions: [], version: 3, lastVersion: 3, position: 3 });
    expect(texts(recovered)).toEqual(payloads === 'keep' ? ['a'] : undefined);
  });

  it('say which effects were released and did not run', async () => {
    const waiting = new Promise<void>(() => {});
    const effects: ConversationOptions['effects'] = ({ action }) =>
      action.case === 'addMessagesToTask' ? [() => waiting] : [];
    const { conversation, records } = lived(
      [
        init(),
        actions(task('t'), message('a'), message('b')),
        actions(begin, message('c')),
        actions(begin, message('d')),
      ],
      { effects },
    );
    await quiet();
    const second = conversation.stream();
    expect(foldJournal('c', records).effectsNotRun).toEqual([{ stream: 0, event: 1, action: 2 }]);
    conversation.apply(actions(commit));
    second.apply(init('c', 'r2'));
    second.apply(actions(message('e')));
    // the first runs for ever
    expect(foldJournal('c', records).effectsNotRun).toEqual([
      { stream: 0, event: 1, action: 2 },
      { stream: 0, event: 2, action: 1 },
      { stream: 0, event: 3, action: 1 },
      { stream: 1, event: 1, action: 0 },
    ]);
    conversation.apply(actions(begin, message('f')));
    conversation.apply(actions(rollback));
    expect(foldJournal('c', records).effectsNotRun).toHaveLength(4);
  });

  it.each<[string, (records: readonly JournalRecord[]) => readonly JournalRecord[], unknown]>([
    ['nothing', () => [], JournalDamagedError],
    ['no beginning', (records) => records.slice(1), JournalDamagedError],
    [
      'a beginning without rules',
      ([first]) => {
        const { data: _, ...rest } = first as JournalRecord;
        return [rest];
      },
      JournalDamagedError,
    ],
    ['a mode that there is not', ([first]) => [began(first, { mode: 'lenient' })], JournalDamagedError],
    ['a policy that there is not', ([first]) => [began(first, { policies: { nested: 'x' } })], JournalDamagedError],
    ['a number that is none', ([first]) => [began(first, { maxDiagnostics: -1 })], JournalDamagedError],
    ['newer machines', ([first]) => [began(first, { machines: machinesVersion + 1 })], JournalFormatError],
    [
      'an input that is none',
      ([first, second]) => [
        first as JournalRecord,
        { ...(second as JournalRecord), data: { folded: { version: 1, input: new Uint8Array([255]) } } },
      ],
      JournalDamagedError,
    ],
    [
      'a step that says nothing',
      ([first, second]) => {
        const { data: _, ...rest } = second as JournalRecord;
        return [first as JournalRecord, rest];
      },
      JournalDamagedError,
    ],
    [
      'an event that is none, with an input',
      ([first, second]) => [
        first as JournalRecord,
        { ...(second as JournalRecord), did: [{ effect: 'apply', version: 9 }] },
      ],
      undefined,
    ],
    [
      'what it began with, cut off',
      ([first]) => [{ ...began(first, { initial: new Uint8Array([9, 1]) }), did: [{ effect: 'restore', version: 2 }] }],
      JournalDamagedError,
    ],
  ])('that hold %s', (_, damage, expected) => {
    const { records } = lived([init()]);
    const fold = () => foldJournal('c', damage(records));
    if (expected === undefined) expect(fold().state).toBeUndefined();
    else expect(fold).toThrow(expected as never);
  });

  function began(first: JournalRecord | undefined, other: object): JournalRecord {
    const { data, ...rest } = first as JournalRecord;
    return {
      ...rest,
      data: { conversation: { ...(data as { conversation: object }).conversation, ...other } },
    } as never;
  }
});

describe('a conversation that goes on', () => {
  it('is told by name that its inputs have to be kept', () => {
    const { records } = lived(history, { payloads: 'hash' });
    expect(() => createConversation({ from: foldJournal('c', records) })).toThrow(/payloads: 'keep'/);
  });

  it('is the one that it was: id, rules, numbers, ends', async () => {
    const rules = { mode: 'warp', policies: { nested: 'savepoint' }, maxDiagnostics: 3 } as const;
    const { records } = lived([init(), actions(task('t'), message('a'), begin, begin, message('b'))], rules);
    const recovered = foldJournal('c', records);
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ from: recovered, journal });
    expect(conversation.id).toBe('c');
    expect(() => createConversation({ from: recovered, id: 'other' })).toThrow(/id/);
    expect(await conversation.ended).toMatchObject({ phase: 'truncated', requestId: 'r' });
    expect(conversation.actor.getSnapshot().value).toBe('truncated');
    const { data, did, to, from } = journal.records[0] as JournalRecord;
    expect(data).toMatchObject({
      conversation: { mode: 'warp', policies: { nested: 'savepoint', onFailure: 'commit' }, maxDiagnostics: 3 },
    });
    expect([from, to]).toEqual(['', 'truncated']);
    expect(did).toEqual([
      { effect: 'restore', version: 3 },
      { effect: 'lastVersion', version: 4 },
      { effect: 'lastTransaction', detail: '2' },
      { effect: 'lastStream', detail: '0' },
      { effect: 'position', detail: '2' },
      { effect: 'keep' },
    ]);
    conversation.apply(init());
    conversation.apply(actions(begin, message('c')));
    expect(journal.records.at(-1)).toMatchObject({ actor: 'c/transaction-3', data: { folded: { version: 3 } } });
    expect(journal.records.at(-2)?.did.at(-1)).toMatchObject({ version: 5 });
    expect(conversation.stream()).toBeDefined();
    // rules that the host gives are the host's
    const other = createConversation({ from: recovered, mode: 'tolerant', journal });
    expect(other.state.phase).toBe('truncated');
    expect(journal.records.at(-1)?.data).toMatchObject({
      conversation: { mode: 'tolerant', policies: { nested: 'ignore' }, maxDiagnostics: 3 },
    });
  });

  it.each<[string, FoldInput[], ConversationOptions]>([
    ['nothing', [], {}],
    ['an init alone', [init()], {}],
    ['an end before any init', [eof], {}],
    ['a cancel before any init', [cancel], {}],
    ['a finish before any init', [done], {}],
    ['a transport error', [...history, error], {}],
    ['a cancel', [...history, cancel], {}],
    ['a finish', [...history, done], {}],
    ['a failed finish', [...history, failed], {}],
    ['a strict failure', [init(), actions(task('t'), message('a'), {})], { mode: 'strict' }],
    ['a strict failure before any init', [actions()], { mode: 'strict' }],
    ['a transaction that was open', history, {}],
  ])('in another journal, and from there again: after %s', (_, inputs, options) => {
    const first = foldJournal('c', lived(inputs, options).records);
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ from: first, journal });
    const second = foldJournal(
      'c',
      journal.records.map((record) => decodeRecord(encodeRecord(record))),
    );
    const { state, began: _b, ...numbers } = second;
    const { state: stood, began: _c, ...before } = first;
    expect(numbers).toEqual({ ...before, openTransactions: [] });
    // diagnostics and `interrupted` are not in the events that rebuild a conversation
    const but = { diagnostics: [], interrupted: [] };
    expect({ ...stateOf(second), ...but }).toEqual({ ...stateOf(first), ...but });
    expect(state?.isHalted(0)).toBe(stood?.isHalted(0));
    let refused: unknown;
    try {
      conversation.apply(init('c', 'later'));
    } catch (thrown) {
      refused = thrown;
    }
    expect(refused).toEqual(options.mode === 'strict' ? expect.objectContaining({ code: 'conversation' }) : undefined);
  });

  it('in its own journal has its diagnostics, too', () => {
    const { journal, records } = lived([init(), actions(task('t'), failing)]);
    const conversation = createConversation({ from: foldJournal('c', records), journal });
    conversation.apply(init());
    conversation.apply(actions(failing, message('a')));
    const again = foldJournal('c', records);
    expect(again.state?.conversation.diagnostics.map(({ code, event: at }) => [code, at])).toEqual([
      ['unknown_task', 1],
      ['unknown_task', 3],
    ]);
    expect(texts(again)).toEqual(['a']);
    expect(again.state?.conversation.diverged).toBe(true);
  });

  it('from a life of the same journal that is not the last one goes on from what it was given', () => {
    const { journal, records } = lived([init(), actions(task('t'), message('a'))]);
    const old = foldJournal('c', records);
    const other = createConversation({ from: old, journal });
    other.apply(init());
    other.apply(actions(message('b')));
    createConversation({ from: old, journal });
    expect(texts(foldJournal('c', records))).toEqual(['a']);
  });

  it('under `hash` is none any more', () => {
    const { records } = lived([init(), actions(task('t'))]);
    const journal = memoryJournal();
    createConversation({ from: foldJournal('c', records), journal });
    expect(foldJournal('c', journal.records).state).toBeUndefined();
  });
});
