/** The supervisors of a journal, each judged as its records come, and those of its children's sessions. */
import type { JournalRecord, SessionBegan } from '../contract/journal.js';
import { SupervisorJudge } from './invariants/index.js';
import { Lives } from './lives.js';
import { SupervisorReplay } from './replay/supervisor-replay.js';
import type { Findings } from './verdict.js';

/** One supervisor: its judge, and its replay. */
export class SupervisorCase {
  readonly judge: SupervisorJudge;
  /** `undefined` where nobody wants it. */
  readonly replay: SupervisorReplay | undefined;

  constructor(replays: boolean, knows: (session: string) => boolean) {
    this.judge = new SupervisorJudge(knows);
    this.replay = replays ? new SupervisorReplay() : undefined;
  }

  take(record: JournalRecord, findings: Findings): void {
    for (const { of, what } of this.judge.take(record)) findings.add(of, record, what);
    const divergence = this.replay?.take(record);
    if (divergence !== undefined) findings.add('divergent', record, divergence);
  }
}

export class Supervisors {
  readonly lives: Lives<SupervisorCase>;
  readonly #findings: Findings;
  readonly #replays: boolean;
  readonly #knows: (session: string) => boolean;
  begun = 0;
  unfinished = 0;

  /** `knows`: whether a session's records are under way. `gone`: is told of each supervisor that is let go. */
  constructor(
    findings: Findings,
    replays: boolean,
    maxLingering: number,
    knows: (session: string) => boolean,
    gone?: (id: string, one: SupervisorCase) => void,
  ) {
    this.#findings = findings;
    this.#replays = replays;
    this.#knows = knows;
    this.lives = new Lives(maxLingering, gone);
  }

  /** Takes a record; gives whether it is of a supervisor that is known, or that begins. */
  take(record: JournalRecord): boolean {
    const { actor, event } = record;
    if (event === '') {
      const began = new SupervisorCase(this.#replays, this.#knows);
      this.begun++;
      // the process of the one before is gone
      if (this.lives.begin(actor, began) !== undefined) this.unfinished++;
      began.take(record, this.#findings);
      return true;
    }
    const known = this.lives.find(actor);
    if (known === undefined) return false;
    known.take(record, this.#findings);
    // whoever asks one that has stopped for something is refused, and that is recorded
    if (known.judge.state === 'stopped') this.lives.linger(actor, known);
    return true;
  }

  /** A session's records begin. */
  sessionBegan(session: string, began: SessionBegan, record: JournalRecord): void {
    // one that has stopped begins none any more
    for (const [, { judge }] of this.lives.all()) {
      for (const { of, what } of judge.sessionBegan(session, began)) this.#findings.add(of, record, what);
    }
  }

  /** A group of a session's records. */
  sessionTook(session: string, first: JournalRecord): void {
    for (const [, { judge }] of this.lives.live) {
      for (const { of, what } of judge.sessionTook(session, first)) this.#findings.add(of, first, what);
    }
  }

  /** A session has closed. */
  sessionClosed(session: string, reason: string | undefined): void {
    for (const [, { judge }] of this.lives.live) judge.sessionClosed(session, reason);
  }

  /** The journal is over. */
  finish(): void {
    for (const _ of this.lives.live) this.unfinished++;
  }
}
