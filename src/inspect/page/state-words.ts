/** What a state means, for people who have not read the tables. */
import type { ActorKind } from '../../contract/journal.js';

const meanings: Readonly<Record<ActorKind, Readonly<Record<string, string>>>> = {
  call: {
    admitted: 'Its input is being checked.',
    awaiting_approval: 'It waits for the host to approve or deny it.',
    queued: 'It waits for a place.',
    starting: 'It waits for the journal, then its code starts.',
    executing: 'Its code runs.',
    committing: 'It waits for the journal, then its result is sent.',
    publishing: 'Its result was sent: it is past its commit point. The far side has not answered yet.',
    completed: 'It passed its commit point, and the far side accepted its result.',
    rejected: 'The far side refused its result.',
    unconfirmed: 'Its result was sent, and no answer came in time.',
    abandoned: 'It was interrupted or withdrawn before its commit point.',
    'abandoned.draining': 'It was interrupted or withdrawn before its commit point. Its code runs on, unheard.',
    'abandoned.settled': 'It was interrupted or withdrawn before its commit point. No code of it runs.',
    cancelled: 'The session ended before its commit point.',
  },
  session: {
    connecting: 'The driver connects.',
    'open.waiting': 'It is connected; nobody speaks.',
    'open.responding': 'The far side is in the middle of a stretch of output.',
    closing: 'It has begun to end: every open call is decided, nothing passes any more.',
    closed: 'It has ended.',
  },
  transaction: {
    'open.sound': 'What is done in it is provisional: shown, and still to be taken back.',
    'open.doomed': 'An action in it failed: its commit is a rollback, unless a policy says otherwise.',
    committed: 'What was done in it stands.',
    rolled_back: 'What stood at its begin has been put back.',
  },
  conversation: {
    awaiting_init: 'It waits for a request to begin.',
    streaming: 'The server says what it does about a request.',
    finished: 'The last request ended as it should.',
    failed: 'The last request failed.',
    truncated: 'The stream broke off before the request had ended.',
    cancelled: 'The host cancelled the last request.',
  },
  supervisor: {},
};

/** A sentence about a state; empty where there is none. */
export function meaningOf(kind: ActorKind, state: string): string {
  return meanings[kind][state] ?? meanings[kind][state.split('.')[0] as string] ?? '';
}

/** What a reason is a reason for, as a heading. */
export function headingOf(kind: ActorKind, state: string): string {
  if (kind === 'call' && state.startsWith('abandoned')) return 'Why it was abandoned';
  if (kind === 'call' && state === 'cancelled') return 'Why it was cancelled';
  if (kind === 'transaction' && state === 'rolled_back') return 'Why it was rolled back';
  if (kind === 'session' && (state === 'closing' || state === 'closed')) return 'Why it ended';
  return 'Why';
}
