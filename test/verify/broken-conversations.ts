/** Journals of conversations that break an invariant, each in one place. */
import type { JournalRecord } from '../../src/contract/journal.js';
import type { FoldInput } from '../../src/conversation/index.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import type { FindingOf } from '../../src/verify/index.js';
import { actions, add, begin, commit, done, eof, failing, init, rollback, said, task } from '../conversation/events.js';
import type { BrokenJournal } from './broken-sessions.js';
import { changed, type Draft, draftOf, placeOf, renumbered, type Where, without, withoutEffect } from './edits.js';

/** What a conversation wrote that took these, after an init and a first task. Every message that is added has an effect. */
export function journalOf(...inputs: readonly FoldInput[]): readonly JournalRecord[] {
  const journal = memoryJournal();
  const conversation = createConversation({
    journal,
    effects: ({ action }) => (action.case === 'addMessagesToTask' ? [() => {}] : []),
  });
  for (const input of [init(), actions(task('t')), ...inputs]) conversation.apply(input);
  return journal.records;
}

function broken(
  invariant: FindingOf,
  title: string,
  inputs: readonly FoldInput[],
  spoil: (draft: Draft) => Draft,
): BrokenJournal {
  return { invariant, title, records: renumbered(spoil(draftOf(journalOf(...inputs)))) };
}

const message = (id: string) => add('t', said(id, id));
const rolledBack = [actions(begin, message('a')), actions(rollback), eof];
const committed = [actions(begin, message('a')), actions(commit), eof];

/** The version that a record says stands after it; with `place`, that of one of its effects. */
function versionOf(where: Where, make: (version: number) => number, place?: number): (draft: Draft) => Draft {
  return changed(where, (record) => {
    if (place === undefined) {
      const { folded } = record.data as { folded: { version: number } };
      record.data = { folded: { ...folded, version: make(folded.version) } };
      return;
    }
    const act = record.did[place];
    if (act?.version === undefined) throw new TypeError(`no version in effect ${place} of ${where.join(' ')}`);
    record.did = record.did.with(place, { ...act, version: make(act.version) });
  });
}

const inOrder =
  (...edits: readonly ((draft: Draft) => Draft)[]) =>
  (draft: Draft) =>
    edits.reduce((edited, edit) => edit(edited), draft);

/** A record once more, right behind itself. */
function twice(where: Where): (draft: Draft) => Draft {
  return (draft) => {
    const at = placeOf(draft, where);
    return draft.toSpliced(at + 1, 0, { ...(draft[at] as Draft[number]), seq: 1_000_000 });
  };
}

/** At least one for each invariant of conversations that a journal shows. */
export const brokenConversations: readonly BrokenJournal[] = [
  broken(
    'C1',
    'a rollback brings back something else than stood at Begin',
    rolledBack,
    inOrder(
      versionOf(['transaction-1', 'rollback'], (version) => version + 7),
      versionOf(['conversation', 'actions'], (version) => version + 7, 0),
      versionOf(['conversation', 'actions'], (version) => version + 7),
      versionOf(['conversation', 'end_of_input'], (version) => version + 7, 0),
      versionOf(['conversation', 'end_of_input'], (version) => version + 7),
    ),
  ),
  broken('C1', 'a rollback restores nothing', rolledBack, withoutEffect(['transaction-1', 'rollback'], 'restore')),
  broken(
    'C2',
    'an action brings back what stood before a commit',
    [...committed.slice(0, 2), actions(task('u', 't'))],
    inOrder(
      versionOf(['conversation', 'actions'], () => 2, 0),
      versionOf(['conversation', 'actions'], () => 2),
    ),
  ),
  broken('C2', 'a transaction that was committed is rolled back', committed, (draft) => {
    const at = placeOf(draft, ['transaction-1', 'commit']);
    const record = draft[at] as Draft[number];
    const undone = { ...record, seq: 1_000_000, event: 'rollback', from: 'committed', to: 'rolled_back' };
    return draft.toSpliced(at + 1, 0, undone);
  }),
  broken(
    'C3',
    'an action that fails changes something',
    [actions(failing), eof],
    inOrder(
      versionOf(['conversation', 'actions'], (version) => version + 1, 1),
      versionOf(['conversation', 'actions'], (version) => version + 1),
      versionOf(['conversation', 'end_of_input'], (version) => version + 1, 0),
      versionOf(['conversation', 'end_of_input'], (version) => version + 1),
    ),
  ),
  broken(
    'C4',
    'a transaction is open after the end',
    [actions(begin, task('u', 't')), done, init('c', 'r2')],
    without(['transaction-1', 'finish_done']),
  ),
  broken(
    'C4',
    'a request goes on after the end of its input',
    [eof, init('c', 'r')],
    inOrder(
      changed(['conversation', 'end_of_input'], (record) => {
        record.to = 'streaming';
        record.did = record.did.filter(({ effect }) => effect !== 'endRequest');
      }),
      changed(['conversation', 'init_same'], (record) => {
        record.from = 'streaming';
      }),
    ),
  ),
  broken('C4', 'ended does not resolve', [done, eof], withoutEffect(['conversation', 'finished_done'], 'endRequest')),
  broken('C7', 'an effect of a rolled-back transaction runs', rolledBack, (draft) => {
    const at = placeOf(draft, ['transaction-1', 'rollback']) + 1;
    const run = draftOf(journalOf(...committed)).find(({ event }) => event === 'effect') as Draft[number];
    return draft.toSpliced(at, 0, { ...run, actor: draft[0]?.actor ?? '', seq: 1_000_000 });
  }),
  broken('C7', 'an effect runs twice', committed, twice(['conversation', 'effect'])),
  broken(
    'C7',
    'effects run in another order',
    [actions(begin, message('a')), actions(message('b')), actions(commit)],
    (draft) => {
      const at = placeOf(draft, ['conversation', 'effect']);
      const [first, second] = [draft[at - 1], draft[at]] as [Draft[number], Draft[number]];
      return draft.toSpliced(at - 1, 2, second, first);
    },
  ),
  broken(
    'C7',
    'an effect of a rolled-back transaction still waits',
    rolledBack,
    withoutEffect(['transaction-1', 'rollback'], 'dropEffect'),
  ),
  broken(
    'C8',
    'usage is not counted',
    [done, init('c', 'r2')],
    withoutEffect(['conversation', 'finished_done'], 'recordFinish'),
  ),
  broken(
    'C8',
    'usage is counted twice',
    [done, init('c', 'r2'), done],
    inOrder(withoutEffect(['conversation', 'init_next'], 'startRequest'), (draft) =>
      changed(['conversation', 'init_next'], (record) => {
        record.did = [...record.did, { effect: 'resumeRequest' }];
      })(draft),
    ),
  ),
];
