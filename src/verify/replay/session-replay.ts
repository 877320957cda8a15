/**
 * A session, stepped again: what a journal says happened from outside goes
 * through the shipped coordination, and what the machines do is held against
 * what the records say.
 *
 * E1. The machines are given what the records say came from outside, and
 *     nothing else of them.
 * E2. Of the first difference everything is told; behind it nothing is
 *     compared, since the two have parted.
 */
import {
  type Asked,
  type BareCall,
  type CallEventType,
  type CallStateName,
  type Candidate,
  type Composition,
  callEvents,
  callStateOf,
  createComposition,
  type HostAct,
  type Move,
  type Occurrence,
  type SessionEventType,
  sessionEvents,
} from '../../../machines/index.js';
import type { JournalRecord, RecordedOccurrence, SessionBegan } from '../../contract/journal.js';
import type { RecordGroup } from '../record-groups.js';
import { callOf, occurrenceIn } from '../session-records.js';

/** Where a record and the machines part. */
export interface Divergence {
  readonly record: JournalRecord;
  readonly what: string;
}

/** Whether the group that a replay has just taken may be one that was cut off. `divergence`: what the replay gave. */
export function mayLackRecords(
  replay: { readonly hasParted: boolean; readonly isCutOff: boolean } | undefined,
  { records }: RecordGroup,
  divergence: Divergence | undefined,
): boolean {
  if (replay === undefined || replay.isCutOff) return true;
  // one that differs itself lacks nothing
  return replay.hasParted && !(divergence !== undefined && records.includes(divergence.record));
}

const nothing: readonly never[] = Object.freeze([]);
const isSessionEvent: ReadonlySet<string> = new Set(sessionEvents);
const isCallEvent: ReadonlySet<string> = new Set(callEvents);

export class SessionReplay {
  readonly composition: Composition;
  /** Calls that may still be given something: without an outcome, or with code that runs. */
  readonly #calls = new Map<string, BareCall>();
  readonly #running = new Set<string>();
  /** Calls whose result is known to be an error. */
  readonly #errors = new Set<string>();
  /** Something was different: nothing is compared any more. */
  hasParted = false;
  /** What the machines did that the last group has no records of. */
  pending: readonly Move<BareCall>[] = [];
  #missed: Divergence | undefined;

  constructor(rules: SessionBegan) {
    const { maxConcurrentTools, maxOpenCalls, dropUnreadAudio } = rules;
    this.composition = createComposition({ maxConcurrentTools, maxOpenCalls, dropUnreadAudio });
  }

  /** The last group lacks records: the machines do more. */
  get isCutOff(): boolean {
    return this.pending.length > 0;
  }

  /** Takes the step again. Gives where it differs, or what the group before lacks: the session goes on. */
  take({ records, owner }: RecordGroup): Divergence | undefined {
    if (this.hasParted) return undefined;
    const first = records[0] as JournalRecord;
    let divergence = this.#missed;
    this.#missed = undefined;
    this.pending = nothing;
    divergence ??= first.event === '' ? this.#begin(owner, records) : this.#step(owner, records, first);
    if (divergence !== undefined) this.hasParted = true;
    return divergence;
  }

