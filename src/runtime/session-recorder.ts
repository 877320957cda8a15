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
  type AbortCause,
  type Asked,
  MoveLog,
  machinesVersion,
  type Occurrence,
  type SessionSnapshot,
  type Transition,
} from '../../machines/index.js';
import type {
  ActorKind,
  Journal,
  JournalEntry,
  Passed,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedOccurrence,
} from '../contract/journal.js';
import type { BidiEvent } from '../contract/provider.js';
import { payloadUnder } from '../journal/payload.js';
import { placeBehind } from '../journal/place.js';
import type { Call } from './call.js';
import { endless } from './delivery.js';
import type { SessionSettings } from './options.js';
import type { PlacePool } from './place-pool.js';
import type { Payload } from './session-life.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const utf8 = new TextEncoder();

export class SessionRecorder {
  readonly journal: Journal;
  /** Is told by the session how lives are advanced. */
  readonly log = new MoveLog<Call>();
  readonly #settings: SessionSettings;
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
    this.#begin(undefined, transition, this.#recorded(asked, {}, 0), { session });
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
    const only = this.log.takeOnly();
    if (only !== undefined) {
      const { call, transition } = only;
      if (transition.event === type && (type === 'text' || type === 'audio')) {
        this.took(type);
        return;
      }
      const did = this.#didOf(transition, asked, payload, unreadAudio);
      if (transition.stays && did.length === 0) return;
      this.#begin(
        call,
        transition,
        did,
        this.#dataOf(occurrence, transition.event, call, room, unreadAudio, lent, payload),
      );
      return;
    }
    const moves = this.log.take(occurrence, session, asked);
    let cause = 0;
    for (const { call, transition, did: asked } of moves) {
      const did = this.#didOf(transition, asked, payload, unreadAudio);
      if (cause > 0) this.#append(call, transition, did, cause);
      else {
        const data = this.#dataOf(occurrence, transition.event, call, room, unreadAudio, lent, payload);
        cause = this.#begin(call, transition, did, data);
      }
    }
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
    switch (this.journal.payloads) {
      case 'keep':
        return { ...candidate, arguments: utf8.encode(args) };
      case 'omit':
        return { ...candidate, digest: '' };
      default:
        return candidate;
    }
  }

  /** Appends the first record of a group, and gives its place. */
  #begin(
    call: Call | undefined,
    transition: Transition,
    did: readonly RecordedEffect[],
    data: RecordData | undefined,
  ): number {
    const passed = this.#passed();
    return this.#append(call, transition, did, 0, data, passed);
  }

  /** Gives its place; 0 where the journal takes no more. */
  #append(
    call: Call | undefined,
    { event, from, to }: Transition,
    did: readonly RecordedEffect[],
    cause: number,
    data?: RecordData,
    passed?: Passed,
  ): number {
    if (this.#isFailed) return 0;
    const at = this.#settings.clock.now();
    const isCall = call !== undefined;
    const actor = isCall ? this.#actorOf(call) : this.#settings.sessionId;
    const kind: ActorKind = isCall ? 'call' : 'session';
    let entry: JournalEntry = { at, actor, kind, event, from, to, cause, did };
    if (data !== undefined) entry = { at, actor, kind, event, from, to, cause, did, data };
    if (passed !== undefined) entry = { ...entry, passed };
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
    call.recordedAs ??= `${this.#settings.sessionId}/${call.id}`;
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

  /** What a life did. Lives that take a transition do the same, mostly: one list for all. */
  #didOf(
    transition: Transition,
    asked: readonly Asked<Call>[],
    payload: Payload,
    unreadAudio: number,
  ): readonly RecordedEffect[] {
    const known = done.get(transition);
    if (known !== undefined && isSame(known, asked)) return known;
    const did = this.#recorded(asked, payload, unreadAudio);
    if (!speaks.has(transition.event) && !asked.some(({ type }) => varies.has(type)))
      done.set(transition, Object.freeze(did));
    return did;
  }

  #recorded(did: readonly Asked<Call>[], payload: Payload, unreadAudio: number): readonly RecordedEffect[] {
    if (did.length === 0) return nothingDone;
    const recorded: RecordedEffect[] = [];
    for (const effect of did) {
      if (effect.type !== 'callChanged') recorded.push(this.#effect(effect, payload, unreadAudio));
    }
    return recorded;
  }

  #effect({ type, params, call }: Asked<Call>, payload: Payload, unreadAudio: number): RecordedEffect {
    switch (type) {
      case 'flush':
        return effectOf(type, (params as { of: string }).of);
      case 'abortSignal':
        return effectOf(type, (params as { because: AbortCause }).because);
      case 'noteOverflow':
        return effectOf(type, String(params));
      case 'dropUnreadAudio':
        return effectOf(type, String(unreadAudio));
      case 'publish':
        return this.#withPayload(plainOrError(type, call), call?.result.output);
      case 'reportCompleted':
        return plainOrError(type, call);
      case 'deliver':
      case 'reportEnd':
        return this.#withPayload(effectOf(type), saidBy(payload.event));
      default:
        return effectOf(type);
    }
  }

  #withPayload(effect: RecordedEffect, text: string | undefined): RecordedEffect {
    if (text === undefined) return effect;
    const { payloads = 'hash' } = this.journal;
    return payloads === 'omit' ? effect : { ...effect, ...payloadUnder(payloads, text) };
  }
}

const nothingDone: readonly RecordedEffect[] = Object.freeze([]);

/** What was done by transitions that were taken before, where it says nothing of a payload. */
const done = new WeakMap<Transition, readonly RecordedEffect[]>();

/** Effects that are recorded with more than what their machine says of them. */
const varies: ReadonlySet<string> = new Set(['noteOverflow', 'dropUnreadAudio', 'publish', 'reportCompleted']);
/** Events that say something in words. */
const speaks: ReadonlySet<string> = new Set(['error', 'closed']);

function isSame(known: readonly RecordedEffect[], asked: readonly Asked<Call>[]): boolean {
  let at = 0;
  for (let index = 0; index < asked.length; index++) {
    const { type } = asked[index] as Asked<Call>;
    if (type === 'callChanged') continue;
    if (type !== known[at]?.effect) return false;
    at++;
  }
  return at === known.length;
}

const plain = new Map<string, RecordedEffect>();
const detailed = new Map<string, Map<string, RecordedEffect>>();

/** One object for all that are alike: a store writes it in one piece. */
function effectOf(effect: string, detail?: string): RecordedEffect {
  if (detail === undefined) {
    let known = plain.get(effect);
    if (known === undefined) {
      known = Object.freeze({ effect });
      plain.set(effect, known);
    }
    return known;
  }
  let ofEffect = detailed.get(effect);
  if (ofEffect === undefined) {
    ofEffect = new Map();
    detailed.set(effect, ofEffect);
  }
  let known = ofEffect.get(detail);
  if (known === undefined) {
    known = Object.freeze({ effect, detail });
    // numbers may be any
    if (ofEffect.size < 64) ofEffect.set(detail, known);
  }
  return known;
}

function plainOrError(effect: string, call: Call | undefined): RecordedEffect {
  return call?.result.isError ? effectOf(effect, 'error') : effectOf(effect);
}

/** What an event of the far side says in words, but for the words of the conversation. */
function saidBy(event: BidiEvent | undefined): string | undefined {
  switch (event?.type) {
    case 'error':
      return event.message;
    case 'closed':
      return event.reason;
    default:
      return undefined;
  }
}
