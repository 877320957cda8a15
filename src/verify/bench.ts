/**
 * Where journals are judged: every life that is under way has its case, and
 * what has ended is let go.
 *
 * V1. Memory is bounded by the lives that are under way, however long the
 *     journal: of a session that has ended nothing is kept but, for a while, what
 *     its code or a late connection may still do.
 * V2. A record of a life that is not known is a breach of D9, unless records
 *     are missing: then it is counted as not judged.
 */
import { machinesVersion } from '../../machines/index.js';
import type { JournalRecord } from '../contract/journal.js';
import { callStateIn, isOutcome } from './invariants/call-facts.js';
import { GroupReader, type RecordGroup } from './record-groups.js';
import { SessionCase } from './session-case.js';
import { Findings, type Verdict, type VerifyOptions } from './verdict.js';

/** Sessions that have ended and of which something may still come; the oldest go. */
const mostLingering = 10_000;

export class Bench {
  readonly findings: Findings;
  readonly #replays: boolean;
  readonly #reader: GroupReader;
  readonly #sessions = new Map<string, SessionCase>();
  readonly #lingering = new Map<string, SessionCase>();
  readonly #machines = new Set<number>();
  #hasForgotten = false;
  #records = 0;
  #begunSessions = 0;
  #begunCalls = 0;
  #unfinishedSessions = 0;
  #unfinishedCalls = 0;
  #unjudged = 0;

  constructor({ maxFindings = 100, replays = true }: VerifyOptions = {}) {
    this.findings = new Findings(maxFindings);
    this.#replays = replays;
    this.#reader = new GroupReader(({ record, what }) => this.findings.add('structure', record, what));
  }

  take(record: JournalRecord): void {
    this.#records++;
    const group = this.#reader.take(record);
    if (group !== undefined) this.#judge(group);
  }

  finish(): Verdict {
    const last = this.#reader.finish();
    if (last !== undefined) this.#judge(last);
    for (const session of this.#sessions.values()) this.#isUnfinished(session);
    const { list, beyond } = this.findings;
    return {
      records: this.#records,
      sessions: this.#begunSessions,
      calls: this.#begunCalls,
      conversations: 0,
      transactions: 0,
      findings: list,
      findingsBeyond: beyond,
      unfinished: {
        sessions: this.#unfinishedSessions,
        calls: this.#unfinishedCalls,
        conversations: 0,
        transactions: 0,
      },
      unjudged: this.#unjudged,
      machines: [...this.#machines],
    };
  }

  #judge(group: RecordGroup): void {
    if (group.kind === 'session') this.#judgeSession(group);
  }

  #judgeSession(group: RecordGroup): void {
    const { owner, records } = group;
    const first = records[0] as JournalRecord;
    if (first.kind === 'session' && first.event === '') {
      this.#begin(group, first);
      return;
    }
    let session = this.#sessions.get(owner);
    if (session === undefined) {
      session = this.#lingering.get(owner);
      if (session === undefined) {
        this.#judgeStray(group, first);
        return;
      }
    }
    this.#take(session, group);
  }

  #begin(group: RecordGroup, first: JournalRecord): void {
    const { owner } = group;
    const { data } = first;
    if (data === undefined || !('session' in data)) {
      this.findings.add('structure', first, 'a session begins, and its rules are not recorded');
      return;
    }
    const before = this.#sessions.get(owner);
    // its process is gone, and another one gave its id again
    if (before !== undefined) this.#isUnfinished(before);
    this.#lingering.delete(owner);
    this.#machines.add(data.session.machines);
    const session = new SessionCase(data.session, this.#replays);
    this.#begunSessions++;
    this.#sessions.set(owner, session);
    this.#take(session, group);
  }

  #take(session: SessionCase, group: RecordGroup): void {
    session.take(group, this.findings);
    const { facts } = session.judge;
    this.#begunCalls += facts.shown.admissions;
    if (!facts.isFenced && !facts.isRecovered) return;
    const { owner } = group;
    if (facts.isRecovered || facts.isOver || facts.stateName === 'closed') {
      if (this.#sessions.delete(owner)) {
        if (facts.isRecovered) this.#isUnfinished(session);
        if (!facts.isOver) this.#linger(owner, session);
      } else if (facts.isOver) this.#lingering.delete(owner);
    }
  }

  #linger(owner: string, session: SessionCase): void {
    this.#lingering.set(owner, session);
    if (this.#lingering.size <= mostLingering) return;
    for (const oldest of this.#lingering.keys()) {
      this.#lingering.delete(oldest);
      this.#hasForgotten = true;
      break;
    }
  }

  #isUnfinished({ judge: { facts } }: SessionCase): void {
    this.#unfinishedSessions++;
    for (const [, known] of facts.live()) if (!isOutcome(callStateIn(known))) this.#unfinishedCalls++;
  }

  #judgeStray({ owner, records }: RecordGroup, first: JournalRecord): void {
    if (isRefusal(records)) return;
    if (this.#reader.hasGap || this.#hasForgotten) {
      this.#unjudged += records.length;
      return;
    }
    const id = JSON.stringify(owner);
    const what = `session ${id} has ended, or never began, and there is a record of it: ${first.event || 'a call begins'}`;
    this.findings.add('D9', first, what);
  }
}

/** An act of the host that comes after the end is refused, and that is recorded. */
function isRefusal([first, second]: readonly JournalRecord[]): boolean {
  if (first === undefined || second !== undefined) return false;
  const { event, from, to, did } = first;
  return (
    event === 'host_act' && from === 'closed' && to === 'closed' && did.every(({ effect }) => effect === 'refuseAct')
  );
}

/** Whether all of a journal was written by the machines that are here. */
export function isOfThisVersion({ machines }: Verdict): boolean {
  return machines.every((version) => version === machinesVersion);
}
