/**
 * The judge of one supervisor: takes its records, and hears of the sessions in
 * the same journal that are its children's, and says which invariants they
 * break.
 *
 * J1. It reads records and keeps facts, as the judge of a session does: what
 *     the machine would have done it does not ask.
 * J2. Of a session whose records are not in the journal (it has one of its own,
 *     or compaction took them) nothing is demanded.
 */
import type { JournalRecord, RecordedEffect, SessionBegan } from '../../contract/journal.js';
import type { BreachOf, InvariantNumber, Stated } from './breach.js';

const sentences: readonly (readonly [number: InvariantNumber, sentence: string, reads: string])[] = [
  [
    'S1',
    'an incarnation begins after its start is recorded, and has ended for the reason given before another one of its session begins',
    'did (openIncarnation, announceIncarnation, armRestart, releaseChild); the beginnings and ends of sessions',
  ],
  [
    'S4',
    'a restart is announced once, when its incarnation has connected and before anything comes of its far side',
    'did (openIncarnation, announceIncarnation); event of sessions',
  ],
  [
    'S11',
    'no more children live than the limits allow',
    'did (maxSessions, maxConversations, openIncarnation, openConversation, releaseChild)',
  ],
  [
    'S12',
    'the calls of all sessions get their places from one pool, of the size that is said',
    'did of the first record (maxConcurrentTools); pool and poolPlaces of sessions',
  ],
  [
    'S16',
    'only a supervisor that runs starts anything: a child, or another incarnation of one',
    'from and did (openIncarnation, openConversation)',
  ],
  ['V2', 'a supervisor is stopped when every child that it started has ended', 'to and did (releaseChild)'],
  [
    'V3',
    'every end of a child leads to another incarnation or to its release, and to one of the two only',
    'event and did (armRestart, releaseChild)',
  ],
  ['V4', 'a session that is given up is reported before it is released', 'event and did (reportFailure, releaseChild)'],
];

/** The invariants of supervisors that a journal shows. */
export const supervisorInvariants: readonly Stated[] = sentences.map(([number, sentence, reads]) => ({
  number,
  sentence,
  reads,
}));

/** A child that lives. */
export interface SupervisedChild {
  readonly kind: 'session' | 'conversation';
  readonly id: string;
  /** Of a session: its incarnation, the last one where it waits for the next. */
  readonly session: string | undefined;
  readonly isWaiting: boolean;
}

interface Child {
  readonly kind: 'session' | 'conversation';
  readonly id: string;
  session: string | undefined;
  isWaiting: boolean;
  /** Of an incarnation that follows another one: whether it has connected, and was announced. */
  restart: 'none' | 'opened' | 'connected' | 'announced';
  /** What the records of the incarnation itself say. */
  records: 'none' | 'open' | 'closed';
  reason: string | undefined;
}

/** What is wrong with a record. */
export interface SupervisorBreach {
  readonly of: BreachOf;
  readonly what: string;
}

const starts: ReadonlySet<string> = new Set(['openIncarnation', 'openConversation']);
const ends: ReadonlySet<string> = new Set([
  'incarnation_ended',
  'session_ended',
  'session_failed',
  'conversation_ended',
]);

const limits = ['maxSessions', 'maxConversations', 'maxConcurrentTools'] as const;
/** What the detail of an effect looks like. */
const forms: ReadonlyMap<string, RegExp> = new Map([
  ['openIncarnation', /^\S+ \S+$/],
  ['announceIncarnation', /^\S+ \S+ (resumed|fresh)$/],
  ['armRestart', /^\S+ \S+ [a-z_]+$/],
  ['reportFailure', /^\S+ \S+ [a-z_]+$/],
  ['releaseChild', /^\S+( \S+ [a-z_]+)?$/],
  ['openConversation', /^\S+$/],
  ['refuseStart', /^(session|conversation)$/],
  ['armDeadline', /^\d+$/],
]);
/** Reasons for which a session as a whole may end, whatever its last incarnation ended with. */
const ofHost: ReadonlySet<string> = new Set(['host', 'aborted']);
/** Events of a session that its far side has no part in. */
const ofThisSide = /^host_|^close_|^flush_failed$|^places_lent$/;

export class SupervisorJudge {
  readonly #children = new Map<string, Child>();
  /** By the `sessionId` of their incarnations. */
  readonly #bySession = new Map<string, Child>();
  readonly #limits = new Map<string, number>();
  readonly #knows: (session: string) => boolean;
  #state = '';
  #pool: string | undefined;
  #sessions = 0;
  #found: SupervisorBreach[] = [];

  /** `knows`: whether a session's records are under way. */
  constructor(knows: (session: string) => boolean) {
    this.#knows = knows;
  }

  /** Where the records say that it stands. */
  get state(): string {
    return this.#state;
  }