  #begin(owner: string, records: readonly JournalRecord[]): Divergence | undefined {
    return this.#compare(owner, records, [this.composition.begin()]);
  }

  #step(owner: string, records: readonly JournalRecord[], first: JournalRecord): Divergence | undefined {
    this.#pass(first);
    const occurrence = this.#occurrence(owner, first);
    if (typeof occurrence === 'string') return { record: first, what: occurrence };
    const { room, unreadAudio, places } = occurrenceIn(first);
    this.#decide(occurrence);
    const moves = this.composition.take(occurrence, room ?? Number.POSITIVE_INFINITY, unreadAudio ?? 0, places);
    this.#remember(occurrence, moves);
    const divergence = this.#compare(owner, records, moves);
    this.#forget(moves);
    return divergence;
  }

  /** Output that went by has no record of its own; it may have changed the state. */
  #pass({ passed }: JournalRecord): void {
    if (passed === undefined || passed.text[0] + passed.audio[0] === 0) return;
    const { value } = this.composition.session;
    if (typeof value !== 'string' && value.open === 'waiting') {
      const type = passed.text[0] > 0 ? 'text' : 'audio';
      // a step that gave a call its place has records
      this.composition.take({ at: 'session', type }, Number.POSITIVE_INFINITY, 0, 0);
    }
  }

  /** What happened, for the coordination; a text where that cannot be made out. */
  #occurrence(owner: string, first: JournalRecord): Occurrence<BareCall> | string {
    const said = occurrenceIn(first);
    const type = said.type ?? first.event;
    const id = said.call ?? callOf(first, owner);
    if (id !== undefined) {
      if (!isCallEvent.has(type)) return `the machine of a call has no event ${JSON.stringify(type)}`;
      const call = this.#calls.get(id);
      if (call === undefined) return `the machines have no call ${JSON.stringify(id)} to which ${type} could happen`;
      return { at: 'call', type: type as CallEventType, call };
    }
    if (!isSessionEvent.has(type)) return `the machine of a session has no event ${JSON.stringify(type)}`;
    return sessionOccurrence(type as SessionEventType, said);
  }

  /** What a call is to be answered with may be decided by what happens to it. */
  #decide(occurrence: Occurrence<BareCall>): void {
    if (occurrence.at === 'call') {
      if (decidesAnError(callStateOf(occurrence.call.snapshot), occurrence.type)) this.#errors.add(occurrence.call.id);
    } else if (occurrence.type === 'host_act' && occurrence.act.type === 'deny') {
      const call = this.#calls.get(occurrence.act.id);
      if (call !== undefined && callStateOf(call.snapshot) === 'awaiting_approval') this.#errors.add(call.id);
    }
  }

  #remember(occurrence: Occurrence<BareCall>, moves: readonly Move<BareCall>[]): void {
    if (occurrence.at === 'call') {
      const { type, call } = occurrence;
      if (type === 'code_resolved' || type === 'code_rejected') this.#settled(call);
    }
    for (const { call, did } of moves) {
      if (call === undefined) continue;
      for (const { type } of did) if (type === 'execute') this.#running.add(call.id);
      if (this.#isOver(call)) this.#calls.delete(call.id);
      else this.#calls.set(call.id, call);
    }
  }

  /** What has its outcome is answered with nothing more. */
  #forget(moves: readonly Move<BareCall>[]): void {
    if (this.#errors.size === 0) return;
    for (const { call } of moves) if (call !== undefined && this.#isReleased(call)) this.#errors.delete(call.id);
  }

  #settled(call: BareCall): void {
    this.#running.delete(call.id);
    if (this.#isOver(call)) this.#calls.delete(call.id);
  }

  #isOver(call: BareCall): boolean {
    return !this.#running.has(call.id) && this.#isReleased(call);
  }

  #isReleased(call: BareCall): boolean {
    const known = this.composition.coordination.find(call.id);
    return known !== undefined && !('snapshot' in known);
  }

  #compare(owner: string, records: readonly JournalRecord[], moves: readonly Move<BareCall>[]): Divergence | undefined {
    let next = 0;
    for (const record of records) {
      // a move that does nothing may have a record or not
      let move = moves[next];
      while (move !== undefined && !saysSomething(move) && !isSame(move, record, owner, this.#errors)) {
        move = moves[++next];
      }
      next++;
      if (move === undefined) {
        return { record, what: `the machines do nothing more, and the record says that ${inRecord(record)}` };
      }
      if (isSame(move, record, owner, this.#errors)) continue;
      return { record, what: `by the machines ${inMove(move)}; the record says that ${inRecord(record)}` };
    }
    const missing = moves.slice(next).filter(saysSomething);
    this.pending = missing;
    const [first] = missing;
    if (first === undefined) return undefined;
    const what = `by the machines ${inMove(first)} then, and there is no record of it`;
    this.#missed = { record: records.at(-1) as JournalRecord, what };
    return undefined;
  }
}

function sessionOccurrence(type: SessionEventType, said: RecordedOccurrence): Occurrence<BareCall> | string {
  switch (type) {
    case 'tool_call': {
      if (said.candidate === undefined) return 'a tool_call whose record does not say what was called';
      const { id, name, digest, policy, writeStart, writePublish } = said.candidate;
      const candidate: Candidate = { id, name, digest, rules: { policy, writeStart, writePublish } };
      return { at: 'session', type, candidate };
    }
    case 'tool_call_cancelled':
      return { at: 'session', type, ids: said.ids ?? [] };
    case 'host_act':
      if (said.act === undefined) return 'an act of the host whose record does not say which';
      return { at: 'session', type, act: { type: said.act, id: said.actId ?? '' } as HostAct };
    default:
      return { at: 'session', type };
  }
}

/** Whether what happens to a call in this state makes its result an error. */
function decidesAnError(state: CallStateName, type: CallEventType): boolean {
  switch (state) {
    case 'admitted':
      return type === 'input_refused' || type === 'timed_out';
    case 'awaiting_approval':
      return type === 'denied';
    case 'executing':
      return type === 'code_rejected' || type === 'timed_out';
    default:
      return false;
  }
}

function saysSomething({ from, to, did }: Move<BareCall>): boolean {
  return from !== to || did.length > 0;
}

function isSame(
  { call, event, from, to, did }: Move<BareCall>,
  record: JournalRecord,
  owner: string,
  errors: ReadonlySet<string>,
): boolean {
  if (event !== record.event || from !== record.from || to !== record.to) return false;
  if (call?.id !== callOf(record, owner) || did.length !== record.did.length) return false;
  for (let index = 0; index < did.length; index++) {
    const asked = did[index] as Asked<BareCall>;
    const recorded = record.did[index];
    if (recorded === undefined || asked.type !== recorded.effect) return false;
    const detail = detailOf(asked);
    if (detail !== undefined && detail !== recorded.detail) return false;
    // what code has given may be an error as well
    const isResult = asked.type === 'publish' || asked.type === 'reportCompleted';
    if (isResult && errors.has(call?.id ?? '') && recorded.detail !== 'error') return false;
  }
  return true;
}

/** What a record says of an effect beside its name, where the machines know it. */
function detailOf({ type, params }: Asked<BareCall>): string | undefined {
  switch (type) {
    case 'abortSignal':
      return (params as { readonly because: string }).because;
    case 'flush':
      return (params as { readonly of: string }).of;
    case 'noteOverflow':
      return String(params);
    default:
      return undefined;
  }
}

function inMove({ call, event, from, to, did }: Move<BareCall>): string {
  const asked = did.map((effect) => withDetail(effect.type, detailOf(effect)));
  return inWords(call?.id, event, from, to, asked);
}

function inRecord({ kind, actor, event, from, to, did }: JournalRecord): string {
  const id = kind === 'call' ? actor.slice(actor.indexOf('/') + 1) : undefined;
  return inWords(
    id,
    event,
    from,
    to,
    did.map(({ effect, detail }) => withDetail(effect, detail)),
  );
}

function withDetail(effect: string, detail: string | undefined): string {
  return detail === undefined ? effect : `${effect} (${detail})`;
}

function inWords(id: string | undefined, event: string, from: string, to: string, asked: readonly string[]): string {
  const whose = id === undefined ? 'the session' : `call ${JSON.stringify(id)}`;
  const how =
    event === '' ? `begins ${to}` : from === to ? `stays ${to} at ${event}` : `goes from ${from} to ${to} at ${event}`;
  return asked.length === 0 ? `${whose} ${how}` : `${whose} ${how} and asks for ${asked.join(', ')}`;
}
