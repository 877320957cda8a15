/** Journals of supervisors, and of sessions that share a pool, that break an invariant, each in one place. */
import type { JournalRecord } from '../../src/contract/journal.js';
import type { BrokenJournal } from './broken-sessions.js';
import { ComposedSession, Pages, rules } from './composed.js';
import { type Draft, draftOf, renumbered } from './edits.js';
import { supervisedRecords } from './supervised.js';

const sound = await supervisedRecords;

function broken(invariant: BrokenJournal['invariant'], title: string, spoil: (draft: Draft) => Draft): BrokenJournal {
  return { invariant, title, records: renumbered(spoil(draftOf(sound))) };
}

/** Where the supervisor's last record of an event stands that says something of this. */
function placeOf(draft: Draft, event: string, says = ''): number {
  const at = draft.findLastIndex(
    ({ kind, event: own, did }) =>
      kind === 'supervisor' && own === event && did.some(({ detail = '' }) => detail.includes(says)),
  );
  if (at === -1) throw new TypeError(`no record ${event} of the supervisor that says ${says}`);
  return at;
}

function changed(event: string, says: string, change: (record: Draft[number]) => void): (draft: Draft) => Draft {
  return (draft) => {
    change(draft[placeOf(draft, event, says)] as Draft[number]);
    return draft;
  };
}

/** The supervisor's record says another number of one of its limits. */
const limit = (effect: string, detail: string) =>
  changed('', '', (record) => {
    record.did = record.did.map((one) => (one.effect === effect ? { effect, detail } : one));
  });

function sharesAPool(): readonly JournalRecord[] {
  const pages = new Pages();
  const began = { ...rules, pool: 'pool_one', poolPlaces: 1 };
  for (const id of ['ses_one', 'ses_two']) {
    new ComposedSession(pages, id, began).happens('connected').calls('a').call('a', 'input_accepted');
  }
  return pages.records;
}

export const brokenSupervisors: readonly BrokenJournal[] = [
  { invariant: 'K6', title: 'two sessions each hold the one place of their pool', records: sharesAPool() },
  broken('S16', 'a conversation is begun while the supervisor drains', (draft) => {
    const [start] = draft.splice(placeOf(draft, 'start_conversation'), 1);
    const at = placeOf(draft, 'shutdown');
    return draft.toSpliced(at + 1, 0, { ...(start as Draft[number]), from: 'draining', to: 'draining' });
  }),
  broken('V2', 'a child is left when the supervisor stops', (draft) =>
    draft.toSpliced(placeOf(draft, 'conversation_ended'), 1),
  ),
  broken('V3', 'a child that has ended is neither released nor begun again', (draft) => {
    const at = placeOf(draft, 'conversation_ended');
    // and the supervisor never says that it stopped
    return draft.slice(0, at + 1).with(at, { ...(draft[at] as Draft[number]), did: [] });
  }),
  broken('V4', 'nobody is told that a session is given up', (draft) =>
    changed('session_failed', '', (record) => {
      record.did = record.did.filter(({ effect }) => effect !== 'reportFailure');
    })(draft),
  ),
  broken('S1', 'an incarnation is said to have ended before its records have an end', (draft) => {
    const at = placeOf(draft, 'incarnation_ended', 'two ');
    const session = draft[at]?.did[0]?.detail?.split(' ')[1];
    const ended = draft.findLastIndex(({ actor, to }) => actor === session && to === 'closed');
    const [record] = draft.splice(at, 1);
    return draft.toSpliced(ended, 0, record as Draft[number]);
  }),
  broken('S1', 'an incarnation is said to have begun after its records did', (draft) => {
    const at = placeOf(draft, 'restart_due', 'two ');
    const [record] = draft.splice(at, 1);
    return draft.toSpliced(at + 1, 0, record as Draft[number]);
  }),
  broken('S1', 'an incarnation is said to have ended for another reason', (draft) =>
    changed('incarnation_ended', 'two ', (record) => {
      record.did = record.did.map(({ effect, detail }) => ({ effect, detail: `${detail}`.replace(/\S+$/, 'host') }));
    })(draft),
  ),
  broken('S1', 'an incarnation begins after its session was released', (draft) => {
    const at = placeOf(draft, 'session_failed', 'three ');
    const session = draft[at]?.did[0]?.detail?.split(' ')[1];
    const own = draft.filter(({ actor }) => actor === session);
    return [...draft.filter(({ actor }) => actor !== session), ...own];
  }),
  broken(
    'S1',
    'a session is said to be given up for another reason',
    changed('session_failed', '', (record) => {
      record.did = record.did.map(({ effect, detail }) => ({
        effect,
        detail: `${detail}`.replace(/\S+$/, 'overflow'),
      }));
    }),
  ),
  broken('S4', 'nobody is told of a restart', (draft) =>
    draft.toSpliced(placeOf(draft, 'incarnation_connected', 'one '), 1),
  ),
  broken('S4', 'a restart is told twice', (draft) => {
    const at = placeOf(draft, 'incarnation_connected', 'one ');
    return draft.toSpliced(at, 0, structuredClone(draft[at] as Draft[number]));
  }),
  broken('S4', 'a restart is told before it has connected', (draft) => {
    const at = placeOf(draft, 'incarnation_connected', 'one ');
    const [record] = draft.splice(at, 1);
    return draft.toSpliced(at - 1, 0, record as Draft[number]);
  }),
  broken('S4', 'a restart is told after the first event of its incarnation', (draft) => {
    const at = placeOf(draft, 'incarnation_connected', 'one ');
    const session = draft[at]?.did[0]?.detail?.split(' ')[1] ?? '';
    const first = draft.findIndex(({ actor }, n) => n > at && actor.startsWith(session));
    const next = draft.findIndex(({ kind }, n) => n > first && kind === 'session');
    const [record] = draft.splice(at, 1);
    return draft.toSpliced(next - 1, 0, record as Draft[number]);
  }),
  broken('structure', 'the supervisor does not say its limits', limit('maxConversations', 'many')),
  broken(
    'structure',
    'a restart is told, and not whether the far side resumes',
    changed('incarnation_connected', 'one ', (record) => {
      record.did = record.did.map(({ effect, detail }) => ({ effect, detail: `${detail}`.replace(/\S+$/, 'maybe') }));
    }),
  ),
  broken('S11', 'more sessions live than may', limit('maxSessions', '2')),
  broken('S11', 'more conversations live than may', limit('maxConversations', '0')),
  broken('S12', 'the sessions share a pool of another size', limit('maxConcurrentTools', '7')),
];
