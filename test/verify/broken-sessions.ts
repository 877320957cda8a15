/** Journals of sessions that break an invariant, each in one place. */
import type { JournalRecord, RecordedOccurrence, SessionBegan } from '../../src/contract/journal.js';
import type { FindingOf } from '../../src/verify/index.js';
import { ComposedSession, Pages, rules } from './composed.js';
import { changed, type Draft, draftOf, renumbered, withEffect, without, withoutEffect, withRecord } from './edits.js';

/** A journal, and what is wrong with it. */
export interface BrokenJournal {
  readonly invariant: FindingOf;
  readonly title: string;
  readonly records: readonly JournalRecord[];
}

type Tell = (session: ComposedSession) => void;

function broken(
  invariant: FindingOf,
  title: string,
  tell: Tell,
  spoil: (draft: Draft) => Draft,
  began: Partial<SessionBegan> = {},
): BrokenJournal {
  const pages = new Pages();
  tell(new ComposedSession(pages, 'ses_one', { ...rules, ...began }).happens('connected'));
  return { invariant, title, records: renumbered(spoil(draftOf(pages.records))) };
}

const runs: Tell = (session) => session.calls('a').call('a', 'input_accepted');
const waits: Tell = (session) => session.calls('a').call('a', 'approval_required');
const publishes: Tell = (session) => session.calls('a').call('a', 'input_accepted', 'code_resolved');
const completes: Tell = (session) => {
  publishes(session);
  session.call('a', 'publish_accepted');
};
const isRefused: Tell = (session) => session.calls('a').call('a', 'input_refused', 'publish_accepted');
const isClosed: Tell = (session) => session.happens('host_close').happens('close_settled');
const both =
  (...tellings: readonly Tell[]): Tell =>
  (session) => {
    for (const tell of tellings) tell(session);
    session.happens('turn_complete');
  };
const thenClosed =
  (tell: Tell): Tell =>
  (session) => {
    tell(session);
    isClosed(session);
  };
const interrupted: Tell = (session) => session.happens('interrupted');

/** The record says so of the far side's call. */
function candidate(changes: Partial<NonNullable<RecordedOccurrence['candidate']>>): (draft: Draft) => Draft {
  return changed(['session', 'tool_call'], (record) => {
    const { occurrence } = record.data as { occurrence: RecordedOccurrence };
    record.data = { occurrence: { ...occurrence, candidate: { ...occurrence.candidate, ...changes } as never } };
  });
}

/** The record says that the host's buffer took so many reports. */
function room(event: string, takes: number | undefined): (draft: Draft) => Draft {
  return changed(['session', event], (record) => {
    const occurrence = record.data !== undefined && 'occurrence' in record.data ? record.data.occurrence : {};
    const { room: _, ...others } = occurrence;
    record.data = { occurrence: takes === undefined ? others : { ...others, room: takes } };
  });
}

/** The session says that it lives by other rules. */
function rule(changes: Partial<SessionBegan>): (draft: Draft) => Draft {
  return changed(['session', ''], (record) => {
    record.data = { session: { ...(record.data as { session: SessionBegan }).session, ...changes } };
  });
}

const a = 'ses_one/a';

