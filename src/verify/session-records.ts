/** Records of a session, as the judge looks at them. */
import type { JournalRecord, RecordedOccurrence } from '../contract/journal.js';
import type { SessionGroup, Step } from './invariants/index.js';
import type { RecordGroup } from './record-groups.js';

const nothingSaid: RecordedOccurrence = Object.freeze({});

/** What a record says of what happened from outside. */
export function occurrenceIn({ data }: JournalRecord): RecordedOccurrence {
  return data !== undefined && 'occurrence' in data ? data.occurrence : nothingSaid;
}

/** The call of a record; `undefined` for the session's own. */
export function callOf({ kind, actor }: JournalRecord, session: string): string | undefined {
  return kind === 'call' ? actor.slice(session.length + 1) : undefined;
}

/** A group of records as a group of steps. */
export function sessionGroupOf({ owner, records }: RecordGroup): SessionGroup {
  const first = records[0] as JournalRecord;
  const { type, call, candidate, ids, room, unreadAudio, places } = occurrenceIn(first);
  const steps: Step[] = [];
  for (const record of records) {
    const { event, from, to, did } = record;
    steps.push({ call: callOf(record, owner), event, from, to, did });
  }
  return {
    type: type ?? first.event,
    call: call ?? steps[0]?.call,
    candidate,
    ids,
    room: room ?? Number.POSITIVE_INFINITY,
    unreadAudio: unreadAudio ?? 0,
    places: places ?? Number.POSITIVE_INFINITY,
    passed: first.passed,
    steps,
  };
}
