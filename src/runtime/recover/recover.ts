/**
 * Reads the journal of a run that is gone, and says what became of it.
 *
 * Invariants kept here:
 *
 * Y1. Nothing is run but notices to `onLate`, and these only when the whole
 *     journal was read and the records of the recovery are durable.
 * Y2. One recovery of a journal at a time: a second one waits, and finds what
 *     the first has left.
 */
import { machinesVersion } from '../../../machines/index.js';
import type { Clock } from '../../contract/clock.js';
import type { Journal } from '../../contract/journal.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { Tool } from '../../contract/tool.js';
import { assertMilliseconds } from '../options.js';
import { Ledger } from './ledger.js';
import { DueNotice, giveAll } from './notices.js';
import type { NoticeFailure, RecoveredCall, RecoveredSession, RecoverOptions, Recovery } from './recovery.js';
import type { RememberedCall } from './remembered-call.js';
import { RememberedConversations } from './remembered-conversations.js';
import type { RememberedSession } from './remembered-session.js';

/**
 * Says what became of the sessions, calls and conversations of a journal whose writer is gone, tells `onLate` of code that nobody
 * can say the end of, and marks the sessions as recovered. Call it before anything else writes to the journal: a session that lives
 * would be taken for one that is gone. No tool is run.
 *
 * Rejects with a `JournalDamagedError` or a `JournalFormatError` where the journal cannot be trusted: nothing was told, nothing
 * written; keep the file. Rejects with a `TypeError` or a `RangeError` for an option that is none. Where the journal can be read and
 * not written, it gives what it found, with `failure`.
 */
export async function recover(journal: Journal, options: RecoverOptions): Promise<Recovery> {
  const settings = settingsOf(journal, options);
  const before = underWay.get(journal);
  const recovery =
    before === undefined ? recoverNow(journal, settings) : before.then(() => recoverNow(journal, settings));
  // whoever comes next waits, however this one ends
  underWay.set(
    journal,
    recovery.then(
      () => {},
      () => {},
    ),
  );
  return recovery;
}

const underWay = new WeakMap<Journal, Promise<void>>();

interface Settings {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly calls: 'unfinished' | 'new' | 'all';
  readonly conversations: boolean;
  readonly at: number | undefined;
  readonly clock: Clock;
  readonly noticeTimeoutMs: number;
}

function settingsOf(journal: Journal, options: RecoverOptions): Settings {
  if (typeof journal?.read !== 'function') throw new TypeError('journal: expected an object with a method `read`');
  if (typeof options !== 'object' || options === null) throw new TypeError('options: expected an object with `tools`');
  const { calls = 'unfinished', conversations = true, at, clock = platformClock, noticeTimeoutMs = 5_000 } = options;
  if (!Array.isArray(options.tools)) throw new TypeError('tools: expected a list of tools made by `defineTool`');
  const tools = new Map<string, Tool>();
  for (const tool of options.tools as readonly Tool[]) {
    if (typeof tool?.validate !== 'function') throw new TypeError('tools: expected tools made by `defineTool`');
    if (tools.has(tool.name)) throw new TypeError(`tools: two tools have the name ${tool.name}`);
    tools.set(tool.name, tool);
  }
  if (calls !== 'unfinished' && calls !== 'new' && calls !== 'all') {
    throw new TypeError(`calls: expected one of unfinished, new, all, found ${String(calls)}`);
  }
  if (typeof conversations !== 'boolean') throw new TypeError('conversations: expected a boolean');
  if (at !== undefined && !Number.isFinite(at)) throw new RangeError(`at: expected a number, found ${String(at)}`);
  assertMilliseconds('noticeTimeoutMs', noticeTimeoutMs);
  return { tools, calls, conversations, at, clock, noticeTimeoutMs };
}

async function recoverNow(journal: Journal, settings: Settings): Promise<Recovery> {
  const ledger = new Ledger(settings.calls === 'all');
  const remembered = new RememberedConversations();
  for await (const record of journal.read()) {
    ledger.take(record);
    if (settings.conversations) remembered.take(record);
  }
  ledger.end();
  const conversations = remembered.recovered();
  // before anything of this recovery changes it
  const listed = listedOf(ledger.sessions, settings.calls);
  const due = dueOf(ledger.sessions, settings.tools);
  const counts = ledger.count();
  const failure = await write(journal, ledger.sessions, due, settings);
  if (failure === undefined) await giveAll(due, settings.clock, settings.noticeTimeoutMs);
  return { ...reportOf(listed, due), conversations, openTransactions: [], counts, ...failure };
}