/** At least one for each invariant of sessions that a journal shows. */
export const brokenSessions: readonly BrokenJournal[] = [
  broken('D1', 'a call is left without an outcome', thenClosed(waits), without(['a', 'session_ended'])),
  broken(
    'D1',
    'a call leaves its outcome',
    both(completes),
    withRecord(['a', 'publish_accepted'], { actor: a, event: 'publish_rejected', from: 'completed', to: 'rejected' }),
  ),
  broken(
    'D1',
    'an outcome is reported twice',
    both(completes),
    withEffect(['a', 'publish_accepted'], 'reportCompleted'),
  ),
  broken(
    'D1',
    'an outcome is not reported',
    both(completes),
    withoutEffect(['a', 'publish_accepted'], 'reportCompleted'),
  ),
  broken('D2', 'a result is published twice', both(publishes), withEffect(['a', 'code_resolved'], 'publish')),
  broken(
    'D2',
    'code is executed after the abandonment',
    both(runs, interrupted),
    withRecord(['a', 'interrupted'], {
      actor: a,
      event: 'placed',
      from: 'abandoned.draining',
      to: 'abandoned.draining',
      did: ['execute'],
    }),
  ),
  broken(
    'D2',
    'a result is published after a local close began',
    (session) => {
      runs(session);
      session.happens('host_close');
      session.happens('close_settled');
    },
    (draft) => {
      const spoiled = changed(['a', 'session_ended'], (record) => {
        record.event = 'code_resolved';
        record.to = 'publishing';
        record.did = [{ effect: 'publish' }];
      })(draft);
      const settles: Draft[number] = {
        ...(draft.at(-1) as Draft[number]),
        seq: 999,
        actor: a,
        kind: 'call',
        event: 'session_ended',
        from: 'publishing',
        to: 'unconfirmed',
        cause: 0,
        did: [],
      };
      const group = spoiled.find(({ event }) => event === 'host_close')?.seq ?? 0;
      return spoiled.toSpliced(spoiled.length - 1, 0, { ...settles, cause: group });
    },
  ),
  broken('D3', 'an interruption passes a call over', both(waits, interrupted), without(['a', 'interrupted'])),
  broken(
    'D3',
    'an interruption abandons a call of policy deliver',
    both(runs, interrupted),
    candidate({ policy: 'deliver' }),
  ),
  broken(
    'D3',
    'a call is abandoned without an interruption',
    both(waits, (session) => session.withdraws(['a'])),
    changed(['session', 'tool_call_cancelled'], (record) => {
      record.data = { occurrence: { ids: ['b'] } };
    }),
  ),
  broken(
    'D3',
    'the host is not told of an abandonment',
    both(waits, interrupted),
    withoutEffect(['a', 'interrupted'], 'reportAbandoned'),
  ),
  broken(
    'D4',
    'an interruption abandons a call that is publishing',
    both(publishes, interrupted),
    withRecord(
      ['session', 'interrupted'],
      {
        actor: a,
        event: 'interrupted',
        from: 'publishing',
        to: 'abandoned.settled',
        did: ['reportAbandoned', 'stub'],
      },
      true,
    ),
  ),
  broken(
    'D4',
    'an accepted result makes a call unconfirmed',
    both(completes),
    changed(['a', 'publish_accepted'], (record) => {
      record.to = 'unconfirmed';
      record.did = [{ effect: 'disarmPublishTimeout' }, { effect: 'reportUnconfirmed' }];
    }),
  ),
  broken(
    'D5',
    'an interruption aborts a signal under policy abandon',
    both(runs, interrupted),
    withEffect(['a', 'interrupted'], 'abortSignal', 'interruption'),
  ),
  broken(
    'D5',
    'a withdrawal leaves the signal alone',
    both(runs, (session) => session.withdraws(['a'])),
    withoutEffect(['a', 'withdrawn'], 'abortSignal'),
  ),
  broken('D5', 'the end leaves code running', thenClosed(runs), withoutEffect(['a', 'session_ended'], 'abortSignal')),
  broken(
    'D5',
    'the end leaves draining code running',
    thenClosed(both(runs, interrupted)),
    without(['a', 'session_ended']),
  ),
  broken(
    'D5',
    'the signal of settled code is aborted',
    thenClosed(publishes),
    withEffect(['a', 'session_ended'], 'abortSignal', 'session_end'),
  ),
  broken(
    'D6',
    'turn_complete completes a call',
    both(publishes),
    withRecord(
      ['session', 'turn_complete'],
      { actor: a, event: 'publish_accepted', from: 'publishing', to: 'completed', did: ['reportCompleted'] },
      true,
    ),
  ),
  broken(
    'D6',
    'turn_complete leaves the session responding',
    (session) => session.happens('text').happens('turn_complete').happens('error'),
    (draft) =>
      changed(['session', 'error'], (record) => {
        record.from = 'open.responding';
        record.to = 'open.responding';
      })(
        changed(['session', 'turn_complete'], (record) => {
          record.to = 'open.responding';
        })(draft),
      ),
  ),
  broken(
    'D7',
    'an event of the far side is lost',
    (session) => session.happens('error').happens('turn_complete'),
    withoutEffect(['session', 'error'], 'deliver'),
  ),
  broken(
    'D7',
    'an event of the far side is delivered twice',
    (session) => session.happens('error').happens('turn_complete'),
    withEffect(['session', 'error'], 'deliver'),
  ),
  broken(
    'D7',
    'a piece of text is lost',
    (session) => session.happens('text').happens('turn_complete'),
    changed(['session', 'turn_complete'], (record) => {
      record.passed = { text: [3, 2], audio: [0, 0] };
    }),
  ),
  broken(
    'D7',
    'an event is dropped, and there is room',
    (session) => session.happens('error', 0).happens('close_settled'),
    room('overflow', 3),
  ),
  broken(
    'D7',
    'unread audio goes and is not counted',
    (session) => session.happens('interrupted', 2, 3).happens('turn_complete'),
    withoutEffect(['session', 'interrupted'], 'dropUnreadAudio'),
    { dropUnreadAudio: true },
  ),
  broken(
    'D7',
    'a stream that fails is not told of',
    (session) => session.happens('stream_failed').happens('close_settled'),
    withoutEffect(['session', 'stream_failed'], 'reportEnd'),
  ),
  broken(
    'D9',
    'an event is delivered after the close began',
    isClosed,
    withRecord(['session', 'host_close'], {
      actor: 'ses_one',
      event: 'error',
      from: 'closing',
      to: 'closing',
      did: ['deliver'],
    }),
  ),
  broken(
    'D9',
    'the host’s send is passed on after the close began',
    (session) => session.happens('host_close').acts({ type: 'send' }).happens('close_settled'),
    changed(['session', 'host_act'], (record) => {
      record.did = [{ effect: 'performAct' }];
    }),
  ),
  broken(
    'D9',
    'a session goes on after it was closed',
    isClosed,
    withRecord(['session', 'close_settled'], {
      actor: 'ses_one',
      event: 'turn_complete',
      from: 'open.waiting',
      to: 'open.waiting',
      did: ['deliver'],
    }),
  ),
  broken('D10', 'the driver is closed twice', isClosed, withEffect(['session', 'close_settled'], 'closeDriver')),
  broken('D10', 'the driver is not closed', isClosed, withoutEffect(['session', 'host_close'], 'closeDriver')),
  broken(
    'D10',
    'the driver is closed though the far side closed',
    (session) => session.happens('closed'),
    withEffect(['session', 'closed'], 'closeDriver'),
  ),
  broken(
    'D11',
    'closed resolves twice',
    thenClosed((session) => session.happens('turn_complete')),
    withEffect(['session', 'close_settled'], 'resolveClosed'),
  ),
  broken('D11', 'closed does not resolve', isClosed, withoutEffect(['session', 'close_settled'], 'resolveClosed')),
  broken('D11', 'a close has no bound', isClosed, withoutEffect(['session', 'host_close'], 'armCloseTimeout')),
  broken(
    'D12',
    'refused input reaches a tool',
    both(runs),
    changed(['a', 'input_accepted'], (record) => {
      record.event = 'approved';
    }),
  ),
  broken(
    'D12',
    'the result of a refused call is no error',
    both(isRefused),
    changed(['a', 'input_refused'], (record) => {
      record.did = record.did.map(({ effect }) => ({ effect }));
    }),
  ),
  broken(
    'D13',
    'a repeated id is admitted',
    both(waits, (session) => session.calls('b')),
    (draft) =>
      draft.map((record) => {
        const again = JSON.parse(JSON.stringify(record).replaceAll('"id":"b"', '"id":"a"')) as Draft[number];
        return record.actor === 'ses_one/b' ? { ...again, actor: a } : again;
      }),
  ),
  broken(
    'D13',
    'a new id counts as repeated',
    (session) => session.calls('a').calls('a').happens('close_settled'),
    changed(['session', 'repeated_call'], (record) => {
      const { occurrence } = record.data as { occurrence: RecordedOccurrence };
      record.data = { occurrence: { ...occurrence, candidate: { ...occurrence.candidate, id: 'b' } as never } };
    }),
  ),
  broken(
    'D15',
    'an event is put into a full buffer',
    (session) => session.happens('error').happens('turn_complete'),
    room('error', 0),
  ),
  broken(
    'D15',
    'more calls are open than may be',
    both(waits, (session) => session.calls('b').call('b', 'approval_required')),
    rule({ maxOpenCalls: 1 }),
  ),
  broken(
    'D15',
    'more refused calls wait for the far side than may',
    (session) => {
      waits(session);
      session.calls('b').calls('c').call('b', 'input_refused').call('c', 'input_refused').happens('turn_complete');
    },
    rule({ maxOpenCalls: 1 }),
  ),
  broken('D16', 'an abandoned call has no stub', both(waits, interrupted), withoutEffect(['a', 'interrupted'], 'stub')),
  broken('D16', 'an abandoned call has two stubs', both(waits, interrupted), withEffect(['a', 'interrupted'], 'stub')),
  broken(
    'D16',
    'a withdrawn call has a stub',
    both(waits, (session) => session.withdraws(['a'])),
    withEffect(['a', 'withdrawn'], 'stub'),
  ),
  broken('T7', 'code starts before its record is durable', both(runs), candidate({ writeStart: true })),
  broken(
    'T7',
    'a result is published before its record is durable',
    both(publishes),
    candidate({ writePublish: true }),
  ),
  broken(
    'T8',
    'nobody is told of late code',
    both(runs, interrupted, (session) => session.call('a', 'code_resolved')),
    withoutEffect(['a', 'code_resolved'], 'tellLate'),
  ),
  broken(
    'T8',
    'somebody is told of what was published',
    both(publishes),
    withEffect(['a', 'code_resolved'], 'tellLate'),
  ),
  broken(
    'K2',
    'more calls hold a place than there are',
    both(runs, (session) => session.calls('b').call('b', 'input_accepted')),
    rule({ maxConcurrentTools: 1 }),
  ),
  broken(
    'structure',
    'a record says that another one led to it, which did not',
    both(waits, (session) => session.acts({ type: 'deny', id: 'a' })),
    changed(['a', 'denied'], (record) => {
      record.cause = 1;
    }),
  ),
  broken(
    'structure',
    'a record says that a call stood elsewhere',
    both(waits),
    changed(['a', 'approval_required'], (record) => {
      record.from = 'queued';
    }),
  ),
  broken(
    'divergent',
    'calls are abandoned in another order',
    both(waits, (session) => session.calls('b').call('b', 'approval_required'), interrupted),
    (draft) => {
      const at = draft.findIndex(({ actor, event }) => actor === a && event === 'interrupted');
      const [first, second] = [draft[at], draft[at + 1]] as [Draft[number], Draft[number]];
      return draft.toSpliced(at, 2, second, first);
    },
  ),
];
