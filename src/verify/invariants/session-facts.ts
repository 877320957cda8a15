/**
 * What is kept of a session: where it stands, what was done about its
 * connection and its end, and an integer for each call.
 *
 * Q1. Facts come from the steps alone: nothing of the machines, nothing of the
 *     coordination. What they would have decided is not asked.
 * Q2. Equal facts have equal keys, so whoever looks for states that it has seen
 *     can tell them apart by the key.
 */
import * as call from './call-facts.js';
import type { SessionGroup, SessionRules, Step } from './steps.js';

/** Where a session stands, as a number; from `closing` on it is fenced. */
export const connecting = 1;
export const waiting = 2;
export const responding = 3;
export const closing = 4;
export const closed = 5;

const states: ReadonlyMap<string, number> = new Map([
  ['connecting', connecting],
  ['open.waiting', waiting],
  ['open.responding', responding],
  ['closing', closing],
  ['closed', closed],
]);
const names = ['', ...states.keys()];

/** A state's number; 0 for a name that there is not. */
export function sessionStateNumbered(name: string): number {
  return states.get(name) ?? 0;
}

/** What a group has shown so far. */
export interface Shown {
  /** The state of the session before it. */
  before: number;
  /** Reports that take a place in the host's buffer. */
  reports: number;
  /** Far-side events that were handed on as they are. */
  delivered: number;
  /** Steps in which an overflow is noted. */
  overflows: number;
  /** Last events, which have a place of their own. */
  lastReports: number;
  discards: number;
  audioDrops: number;
  /** The event with which the session was closed or began to close; empty where it was not. */
  endedBy: string;
  /** Calls that began. */
  admissions: number;
  /** Calls that were given a place. */
  placed: number;
  /** Whether the session was given the event itself. */
  hasStepped: boolean;
}

function nothingShown(before: number): Shown {
  return reset({} as Shown, before);
}

function reset(shown: Shown, before: number): Shown {
  shown.before = before;
  shown.reports = 0;
  shown.delivered = 0;
  shown.overflows = 0;
  shown.lastReports = 0;
  shown.discards = 0;
  shown.audioDrops = 0;
  shown.endedBy = '';
  shown.admissions = 0;
  shown.placed = 0;
  shown.hasStepped = false;
  return shown;
}

export class SessionFacts {
  readonly rules: SessionRules;
  state = 0;
  /** The driver has answered `connect` with a connection. */
  isConnected = false;
  /** The connection was asked for and the driver has not answered. */
  isConnectPending = false;
  isFarSideClosed = false;
  /** How often the driver's `close` was asked for. */
  closes = 0;
  /** How often `closed` was resolved. */
  resolutions = 0;
  /** A recovery found it open: nothing follows. */
  isRecovered = false;
  /** Of the calls that count for the number. */
  open = 0;
  places = 0;
  queued = 0;
  /** Calls beyond the number whose result waits for the far side's answer. */
  refusedPublishing = 0;
  readonly shown = nothingShown(0);
  /** Every call, in order of admission. */
  readonly #calls: Map<string, number>;
  /** Those to which something can still happen. */
  readonly #live: Set<string>;
  /** Calls whose code runs. */
  running = 0;

  constructor(rules: SessionRules, calls = new Map<string, number>(), live = new Set<string>()) {
    this.rules = rules;
    this.#calls = calls;
    this.#live = live;
  }

  get stateName(): string {
    return names[this.state] ?? '';
  }

  get isOpen(): boolean {
    return this.state === waiting || this.state === responding;
  }

  get isFenced(): boolean {
    return this.state >= closing;
  }

  /** Whether the group at hand has ended the session. */
  get hasJustEnded(): boolean {
    return this.shown.endedBy !== '';
  }

  get hasClosed(): boolean {
    return this.state === closed;
  }

  /** Whether nothing can happen to it or its calls any more but refusals. */
  get isOver(): boolean {
    return this.state === closed && this.#live.size === 0 && !this.isConnectPending && !this.isRecovered;
  }

  /** What is known of a call; 0 for one that there is not. */
  call(id: string): number {
    return this.#calls.get(id) ?? 0;
  }

  get ids(): number {
    return this.#calls.size;
  }

