/** One session of a journal: its judge, and its replay. */
import { machinesVersion } from '../../machines/index.js';
import type { JournalRecord, SessionBegan } from '../contract/journal.js';
import { SessionJudge } from './invariants/index.js';
import type { PoolShare } from './pools.js';
import type { RecordGroup } from './record-groups.js';
import { mayLackRecords, SessionReplay } from './replay/session-replay.js';
import { sessionGroupOf } from './session-records.js';
import { type Findings, Withheld } from './verdict.js';

export class SessionCase {
  readonly judge: SessionJudge;
  /** `undefined` where nobody wants it. */
  readonly replay: SessionReplay | undefined;
  readonly #share: PoolShare | undefined;
  readonly #writtenBy: number;
  readonly #withheld = new Withheld();

  /** `share`: of the pool that gives it its places, where it shares one. */
  constructor(began: SessionBegan, replays: boolean, share?: PoolShare) {
    this.judge = new SessionJudge(began);
    this.replay = replays ? new SessionReplay(began) : undefined;
    this.#share = share;
    this.#writtenBy = began.machines;
  }

  take(group: RecordGroup, findings: Findings): void {
    const { records } = group;
    const isOfTheRun = this.#isOfTheRun(records);
    // a recovery finds what a group that was cut off has left; where the session goes on, it was not
    if (isOfTheRun) this.#withheld.tell(findings);
    else this.#withheld.forget();
    const divergence = isOfTheRun ? this.replay?.take(group) : undefined;
    // the machines say whether a group has all its records
    const mayBeCutOff = mayLackRecords(this.replay, group, divergence);
    for (const { of, what, step, isOfWhole } of this.judge.take(sessionGroupOf(group))) {
      const record = (records[step] ?? records.at(-1)) as JournalRecord;
      if (!isOfWhole) findings.add(of, record, what);
      else if (!isOfTheRun) continue;
      else if (mayBeCutOff) this.#withheld.add(of, record, what);
      else findings.add(of, record, what);
    }
    const overdrawn = this.#share?.holds(this.judge.facts.places);
    if (overdrawn !== undefined) findings.add('K6', records.at(-1) as JournalRecord, overdrawn);
    if (divergence !== undefined) findings.addLate('divergent', divergence.record, this.#withVersion(divergence.what));
  }

  /** Whether its last group lacks records, as far as it has gone. */
  get isCutOff(): boolean {
    return !this.#withheld.isEmpty || this.replay?.isCutOff === true;
  }

  /** Why it has ended, as the machines have it. */
  get reason(): string | undefined {
    return this.replay === undefined || this.replay.hasParted
      ? undefined
      : this.replay.composition.session.context.reason;
  }

  /** Nothing can come of it any more, and nothing is missing. */
  end(findings: Findings): void {
    this.#withheld.tell(findings);
  }

  /** It is let go of. */
  leave(): void {
    this.#share?.leave();
  }

  /** A recovery steps no machine. */
  #isOfTheRun([first]: readonly JournalRecord[]): boolean {
    return first?.event !== 'recovered';
  }

  #withVersion(what: string): string {
    if (this.#writtenBy === machinesVersion) return what;
    return `${what} (written by version ${this.#writtenBy} of the machines, replayed by version ${machinesVersion})`;
  }
}