  /** Those that live, in order of their start. */
  *children(): Iterable<SupervisedChild> {
    for (const { kind, id, session, isWaiting } of this.#children.values()) yield { kind, id, session, isWaiting };
  }

  /** Takes a record of the supervisor, and gives what it breaks. */
  take(record: JournalRecord): readonly SupervisorBreach[] {
    const { event, from, to, did } = record;
    if (event === '') this.#begin(to, did);
    if (from !== this.#state) {
      const was = this.#state || 'nowhere';
      this.#add('structure', `the supervisor is said to have been ${from || 'nowhere'}, and was ${was}`);
    }
    this.#state = to;
    if (event !== '') for (const effect of did) this.#takeEffect(record, effect);
    if (ends.has(event)) this.#judgeEnd(record);
    if (to === 'stopped' && from !== 'stopped') this.#judgeStop();
    return this.#taken();
  }

  /** An incarnation's own records begin. */
  sessionBegan(session: string, { pool, poolPlaces }: SessionBegan): readonly SupervisorBreach[] {
    const child = this.#bySession.get(session);
    if (child === undefined) {
      if (pool !== undefined && pool === this.#pool) {
        this.#add('S1', `incarnation ${session} begins, and no child has it that lives`);
      }
      return this.#taken();
    }
    child.records = 'open';
    const places = this.#limits.get('maxConcurrentTools');
    if (pool === undefined || poolPlaces !== places) {
      const has = pool === undefined ? 'none' : `one of ${poolPlaces} places`;
      this.#add('S12', `incarnation ${session} shares a pool of ${places} places with the others, and has ${has}`);
    } else if (this.#pool !== undefined && this.#pool !== pool) {
      this.#add('S12', `incarnation ${session} has the pool ${pool}, and the others have ${this.#pool}`);
    }
    this.#pool ??= pool;
    return this.#taken();
  }

  /** A group of an incarnation's own records, of which this is the first. */
  sessionTook(session: string, { kind, event, to }: JournalRecord): readonly SupervisorBreach[] {
    const child = this.#bySession.get(session);
    if (child === undefined || child.restart === 'none' || child.restart === 'announced') return nothing;
    if (kind !== 'session') return nothing;
    // a connection that comes after the host has given up is closed, and nobody is told
    if (event === 'connected') child.restart = to.startsWith('open') ? 'connected' : child.restart;
    else if (child.restart === 'connected' && !ofThisSide.test(event)) {
      this.#add('S4', `incarnation ${session} takes ${event}, and its restart is not announced`);
      child.restart = 'announced';
    }
    return this.#taken();
  }

  /** An incarnation has closed. `reason`: why, where that is known. */
  sessionClosed(session: string, reason: string | undefined): void {
    const child = this.#bySession.get(session);
    if (child === undefined) return;
    child.records = 'closed';
    child.reason = reason;
  }

  #begin(to: string, did: readonly RecordedEffect[]): void {
    if (to !== 'running') this.#add('structure', `the supervisor begins ${to}`);
    for (const { effect, detail } of did) this.#limits.set(effect, Number(detail));
    for (const limit of limits) {
      const most = this.#limits.get(limit);
      if (most === undefined || !Number.isInteger(most)) {
        this.#add('structure', `the supervisor begins, and does not say its ${limit}`);
      }
    }
  }