  /** Those to which something can still happen, in order of admission. */
  *live(): Iterable<[id: string, facts: number]> {
    for (const id of this.#live) yield [id, this.call(id)];
  }

  get liveCount(): number {
    return this.#live.size;
  }

  /** Every call, in order of admission. */
  calls(): Iterable<[id: string, facts: number]> {
    return this.#calls;
  }

  /** A group begins. What went by before it has no steps of its own. */
  begin({ passed }: SessionGroup): void {
    if (this.state === waiting && passed !== undefined && passed.text[0] + passed.audio[0] > 0) this.state = responding;
    reset(this.shown, this.state);
  }

  /** Takes a step in. */
  take(step: Step, group: SessionGroup): void {
    if (step.call === undefined) this.#takeOfSession(step);
    else this.#takeOfCall(step.call, step, group);
    this.#count(step);
  }

  #takeOfSession({ event, from, to }: Step): void {
    const { shown } = this;
    shown.hasStepped = true;
    const next = sessionStateNumbered(to);
    if (event === '') this.isConnectPending = true;
    else if (event === 'connected') {
      this.isConnected = true;
      this.isConnectPending = false;
    } else if (event === 'connect_rejected') this.isConnectPending = false;
    else if (event === 'closed' && sessionStateNumbered(from) < closing) this.isFarSideClosed = true;
    else if (event === 'recovered') {
      this.isRecovered = true;
      this.isConnectPending = false;
    }
    if (next >= closing && this.state < closing) shown.endedBy = event;
    this.state = next;
  }

  #takeOfCall(id: string, step: Step, group: SessionGroup): void {
    if (step.event === '') {
      this.shown.admissions++;
      const isBeyondNumber = this.open >= this.rules.maxOpenCalls;
      const seen = group.candidate?.id === id ? group.candidate : undefined;
      this.#set(id, this.call(id), call.firstFacts(seen, isBeyondNumber));
      return;
    }
    if (step.event === 'placed') this.shown.placed++;
    const before = this.call(id);
    this.#set(id, before, call.factsAfter(before, step));
  }

  #set(id: string, before: number, after: number): void {
    const from = before & 15;
    const to = after & 15;
    if (from !== to) {
      if (call.holdsPlace(from)) this.places--;
      if (call.holdsPlace(to)) this.places++;
      if (from === call.queued) this.queued--;
      if (to === call.queued) this.queued++;
      if ((after & call.beyondNumber) === 0) {
        if (call.countsAsOpen(from)) this.open--;
        if (call.countsAsOpen(to)) this.open++;
      } else {
        if (from === call.publishing) this.refusedPublishing--;
        if (to === call.publishing) this.refusedPublishing++;
      }
    }
    if ((before & call.codeRuns) !== (after & call.codeRuns)) {
      if ((after & call.codeRuns) === 0) this.running--;
      else this.running++;
    }
    this.#calls.set(id, after);
    if (!call.isLive(after)) this.#live.delete(id);
    else if (before === 0) this.#live.add(id);
  }

  #count({ did }: Step): void {
    const { shown } = this;
    for (let index = 0; index < did.length; index++) {
      const effect = did[index]?.effect as string;
      switch (effect) {
        case 'deliver':
          shown.delivered++;
          shown.reports++;
          break;
        case 'reportStarted':
        case 'reportCompleted':
        case 'reportRejected':
        case 'reportUnconfirmed':
        case 'reportAbandoned':
          shown.reports++;
          break;
        case 'noteOverflow':
          shown.overflows++;
          break;
        case 'reportEnd':
          shown.lastReports++;
          break;
        case 'discardUnread':
          shown.discards++;
          break;
        case 'dropUnreadAudio':
          shown.audioDrops++;
          break;
        case 'closeDriver':
          this.closes++;
          break;
        case 'resolveClosed':
          this.resolutions++;
          break;
      }
    }
  }

  /** The same facts, to go another way with. */
  clone(): SessionFacts {
    const copy = new SessionFacts(this.rules, new Map(this.#calls), new Set(this.#live));
    copy.state = this.state;
    copy.isConnected = this.isConnected;
    copy.isConnectPending = this.isConnectPending;
    copy.isFarSideClosed = this.isFarSideClosed;
    copy.closes = this.closes;
    copy.resolutions = this.resolutions;
    copy.isRecovered = this.isRecovered;
    copy.open = this.open;
    copy.places = this.places;
    copy.queued = this.queued;
    copy.refusedPublishing = this.refusedPublishing;
    copy.running = this.running;
    return copy;
  }

  /** What is known, in a word: the counts follow from the calls. */
  key(): string {
    const { state, closes, resolutions } = this;
    let key = `${state}${this.isConnected ? 'c' : ''}${this.isConnectPending ? 'p' : ''}${this.isFarSideClosed ? 'f' : ''}`;
    if (this.isRecovered) key += 'r';
    key += `${closes}${resolutions}`;
    for (const [id, facts] of this.#calls) key += `|${id.length}.${id}.${facts.toString(36)}`;
    return key;
  }
}
