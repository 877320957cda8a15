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
  type Move,
  MoveLog,
  machinesVersion,
  type Occurrence,
  type SessionSnapshot,
} from '../../machines/index.js';
import type {
  Journal,
  JournalEntry,
  Passed,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedOccurrence,
} from '../contract/journal.js';
import type { BidiEvent } from '../contract/provider.js';
import { digestOf } from './arguments.js';
import type { Call } from './call.js';
import { endless } from './delivery.js';
import type { SessionSettings } from './options.js';
import type { Payload } from './session-life.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const utf8 = new TextEncoder();

export class SessionRecorder {
  readonly journal: Journal;
  /** Is told by the session how lives are advanced. */
  readonly log = new MoveLog<Call>();
  readonly #settings: SessionSettings;
  readonly #failed: (error: unknown) => void;
  #isFailed = false;
  #textTaken = 0;
  #textDelivered = 0;
  #audioTaken = 0;
  #audioDelivered = 0;

  /** `failed` is told, once, that the journal takes no more. */
  constructor(journal: Journal, settings: SessionSettings, failed: (error: unknown) => void) {
    this.journal = journal;
    this.#settings = settings;
    this.#failed = failed;
  }

  /** The session's life begins. */
  begin(first: SessionSnapshot, asked: readonly Asked<Call>[]): void {
    const { provider, turnId, limits } = this.#settings;
    const { maxConcurrentTools, maxOpenCalls, dropUnreadAudio } = limits;
    const session = {
      machines: machinesVersion,
      turnId,
      provider: provider.id,
      durable: this.journal.durable,
      maxConcurrentTools,
      maxOpenCalls,
      dropUnreadAudio,
    };
    this.#write([this.log.begin(first, asked)], noPayload, 0, { session });
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

  /** A step was taken; its effects are not performed yet. */
  step(
    occurrence: Occurrence<Call>,
    room: number,
    unreadAudio: number,
    session: SessionSnapshot,
    asked: readonly Asked<Call>[],
    payload: Payload,
  ): void {
    const moves = this.log.take(occurrence, session, asked);
    const first = moves[0];
    if (first === undefined) return;
    const { type } = occurrence;
    if ((type === 'text' || type === 'audio') && first.event === type) {
      this.took(type);
      return;
    }
    const data = this.#occurrence(occurrence, first, room, unreadAudio, payload);
    this.#write(moves, payload, unreadAudio, data === undefined ? undefined : { occurrence: data });
  }

  /** What has to be known to take the step again; `undefined` where the event of the record says it all. */
  #occurrence(
    occurrence: Occurrence<Call>,
    { event, call }: Move<Call>,
    room: number,
    unreadAudio: number,
    payload: Payload,
  ): RecordedOccurrence | undefined {
    const data: Writable<RecordedOccurrence> = {};
    let says = false;
    if (occurrence.type !== event) {
      data.type = occurrence.type;
      says = true;
    }
    if (occurrence.at === 'call') {
      if (call !== occurrence.call) {
        data.call = occurrence.call.id;
        says = true;
      }
    } else if (occurrence.type === 'tool_call') {
      data.candidate = this.#candidate(occurrence.candidate, payload.arguments ?? '');
      says = true;
    } else if (occurrence.type === 'tool_call_cancelled') {
      data.ids = occurrence.ids;
      says = true;
    } else if (occurrence.type === 'host_act') {
      const { act } = occurrence;
      data.act = act.type;
      if ('id' in act) data.actId = act.id;
      says = true;
    }
    if (room < endless) {
      data.room = room;
      says = true;
    }
    if (unreadAudio > 0) {
      data.unreadAudio = unreadAudio;
      says = true;
    }
    return says ? data : undefined;
  }

  #candidate(
    { id, name, digest, rules }: Extract<Occurrence<Call>, { type: 'tool_call' }>['candidate'],
    args: string,
  ): RecordedCandidate {
    const effect = this.#settings.tools.get(name)?.effect ?? 'irreversible';
    const candidate = { id, name, digest, ...rules, effect };
    return this.journal.payloads === 'keep' ? { ...candidate, arguments: utf8.encode(args) } : candidate;
  }

  #write(moves: readonly Move<Call>[], payload: Payload, unreadAudio: number, data: RecordData | undefined): void {
    if (this.#isFailed) return;
    const { sessionId, clock } = this.#settings;
    const at = clock.now();
    let cause = 0;
    try {
      for (const { call, event, from, to, did } of moves) {
        const entry: Writable<JournalEntry> = {
          at,
          actor: call === undefined ? sessionId : `${sessionId}/${call.id}`,
          kind: call === undefined ? 'session' : 'call',
          event,
          from,
          to,
          cause,
          did: this.#recorded(did, payload, unreadAudio),
        };
        if (cause === 0) {
          if (data !== undefined) entry.data = data;
          const passed = this.#passed();
          if (passed !== undefined) entry.passed = passed;
          cause = this.journal.append(entry);
        } else this.journal.append(entry);
      }
    } catch (error) {
      this.#isFailed = true;
      this.#failed(error);
    }
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

  #recorded(did: readonly Asked<Call>[], payload: Payload, unreadAudio: number): readonly RecordedEffect[] {
    if (did.length === 0) return nothingDone;
    return did.map(({ type, params, call }) => {
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
    });
  }

  #withPayload(effect: RecordedEffect, text: string | undefined): RecordedEffect {
    if (text === undefined) return effect;
    switch (this.journal.payloads) {
      case 'keep':
        return { ...effect, payload: utf8.encode(text) };
      case 'omit':
        return effect;
      default:
        return { ...effect, digest: digestOf(text) };
    }
  }
}

const noPayload: Payload = {};
const nothingDone: readonly RecordedEffect[] = Object.freeze([]);
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
