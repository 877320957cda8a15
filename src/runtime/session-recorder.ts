/**
 * Writes what a session and its calls do into a journal: a record for each
 * move, as docs/design/journal.md has it.
 *
 * Invariants kept here:
 *
 * J1. A step's records are appended after its states are set and before any of
 *     its effects is performed, as one group.
 * J2. Pieces of text and audio are counted, not recorded, unless they do not
 *     fit.
 * J3. A journal that takes no more is reported once, and asked for nothing
 *     more.
 * J4. Payloads go in as the journal's policy has it, audio never.
 */
import {
  type Advance,
  type Asked,
  MoveLog,
  machinesVersion,
  nobodys,
  type Occurrence,
  type SessionSnapshot,
  type Transition,
} from '../../machines/index.js';
import type {
  ActorKind,
  Journal,
  JournalEntry,
  Passed,
  PayloadPolicy,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedOccurrence,
} from '../contract/journal.js';
import { placeBehind } from '../journal/place.js';
import type { Call } from './call.js';
import { endless } from './delivery.js';
import type { SessionSettings } from './options.js';
import type { PlacePool } from './place-pool.js';
import { didBy, didStanding } from './recorded-effects.js';
import type { Payload } from './session-life.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const utf8 = new TextEncoder();

export class SessionRecorder {
  readonly journal: Journal;
  /** Is told by the session how lives are advanced. */
  readonly log = new MoveLog<Call>();
  readonly #settings: SessionSettings;
  readonly #payloads: PayloadPolicy;
  readonly #failed: (error: unknown) => void;
  readonly #pool: PlacePool | undefined;
  /** Of the step at hand: what the pool lent, where that was too little. */
  #lent: number | undefined;
  #isFailed = false;
  #lastSeq = 0;
  #textTaken = 0;
  #textDelivered = 0;
  #audioTaken = 0;
  #audioDelivered = 0;

  /** `failed` is told, once, that the journal takes no more. */
  constructor(journal: Journal, settings: SessionSettings, failed: (error: unknown) => void, pool?: PlacePool) {
    this.journal = journal;
    this.#payloads = journal.payloads ?? 'hash';
    this.#settings = settings;
    this.#failed = failed;
    this.#pool = pool;
  }

  /** The session's life begins. */
  begin(first: SessionSnapshot, asked: readonly Asked<Call>[]): void {
    const { provider, turnId, limits } = this.#settings;
    const { maxConcurrentTools, maxOpenCalls, dropUnreadAudio } = limits;
    const rules = {
      machines: machinesVersion,
      turnId,
      provider: provider.id,
      durable: this.journal.durable,
      maxConcurrentTools,
      maxOpenCalls,
      dropUnreadAudio,
    };
    const session = this.#pool ? { ...rules, pool: this.#pool.id, poolPlaces: this.#pool.places } : rules;
    const { transition } = this.log.begin(first, asked);
    const did = didStanding({ asked, payload: {}, unreadAudio: 0, payloads: this.#payloads });
    this.#append(this.#now(), undefined, transition, did, 0, { session }, this.#passed());
  }

  /** A piece of text or audio was taken from the far side, and goes on as it is. */
  took(type: 'text' | 'audio'): void {
    if (type === 'text') this.#textTaken++;
    else this.#audioTaken++;
  }

  /** An event was put into the host's buffer, or read at once. */
  delivered(type: string): void {
    if (type === 'text') this.#textDelivered++;
    else if (type === 'audio') this.#audioDelivered++;
  }

  /** The step that is told of next left calls without a place: the pool lent no more than this. */
  lent(places: number): void {
    this.#lent = places;
  }

  /** A step was taken; its effects are not performed yet. */
  step(
    occurrence: Occurrence<Call>,
    room: number,
    unreadAudio: number,
    session: SessionSnapshot,
    asked: readonly Asked<Call>[],
    payload: Payload,
  ): void {
    const { type } = occurrence;
    const lent = this.#lent;
    if (lent !== undefined) this.#lent = undefined;
    const { log } = this;
    const doing = { asked, payload, unreadAudio, payloads: this.#payloads };
    const only = log.takeOnly();
    if (only !== undefined) {
      const { call, transition } = only;
      if (transition.event === type && (type === 'text' || type === 'audio')) {
        this.took(type);
        return;
      }
      const did = didBy(transition, 0, undefined, doing);
      if (transition.stays && did.length === 0) return;
      const data = this.#dataOf(occurrence, transition.event, call, room, unreadAudio, lent, payload);
      this.#append(this.#now(), call, transition, did, 0, data, this.#passed());
      return;
    }
    const advances = log.takeAll();
    if (advances.length === 0) {
      for (const { call, transition } of log.take(occurrence, session, asked)) {
        const data = this.#dataOf(occurrence, transition.event, call, room, unreadAudio, lent, payload);
        this.#append(this.#now(), call, transition, didStanding(doing), 0, data, this.#passed());
      }
      return;
    }
    const owners = log.whose(advances, asked);
    const first = advances[0] as Advance<Call>;
    const data = this.#dataOf(occurrence, first.transition.event, first.call, room, unreadAudio, lent, payload);
    const at = this.#now();
    let cause = 0;
    for (let index = 0; index < advances.length; index++) {
      const { call, transition } = advances[index] as Advance<Call>;
      const did = didBy(transition, index, owners, doing);
      if (index === 0) {
        if (transition.stays && did.length === 0 && areIdle(advances, asked, owners)) return;
        cause = this.#append(at, call, transition, did, 0, data, this.#passed());
      } else if (!transition.stays || did.length > 0) {
        this.#append(at, call, transition, did, cause, undefined, undefined);
      }
    }
  }

  /** A group is of one moment. */
  #now(): number {
    return this.#settings.clock.now();
  }

  /** What has to be known to take the step again; `undefined` where the event of the record says it all. */
  #dataOf(
    occurrence: Occurrence<Call>,
    event: string,
    call: Call | undefined,
    room: number,
    unreadAudio: number,
    lent: number | undefined,
    payload: Payload,
  ): RecordData | undefined {
    const { type } = occurrence;
    const isPlain =
      type === event &&
      room >= endless &&
      unreadAudio === 0 &&
      lent === undefined &&
      type !== 'tool_call' &&
      type !== 'tool_call_cancelled' &&
      type !== 'host_act';
    if (isPlain) return undefined;
    const data: Writable<RecordedOccurrence> = {};
    if (type !== event) data.type = type;
    // a last event has a place of its own, beyond the others: there is no less room than none
    if (room < endless) data.room = Math.max(0, room);
    if (unreadAudio > 0) data.unreadAudio = unreadAudio;
    if (lent !== undefined) data.places = lent;
    if (occurrence.at === 'call') {
      if (call !== occurrence.call) data.call = occurrence.call.id;
    } else if (occurrence.type === 'tool_call') {
      data.candidate = this.#candidate(occurrence.candidate, payload.arguments ?? '');
    } else if (occurrence.type === 'tool_call_cancelled') data.ids = occurrence.ids;
    else if (occurrence.type === 'host_act') {
      const { act } = occurrence;
      data.act = act.type;
      if ('id' in act) data.actId = act.id;
    }
    return { occurrence: data };
  }

  #candidate(
    { id, name, digest, rules }: Extract<Occurrence<Call>, { type: 'tool_call' }>['candidate'],
    args: string,
  ): RecordedCandidate {
    const effect = this.#settings.tools.get(name)?.effect ?? 'irreversible';
    const { policy, writeStart, writePublish } = rules;
    const candidate = { id, name, digest, policy, writeStart, writePublish, effect };
    switch (this.#payloads) {
      case 'keep':
        return { ...candidate, arguments: utf8.encode(args) };
      case 'omit':
        return { ...candidate, digest: '' };
      default:
        return candidate;
    }
  }

