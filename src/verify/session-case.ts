/** One session of a journal: its judge, and its replay. */
import { machinesVersion } from '../../machines/index.js';
import type { JournalRecord, SessionBegan } from '../contract/journal.js';
import { SessionJudge } from './invariants/index.js';
import type { RecordGroup } from './record-groups.js';
import { SessionReplay } from './replay/session-replay.js';
import { sessionGroupOf } from './session-records.js';
import type { Findings } from './verdict.js';

export class SessionCase {
  readonly judge: SessionJudge;
  /** `undefined` where nobody wants it. */
  readonly replay: SessionReplay | undefined;
  readonly #writtenBy: number;

  constructor(began: SessionBegan, replays: boolean) {
    this.judge = new SessionJudge(began);
    this.replay = replays ? new SessionReplay(began) : undefined;
    this.#writtenBy = began.machines;
  }

  take(group: RecordGroup, findings: Findings): void {
    const { records } = group;
    const isOfTheRun = this.#isOfTheRun(records);
    // the machines say whether the last group of a journal has all its records
    const divergence = isOfTheRun ? this.replay?.take(group) : undefined;
    const mayBeCutOff = this.replay === undefined || this.replay.hasParted || this.replay.isCutOff;
    // a recovery finds what a group that was cut off has left
    const isCutOff = !isOfTheRun || (group.isCutOff && mayBeCutOff);
    for (const { of, what, step } of this.judge.take(sessionGroupOf(group, isCutOff))) {
      findings.add(of, (records[step] ?? records.at(-1)) as JournalRecord, what);
    }
    if (divergence !== undefined) findings.add('divergent', divergence.record, this.#withVersion(divergence.what));
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
