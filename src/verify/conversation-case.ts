/** One conversation of a journal: its judge, and its replay. */
import { machinesVersion } from '../../machines/index.js';
import type { ConversationBegan, JournalRecord } from '../contract/journal.js';
import { conversationGroupOf, startIn } from './conversation-records.js';
import { ConversationJudge } from './invariants/index.js';
import type { RecordGroup } from './record-groups.js';
import { ConversationReplay } from './replay/conversation-replay.js';
import { mayLackRecords } from './replay/session-replay.js';
import { type Findings, Withheld } from './verdict.js';

export class ConversationCase {
  readonly judge: ConversationJudge;
  /** `undefined` where nobody wants it. */
  readonly replay: ConversationReplay | undefined;
  readonly #writtenBy: number;
  readonly #withheld = new Withheld();

  /** @throws {InvalidInputError} for a mode or a policy that there is not */
  constructor(id: string, first: JournalRecord, began: ConversationBegan, replays: boolean, keepsState: boolean) {
    this.judge = new ConversationJudge(startIn(first));
    this.replay = replays ? new ConversationReplay(id, first, began, keepsState) : undefined;
    this.#writtenBy = began.machines;
  }

  take(group: RecordGroup, findings: Findings): void {
    const { records } = group;
    // it goes on: the group before was not cut off
    this.#withheld.tell(findings);
    const divergence = this.replay?.take(group);
    const mayBeCutOff = mayLackRecords(this.replay, group, divergence);
    const judged = conversationGroupOf(records);
    if (judged === undefined) {
      findings.add('structure', records[0] as JournalRecord, 'a conversation moves, and what it took is not recorded');
      return;
    }
    for (const { of, what, step, isOfWhole } of this.judge.take(judged)) {
      const record = (records[step] ?? records.at(-1)) as JournalRecord;
      if (isOfWhole && mayBeCutOff) this.#withheld.add(of, record, what);
      else findings.add(of, record, what);
    }
    if (divergence === undefined) return;
    const by = `written by version ${this.#writtenBy} of the machines, replayed by version ${machinesVersion}`;
    const { record, what } = divergence;
    findings.addLate('divergent', record, this.#writtenBy === machinesVersion ? what : `${what} (${by})`);
  }
}
