/** What can happen in a world: the driver answers what it was asked, code that runs settles, a limit that is armed runs out. */
import { callStateOf } from '../../../../machines/index.js';
import type { SessionBounds } from './bounds.js';
import type { Happening } from './happening.js';
import type { CallPart, World } from './world.js';

/** Whether this can happen now. */
export function isPossible({ session, calls }: World, happening: Happening, bounds: SessionBounds): boolean {
  switch (happening.of) {
    case 'connect':
      return session.connecting;
    case 'close':
      return session.closing;
    case 'flush':
      return session.flushes.length > 0;
    case 'far':
    case 'stream':
      return session.reading;
    case 'tool_call':
      return session.reading && calls.length < bounds.calls;
    case 'repeat':
      return session.reading && happening.call < calls.length;
    case 'withdraw':
      return session.reading && isWorthWithdrawing(calls, happening.calls, bounds);
    case 'journal_fails':
      return session.snapshot.value === 'connecting' || typeof session.snapshot.value !== 'string';
    case 'lent':
      return typeof session.snapshot.value !== 'string' && session.lent !== happening.places;
    case 'validated':
      return isAwaited(calls[happening.call]);
    case 'code':
      return calls[happening.call]?.code === 'runs';
    case 'publish':
      return calls[happening.call]?.unanswered === true;
    case 'timeout':
      return canRunOut(session, calls, happening);
    case 'approve':
    case 'deny':
      return isWorthDeciding(calls[happening.call], happening.of, bounds);
    case 'host':
      return canAct(session, happening.act);
  }
}

/** Those of one session that are not released, or, where stray acts are wanted, one call alone whatever became of it. */
function isWorthWithdrawing(calls: World['calls'], withdrawn: readonly number[], { host }: SessionBounds): boolean {
  if (withdrawn.length < 2 && host.has('stray')) {
    const [only] = withdrawn;
    return only === undefined || only < calls.length;
  }
  if (withdrawn.length === 0) return false;
  for (const call of withdrawn) if (calls[call]?.released !== false) return false;
  return true;
}

/** Good input of a call that was decided meanwhile interests nobody. */
function isAwaited(call: CallPart | undefined): boolean {
  if (call?.validating !== true) return false;
  return call.verdict === 'refused' || callStateOf(call.snapshot) === 'admitted';
}

function isWorthDeciding(call: CallPart | undefined, act: 'approve' | 'deny', { host }: SessionBounds): boolean {
  if (call === undefined) return false;
  // of calls that do not wait both are refused alike
  return callStateOf(call.snapshot) === 'awaiting_approval' || (act === 'approve' && host.has('stray'));
}

/** Limits that are alike run out in the order in which they were armed. */
function canRunOut(
  session: World['session'],
  calls: World['calls'],
  happening: Extract<Happening, { of: 'timeout' }>,
): boolean {
  switch (happening.what) {
    case 'connect':
      return session.connectTimer;
    case 'close':
      return session.closeTimer;
    case 'code':
      return calls[happening.call]?.timer === true;
    case 'publish':
      return session.unconfirmed[0] === happening.call;
  }
}

function canAct(session: World['session'], act: Extract<Happening, { of: 'host' }>['act']): boolean {
  const { status, value } = session.snapshot;
  switch (act) {
    case 'send':
      return true;
    case 'close':
      return status === 'active';
    case 'abort':
      return status === 'active' && !session.aborted;
    case 'pause':
      return typeof value !== 'string' && !session.paused;
    case 'resume':
      return session.paused;
  }
}