// ── what is found ──

interface Listed {
  readonly session: RememberedSession;
  readonly calls: readonly RememberedCall[];
}

function listedOf(sessions: readonly RememberedSession[], which: Settings['calls']): readonly Listed[] {
  const listed: Listed[] = [];
  for (const session of sessions) {
    const isNew = !session.hasEnded && !session.wasFound;
    const isListed = which === 'all' || (which === 'new' ? isNew : !session.hasEnded);
    const calls = [...session.calls.values()].filter(
      (call) => isListed || (which === 'new' ? call.isNoticeDue : call.isUnaccountedFor),
    );
    if (isListed || calls.length > 0) listed.push({ session, calls });
  }
  return listed;
}

function dueOf(sessions: readonly RememberedSession[], tools: ReadonlyMap<string, Tool>): readonly DueNotice[] {
  const due: DueNotice[] = [];
  for (const session of sessions) {
    if (session.isSuperseded) continue;
    for (const call of session.calls.values()) {
      const tool = tools.get(call.name);
      if (tool !== undefined && call.isNoticeDue) due.push(new DueNotice(session, call, tool));
    }
  }
  return due;
}

// ── what is written ──

/** Appends the records of the recovery and makes them durable. Gives what kept it from that. */
async function write(
  journal: Journal,
  sessions: readonly RememberedSession[],
  due: readonly DueNotice[],
  { at: given, clock }: Settings,
): Promise<{ readonly failure: unknown } | undefined> {
  const found = sessions.filter(({ hasEnded, wasFound, isSuperseded }) => !(hasEnded || wasFound || isSuperseded));
  if (found.length + due.length === 0) return undefined;
  const at = given ?? clock.now();
  try {
    for (const { id, state } of found) {
      const data = { recovery: { machines: machinesVersion } };
      const stood = { event: 'recovered', from: state, to: state, cause: 0, did: [], data };
      journal.append({ at, actor: id, kind: 'session', ...stood });
    }
    for (const notice of due) journal.append(notice.entry(at));
    await journal.flush();
    return undefined;
  } catch (failure) {
    return { failure };
  }
}

// ── what is told ──

function reportOf(
  listed: readonly Listed[],
  due: readonly DueNotice[],
): Pick<Recovery, 'sessions' | 'calls' | 'failures'> {
  const noticeOf = new Map(due.map((notice) => [notice.call, notice]));
  const sessions: RecoveredSession[] = [];
  const calls: RecoveredCall[] = [];
  const failures: NoticeFailure[] = [];
  for (const { session, calls: ofSession } of listed) {
    const reports: RecoveredCall[] = [];
    for (const call of ofSession) {
      const notice = noticeOf.get(call);
      const report = callReport(session, call, notice);
      reports.push(report);
      calls.push(report);
      if (notice?.notice === 'failed') failures.push({ call: report, error: notice.error });
    }
    sessions.push(sessionReport(session, reports));
  }
  return { sessions, calls, failures };
}

function callReport({ id: sessionId, began }: RememberedSession, call: RememberedCall, due?: DueNotice): RecoveredCall {
  const { id, name, effect, outcome, code, state } = call;
  const notice = due?.notice ?? standingNotice(call);
  const report = { id, name, sessionId, turnId: began.turnId, effect, outcome, code, state, notice } as RecoveredCall;
  const args = call.arguments;
  return args === undefined ? report : { ...report, arguments: args };
}

/** What became of the notice, where it is not given now. */
function standingNotice(call: RememberedCall): RecoveredCall['notice'] {
  if (call.isNoticeDue) return 'pending';
  if (call.toldBy === 'the_run') return 'by_the_run';
  return call.toldBy === 'a_recovery' ? 'earlier' : 'none';
}

function sessionReport(session: RememberedSession, calls: readonly RecoveredCall[]): RecoveredSession {
  const { id, began, state, reason, wasFound } = session;
  const { turnId, provider } = began;
  const report = { id, turnId, provider, state, foundBefore: wasFound, calls } as RecoveredSession;
  return reason === undefined ? report : { ...report, reason };
}