  /** Gives its place; 0 where the journal takes no more. */
  #append(
    at: number,
    call: Call | undefined,
    { event, from, to }: Transition,
    did: readonly RecordedEffect[],
    cause: number,
    data: RecordData | undefined,
    passed: Passed | undefined,
  ): number {
    if (this.#isFailed) return 0;
    const isCall = call !== undefined;
    const actor = isCall ? this.#actorOf(call) : this.#settings.sessionId;
    const kind: ActorKind = isCall ? 'call' : 'session';
    let entry: JournalEntry;
    // named one by one: older engines spread slowly
    if (data === undefined) {
      if (passed === undefined) entry = { at, actor, kind, event, from, to, cause, did };
      else entry = { at, actor, kind, event, from, to, cause, did, passed };
    } else if (passed === undefined) entry = { at, actor, kind, event, from, to, cause, did, data };
    else entry = { at, actor, kind, event, from, to, cause, did, data, passed };
    try {
      this.#lastSeq = placeBehind(this.#lastSeq, this.journal.append(entry), this.#settings.sessionId);
      return this.#lastSeq;
    } catch (error) {
      this.#isFailed = true;
      this.#failed(error);
      return 0;
    }
  }

  #actorOf(call: Call): string {
    // joined it is one text; by a template it would be two, and whoever reads its characters would look for each of them
    call.recordedAs ??= [this.#settings.sessionId, call.id].join('/');
    return call.recordedAs;
  }

  #passed(): Passed | undefined {
    if (this.#textTaken + this.#textDelivered + this.#audioTaken + this.#audioDelivered === 0) return undefined;
    const passed: Passed = {
      text: [this.#textTaken, this.#textDelivered],
      audio: [this.#audioTaken, this.#audioDelivered],
    };
    this.#textTaken = 0;
    this.#textDelivered = 0;
    this.#audioTaken = 0;
    this.#audioDelivered = 0;
    return passed;
  }
}

/** Whether none of the lives that a step advanced moved, or asked for anything. */
function areIdle(
  advances: readonly Advance<Call>[],
  asked: readonly Asked<Call>[],
  owners: readonly number[],
): boolean {
  for (const { transition } of advances) if (!transition.stays) return false;
  for (let index = 0; index < asked.length; index++) if (owners[index] !== nobodys) return false;
  return true;
}