  /** Whether the words are there that tell one effect from another of its name. */
  #judgeForm(effect: string, detail: string): void {
    const form = forms.get(effect);
    if (form === undefined || form.test(detail)) return;
    this.#add('structure', `${effect} does not say what it is about: ${JSON.stringify(detail)}`);
  }

  #takeEffect({ event, from }: JournalRecord, { effect, detail = '' }: RecordedEffect): void {
    const [id = '', session, reason] = detail.split(' ');
    this.#judgeForm(effect, detail);
    if (starts.has(effect) && from !== 'running') {
      this.#add('S16', `child ${id} is started by a supervisor that is ${from}`);
    }
    switch (effect) {
      case 'openIncarnation':
        this.#open(id, session ?? '', event === 'restart_due');
        break;
      case 'openConversation':
        if (this.#isNew(id)) this.#start({ kind: 'conversation', id, session: undefined });
        this.#judgeLimit('maxConversations', this.#children.size - this.#sessions);
        break;
      case 'reportFailure': {
        const child = this.#current(id, session, 'is given up');
        if (child !== undefined) this.#judgeReason(child, reason);
        break;
      }
      case 'announceIncarnation': {
        const child = this.#current(id, session, 'is announced');
        if (child !== undefined) this.#announce(child);
        break;
      }
      case 'armRestart': {
        const child = this.#ended(id, session, reason);
        if (child === undefined) break;
        child.isWaiting = true;
        this.#bySession.delete(session ?? '');
        break;
      }
      case 'releaseChild':
        this.#release(id, session, reason);
        break;
    }
  }

  #open(id: string, session: string, isRestart: boolean): void {
    const child = isRestart ? this.#children.get(id) : undefined;
    if (!isRestart) {
      if (this.#isNew(id)) this.#enter(this.#start({ kind: 'session', id, session }), session, false);
      this.#judgeLimit('maxSessions', this.#sessions);
    } else if (child?.kind !== 'session') {
      this.#add('V3', `child ${id} is begun again, and there is none`);
    } else {
      if (!child.isWaiting)
        this.#add('S1', `child ${id} is begun again, and incarnation ${child.session} has not ended`);
      this.#enter(child, session, true);
    }
  }

  #enter(child: Child, session: string, isRestart: boolean): void {
    if (this.#knows(session)) this.#add('S1', `incarnation ${session} begins before its start is recorded`);
    child.session = session;
    child.restart = isRestart ? 'opened' : 'none';
    child.isWaiting = false;
    child.records = 'none';
    child.reason = undefined;
    this.#bySession.set(session, child);
  }

  #isNew(id: string): boolean {
    if (!this.#children.has(id)) return true;
    this.#add('structure', `child ${id} is started, and it lives`);
    return false;
  }

  #start({ kind, id, session }: Pick<Child, 'kind' | 'id' | 'session'>): Child {
    const child: Child = { kind, id, session, isWaiting: false, restart: 'none', records: 'none', reason: undefined };
    this.#children.set(id, child);
    if (kind === 'session') this.#sessions++;
    return child;
  }

  /** The child, where this is its incarnation and runs. */
  #current(id: string, session: string | undefined, how: string): Child | undefined {
    const child = this.#children.get(id);
    if (child === undefined) {
      this.#add('V3', `child ${id} ${how}, and there is none`);
      return undefined;
    }
    if (child.isWaiting || child.session !== session) {
      this.#add('S1', `incarnation ${session} of child ${id} ${how}, and ${standing(child)}`);
      return undefined;
    }
    return child;
  }

  #ended(id: string, session: string | undefined, reason: string | undefined): Child | undefined {
    const child = this.#current(id, session, 'has ended');
    if (child === undefined) return undefined;
    // a journal that has refused a record of the session takes no more of it, and maybe of others
    if (child.records === 'open' && reason !== 'journal_failed') {
      this.#add('S1', `incarnation ${session} has ended, and its own records have no end`);
    } else this.#judgeReason(child, reason);
    if (child.restart === 'connected') {
      this.#add('S4', `incarnation ${session} has connected and ended, and its restart was not announced`);
    }
    return child;
  }

  /** Why its incarnation is said to have ended. */
  #judgeReason({ records, reason: own, session }: Child, reason: string | undefined): void {
    if (records !== 'closed' || own === undefined || own === reason) return;
    this.#add('S1', `incarnation ${session} has ended with ${reason}, and by its own records with ${own}`);
  }

  #announce(child: Child): void {
    const { restart, session, records } = child;
    if (restart === 'none') this.#add('S4', `incarnation ${session} is announced, and is the first of its session`);
    else if (restart === 'announced') this.#add('S4', `incarnation ${session} is announced, and was before`);
    else if (restart === 'opened' && records !== 'none') {
      this.#add('S4', `incarnation ${session} is announced, and has not connected`);
    }
    child.restart = 'announced';
  }

  #release(id: string, session: string | undefined, reason: string | undefined): void {
    const child = this.#children.get(id);
    if (child === undefined) {
      this.#add('V3', `child ${id} is released, and there is none`);
      return;
    }
    // a session as a whole may end for another reason than its last incarnation: one that waits, or is closed on the way
    if (child.kind === 'session' && !child.isWaiting) {
      // for a wish of the host, or for what ended its last incarnation
      this.#ended(id, session, ofHost.has(reason ?? '') ? (child.reason ?? reason) : reason);
    } else if (child.session !== session && child.kind === 'session') {
      this.#add('S1', `child ${id} is released after incarnation ${session}, and ${standing(child)}`);
    }
    this.#children.delete(id);
    if (child.kind === 'session') this.#sessions--;
    if (child.session !== undefined) this.#bySession.delete(child.session);
  }

  #judgeLimit(limit: string, count: number): void {
    const most = this.#limits.get(limit);
    if (most !== undefined && count > most) this.#add('S11', `${count} live, and ${limit} is ${most}`);
  }

  #judgeEnd({ event, did }: JournalRecord): void {
    const after = did.map(({ effect }) => effect);
    const times = after.filter((effect) => effect === 'armRestart' || effect === 'releaseChild').length;
    if (times !== 1) this.#add('V3', `${event} leads to ${times} restarts and releases`);
    if (event !== 'session_failed') return;
    const [reported, released] = [after.indexOf('reportFailure'), after.indexOf('releaseChild')];
    if (reported === -1 || reported > released) this.#add('V4', 'a session is given up, and released without a report');
  }

  #judgeStop(): void {
    if (this.#children.size === 0) return;
    const left = [...this.#children.keys()].slice(0, 5).join(', ');
    this.#add('V2', `the supervisor is stopped, and ${this.#children.size} of its children have no end: ${left}`);
  }

  #add(of: BreachOf, what: string): void {
    this.#found.push({ of, what });
  }

  #taken(): readonly SupervisorBreach[] {
    if (this.#found.length === 0) return nothing;
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

const nothing: readonly SupervisorBreach[] = Object.freeze([]);

function standing({ kind, session, isWaiting }: Child): string {
  if (kind === 'conversation') return 'it is a conversation';
  return isWaiting ? `none runs since ${session} has ended` : `its incarnation is ${session}`;
}
