/** A call's steps in words: who speaks with whom, and why it ends as it does. */
import type { Arrow, Lane } from './frames.js';
import { asked, type CallFacts, type Move } from './move.js';

const events: Readonly<Record<string, { readonly from: 'far side' | 'session' | 'host'; readonly text: string }>> = {
  approval_required: { from: 'session', text: 'needs approval' },
  input_refused: { from: 'session', text: 'refused' },
  approved: { from: 'host', text: 'approved' },
  denied: { from: 'host', text: 'denied' },
  placed: { from: 'session', text: 'gets a place' },
  code_resolved: { from: 'host', text: 'its code ends' },
  code_rejected: { from: 'host', text: 'its code throws' },
  publish_accepted: { from: 'far side', text: 'result accepted' },
  publish_rejected: { from: 'far side', text: 'result refused' },
  interrupted: { from: 'session', text: 'interrupted' },
  withdrawn: { from: 'session', text: 'withdrawn' },
  session_ended: { from: 'session', text: 'the session ends' },
};

const effects: Readonly<Record<string, { readonly to: 'far side' | 'host'; readonly text: string }>> = {
  reportStarted: { to: 'host', text: 'tool_started' },
  requestApproval: { to: 'host', text: 'approve?' },
  execute: { to: 'host', text: 'its code starts' },
  publish: { to: 'far side', text: 'result (commit point)' },
  reportCompleted: { to: 'host', text: 'tool_completed' },
  reportRejected: { to: 'host', text: 'error: the result was refused' },
  reportUnconfirmed: { to: 'host', text: 'error: no answer to the result' },
  reportAbandoned: { to: 'host', text: 'tool_abandoned' },
  stub: { to: 'far side', text: 'no answer will come' },
  tellLate: { to: 'host', text: 'onLate' },
};

export function arrowsOfCall({ actor, event, did }: Move, facts: CallFacts | undefined): Arrow[] {
  const lane: Lane = `actor:${actor}`;
  const arrows: Arrow[] = [];
  const begun = events[event];
  if (event === '') arrows.push({ from: 'session', to: lane, text: facts?.name ?? 'call' });
  else if (begun !== undefined) arrows.push({ from: begun.from, to: lane, text: begun.text });
  for (const { effect, detail } of did) {
    const known = effects[effect];
    if (known !== undefined) {
      const text = detail === 'error' ? `${known.text}, an error` : known.text;
      arrows.push({ from: lane, to: known.to, text });
    } else if (effect === 'abortSignal')
      arrows.push({ from: lane, to: 'host', text: `its signal is aborted (${detail ?? 'end'})` });
  }
  return arrows;
}

/**
 * Why a call did what it did, where that is not plain.
 *
 * @param end why its session ended, where it has
 */
export function whyOfCall(move: Move, facts: CallFacts | undefined, end: string | undefined): string | undefined {
  const { event, from, to } = move;
  if (from === to) return whyOfLate(move);
  if (to === 'abandoned.draining' || to === 'abandoned.settled') {
    return from.startsWith('abandoned') ? whyOfLate(move) : whyAbandoned(move, facts?.policy);
  }
  if (to === 'cancelled')
    return `the session ended before its commit point (${end ?? 'for a reason of its own'}): ${codeThen(move)}`;
  if (to === 'unconfirmed') {
    const missing =
      event === 'session_ended' ? `the session ended (${end ?? 'for a reason of its own'})` : 'time ran out';
    return `it had passed its commit point, and ${missing} before the far side answered: whether the result was taken is not known`;
  }
  if (to === 'rejected') return 'the far side refused its result';
  switch (event) {
    case 'input_refused':
      return 'its arguments, its tool or a limit refuse it: it is answered with an error, and its code never starts';
    case 'denied':
      return 'the host denied it: it is answered with an error, and its code never starts';
    case 'timed_out':
      return from === 'executing'
        ? 'its code took longer than it may: it is answered with an error, and its signal is aborted'
        : 'its arguments took too long to check: it is answered with an error';
    case 'code_rejected':
      return 'its code threw: it is answered with an error';
    case 'approval_required':
      return 'its tool needs approval: it waits for the host';
    case 'recovered':
      return 'found by a recovery: its process is gone';
  }
  if (to === 'starting') return 'its start is written down first';
  if (to === 'committing') return 'its result is written down before it is sent';
  return undefined;
}

function whyAbandoned(move: Move, policy: CallFacts['policy']): string {
  const { event } = move;
  if (event === 'withdrawn') return `taken back by the far side before its commit point: ${codeThen(move)}`;
  const by = 'interrupted by the user before its commit point';
  const under = policy === undefined ? '' : `; its policy is ${policy}`;
  return `${by}${under}: ${codeThen(move)}`;
}

/** What becomes of the code of a call that is decided before its commit point. */
function codeThen(move: Move): string {
  const { from, to } = move;
  if (from === 'executing') {
    return asked(move, 'abortSignal')
      ? 'its signal is aborted, and what its code still gives is sent to nobody'
      : 'its code runs on, unheard, and what it gives is sent to nobody';
  }
  if (from === 'committing') {
    if (to === 'abandoned.draining') return 'its code, whose time had run out, runs on, unheard';
    return 'its result is sent to nobody';
  }
  return 'its code had not started, and never will';
}

/** Of code that settles after its call was decided. */
function whyOfLate(move: Move): string | undefined {
  const { event } = move;
  if (event === 'recovered') return 'found by a recovery: its process is gone';
  if (event !== 'code_resolved' && event !== 'code_rejected') return undefined;
  const told = asked(move, 'tellLate') ? 'nobody but onLate of its tool is told' : 'nobody is told';
  return `its code ended after the call was decided: ${told}`;
}
