/** The sessions of a journal, each judged as its records come. */
import type { JournalRecord, SessionBegan } from '../contract/journal.js';
import { callStateIn, isOutcome } from './invariants/call-facts.js';
import { Lives } from './lives.js';
import { Pools } from './pools.js';
import type { RecordGroup } from './record-groups.js';
import { SessionCase } from './session-case.js';
import type { Findings } from './verdict.js';

/** Is told when the records of a session begin, and when it closes. */
export interface SessionWatch {
  sessionBegan(id: string, began: SessionBegan, record: JournalRecord): void;
  /** A group of its records, the first of all included. `first`: that of the group. */
  sessionTook(id: string, first: JournalRecord): void;
  /** `reason`: as the machines have it, where they were asked. */
  sessionClosed(id: string, reason: string | undefined): void;
}

export class Sessions {
  readonly lives: Lives<SessionCase>;
  readonly #findings: Findings;
  readonly #replays: boolean;
  readonly #pools = new Pools();
  watch: SessionWatch | undefined;
  begun = 0;
  calls = 0;
  unfinished = 0;
  unfinishedCalls = 0;

  /** `gone`: is told of each session that is let go. */
  constructor(
    findings: Findings,
    replays: boolean,
    maxLingering: number,
    gone?: (id: string, session: SessionCase) => void,
  ) {
    this.#findings = findings;
    this.#replays = replays;
    this.lives = new Lives(maxLingering, (id, session) => {
      session.leave();
      gone?.(id, session);
    });
  }

  /** Takes a group; gives whether it is of a session that is known, or that begins. */
  take(group: RecordGroup): boolean {
    const { owner, records } = group;
    const first = records[0] as JournalRecord;
    if (first.kind === 'session' && first.event === '') {
      this.#begin(group, first);
      return true;
    }
    const session = this.lives.find(owner);
    if (session === undefined) return isRefusal(records);
    this.#take(session, group);
    return true;
  }

  /** The journal is over. */
  finish(): void {
    for (const [, session] of this.lives.live) this.#countUnfinished(session);
  }

  #begin(group: RecordGroup, first: JournalRecord): void {
    const { data } = first;
    if (data === undefined || !('session' in data)) {
      this.#findings.add('structure', first, 'a session begins, and its rules are not recorded');
      return;
    }
    this.begun++;
    const session = new SessionCase(data.session, this.#replays, this.#pools.shareOf(data.session));
    // the process of the one before is gone, and another one gave its id again
    this.watch?.sessionBegan(group.owner, data.session, first);
    const before = this.lives.begin(group.owner, session);
    if (before !== undefined) this.#countUnfinished(before);
    this.#take(session, group);
  }

  #take(session: SessionCase, group: RecordGroup): void {
    const { facts } = session.judge;
    const { owner } = group;
    const wasClosed = facts.hasClosed;
    this.watch?.sessionTook(owner, group.records[0] as JournalRecord);
    session.take(group, this.#findings);
    if (!wasClosed && facts.hasClosed) this.watch?.sessionClosed(owner, session.reason);
    this.calls += facts.shown.admissions;
    if (facts.isOver) {
      session.end(this.#findings);
      this.lives.drop(owner, session);
    } else if (facts.isRecovered || (facts.hasClosed && !session.isCutOff)) {
      const wasLive = this.lives.linger(owner, session);
      if (wasLive && facts.isRecovered) this.#countUnfinished(session);
    }
  }

  #countUnfinished({ judge: { facts } }: SessionCase): void {
    this.unfinished++;
    for (const [, known] of facts.live()) if (!isOutcome(callStateIn(known))) this.unfinishedCalls++;
  }
}

/** An act of the host that comes after the end is refused, and that is recorded. */
function isRefusal([first, second]: readonly JournalRecord[]): boolean {
  if (first === undefined || second !== undefined) return false;
  const { event, from, to, did } = first;
  const isRefused = did.length === 1 && did[0]?.effect === 'refuseAct';
  return isRefused && event === 'host_act' && from === 'closed' && to === 'closed';
}
