/**
 * Journals of compositions: a session that nobody lives in is stepped, and what
 * it does is recorded as docs/design/journal.md has it. For sound journals of
 * any length, and to make broken ones of.
 */
import {
  type Asked,
  type BareCall,
  type CallEventType,
  type Composition,
  createComposition,
  type HostAct,
  type Move,
  machinesVersion,
  type Occurrence,
  type SessionEventType,
} from '../../machines/index.js';
import type {
  JournalRecord,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedOccurrence,
  SessionBegan,
} from '../../src/contract/journal.js';

/** What a session of a test lives by. */
export const rules: SessionBegan = {
  machines: machinesVersion,
  turnId: 'turn_test',
  provider: 'composed',
  durable: false,
  maxConcurrentTools: 2,
  maxOpenCalls: 4,
  dropUnreadAudio: false,
};

/** Where records go; gives each its `seq`. */
export class Pages {
  readonly records: JournalRecord[] = [];
  #seq = 0;
  readonly #take: ((record: JournalRecord) => void) | undefined;

  /** `take`: somebody takes each record, and none is kept. */
  constructor(take?: (record: JournalRecord) => void) {
    this.#take = take;
  }

  append(record: Omit<JournalRecord, 'seq'>): number {
    const seq = ++this.#seq;
    const whole = { seq, ...record };
    if (this.#take === undefined) this.records.push(whole);
    else this.#take(whole);
    return seq;
  }
}

type PlainEvent = Extract<Occurrence<BareCall>, { at: 'session' }>['type'];

/** A session that is stepped by hand and writes its journal. */
export class ComposedSession {
  readonly composition: Composition;
  readonly #pages: Pages;
  readonly #id: string;
  readonly #calls = new Map<string, BareCall>();
  readonly #effects = new Map<string, RecordedCandidate>();
  readonly #errors = new Set<string>();

  constructor(pages: Pages, id = 'ses_one', began: SessionBegan = rules) {
    this.#pages = pages;
    this.#id = id;
    this.composition = createComposition(began);
    this.#write([this.composition.begin()], { session: began });
  }

  /** Something happens to the session. */
  happens(
    type: Exclude<PlainEvent, 'tool_call' | 'tool_call_cancelled' | 'host_act'>,
    room?: number,
    unreadAudio = 0,
  ): this {
    return this.#take({ at: 'session', type } as Occurrence<BareCall>, {}, room, unreadAudio);
  }

  /** The far side calls a tool. */
  calls(id: string, more: Partial<RecordedCandidate> = {}, room?: number): this {
    const candidate: RecordedCandidate = {
      id,
      name: 'lookup',
      digest: 'd',
      policy: 'abandon',
      writeStart: false,
      writePublish: false,
      effect: 'irreversible',
      ...more,
    };
    this.#effects.set(id, candidate);
    const { name, digest, policy, writeStart, writePublish } = candidate;
    const asked = { id, name, digest, rules: { policy, writeStart, writePublish } };
    return this.#take({ at: 'session', type: 'tool_call', candidate: asked }, { candidate }, room, 0);
  }

  /** The far side withdraws calls. */
  withdraws(ids: readonly string[], room?: number): this {
    return this.#take({ at: 'session', type: 'tool_call_cancelled', ids }, { ids }, room, 0);
  }

  /** The host asks for something. */
  acts(act: HostAct): this {
    const said = 'id' in act ? { act: act.type, actId: act.id } : { act: act.type };
    return this.#take({ at: 'session', type: 'host_act', act }, said, undefined, 0);
  }

  /** Something happens to a call, or one thing after another. */
  call(id: string, ...types: readonly CallEventType[]): this {
    for (const type of types) this.#takeAt(id, type);
    return this;
  }

  /** Something happens to a call while the host's buffer takes so many reports. */
  callAtRoom(id: string, room: number, type: CallEventType): this {
    this.#takeAt(id, type, room);
    return this;
  }

  #takeAt(id: string, type: CallEventType, room?: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) throw new TypeError(`no call ${id}`);
    if (type === 'input_refused' || type === 'denied' || type === 'timed_out' || type === 'code_rejected') {
      this.#errors.add(id);
    }
    this.#take({ at: 'call', type, call }, {}, room, 0);
  }

  #take(
    occurrence: Occurrence<BareCall>,
    said: RecordedOccurrence,
    room: number | undefined,
    unreadAudio: number,
  ): this {
    const moves = this.composition.take(occurrence, room ?? Number.POSITIVE_INFINITY, unreadAudio);
    const [first] = moves;
    if (first === undefined) return this;
    for (const { call } of moves) if (call !== undefined) this.#calls.set(call.id, call);
    const occurrenceData: RecordedOccurrence = {
      ...(occurrence.type === first.event ? {} : { type: occurrence.type }),
      ...(occurrence.at === 'call' && first.call !== occurrence.call ? { call: occurrence.call.id } : {}),
      ...said,
      ...(room === undefined ? {} : { room: Math.max(0, room) }),
      ...(unreadAudio === 0 ? {} : { unreadAudio }),
    };
    const says = Object.keys(occurrenceData).length > 0;
    this.#write(moves, says ? { occurrence: occurrenceData } : undefined, unreadAudio);
    return this;
  }

  #write(moves: readonly Move<BareCall>[], data: RecordData | undefined, unreadAudio = 0): void {
    let cause = 0;
    for (const { call, event, from, to, did } of moves) {
      if (moves.length === 1 && from === to && did.length === 0) return;
      const seq = this.#pages.append({
        at: 0,
        actor: call === undefined ? this.#id : `${this.#id}/${call.id}`,
        kind: call === undefined ? 'session' : 'call',
        event,
        from,
        to,
        cause,
        did: did.map((effect) => this.#recorded(effect, call?.id ?? '', unreadAudio)),
        ...(cause === 0 && data !== undefined ? { data } : {}),
      });
      if (cause === 0) cause = seq;
    }
  }

  #recorded({ type, params }: Asked<BareCall>, id: string, unreadAudio: number): RecordedEffect {
    switch (type) {
      case 'abortSignal':
        return { effect: type, detail: (params as { because: string }).because };
      case 'flush':
        return { effect: type, detail: (params as { of: string }).of };
      case 'noteOverflow':
        return { effect: type, detail: String(params) };
      case 'dropUnreadAudio':
        return { effect: type, detail: String(unreadAudio) };
      case 'publish':
      case 'reportCompleted':
        return this.#errors.has(id) ? { effect: type, detail: 'error' } : { effect: type };
      default:
        return { effect: type };
    }
  }
}

/** A session as it mostly goes: two calls, an interruption, an end. For journals of any length. */
export function writeSession(pages: Pages, id: string, end: SessionEventType = 'closed'): void {
  const session = new ComposedSession(pages, id).happens('connected');
  session.happens('text').happens('turn_complete');
  session.calls('a').call('a', 'input_accepted', 'code_resolved', 'publish_accepted');
  session.calls('b').call('b', 'input_accepted').happens('interrupted').call('b', 'code_resolved');
  session
    .happens('turn_complete')
    .happens(end as 'closed')
    .happens('close_settled');
}
