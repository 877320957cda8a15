/** The conversations of a journal, each judged as its records come. */
import { isCommitpointError } from '../contract/errors.js';
import type { ConversationBegan, JournalRecord } from '../contract/journal.js';
import { ConversationCase } from './conversation-case.js';
import { problemOfBeginning } from './invariants/recorded-acts.js';
import { Lives } from './lives.js';
import type { RecordGroup } from './record-groups.js';
import type { Findings } from './verdict.js';

/** What is wanted of them. */
export interface ConversationWants {
  readonly replays: boolean;
  /** What their inputs come to, where they were kept. */
  readonly keepsState: boolean;
  readonly maxLingering: number;
}

export class Conversations {
  readonly lives: Lives<ConversationCase>;
  readonly #findings: Findings;
  readonly #wants: ConversationWants;
  begun = 0;
  transactions = 0;
  unfinished = 0;
  unfinishedTransactions = 0;

  constructor(findings: Findings, wants: ConversationWants, gone?: (id: string, one: ConversationCase) => void) {
    this.#findings = findings;
    this.#wants = wants;
    this.lives = new Lives(wants.maxLingering, gone);
  }

  /** Takes a group; gives whether it is of a conversation that is known, or that begins. */
  take(group: RecordGroup): boolean {
    const { owner, records } = group;
    const first = records[0] as JournalRecord;
    if (first.kind === 'conversation' && first.event === '') {
      const { data } = first;
      if (data !== undefined && 'conversation' in data) this.#begin(owner, first, data.conversation);
      else this.#findings.add('structure', first, 'a conversation begins, and its rules are not recorded');
      return true;
    }
    const conversation = this.lives.find(owner);
    if (conversation === undefined) return false;
    for (const { kind, event } of records) if (kind === 'transaction' && event === '') this.transactions++;
    conversation.take(group, this.#findings);
    // another request may come at any time: one that waits for it is kept as long as there is room
    if (conversation.judge.facts.isIdle) this.lives.linger(owner, conversation);
    else this.lives.wake(owner, conversation);
    return true;
  }

  /** The journal is over. */
  finish(): void {
    for (const [, { judge }] of this.lives.live) this.#countUnfinished(judge.facts);
  }

  #begin(id: string, first: JournalRecord, began: ConversationBegan): void {
    this.begun++;
    const { replays, keepsState } = this.#wants;
    const problem = problemOfBeginning(first.did);
    if (problem !== undefined) this.#findings.add('structure', first, problem);
    try {
      const conversation = new ConversationCase(id, first, began, replays, keepsState);
      const before = this.lives.begin(id, conversation);
      if (before !== undefined) this.#countUnfinished(before.judge.facts);
    } catch (thrown) {
      if (!isCommitpointError(thrown)) throw thrown;
      this.#findings.add('structure', first, thrown.message);
    }
  }

  #countUnfinished({ levels, streams }: ConversationCase['judge']['facts']): void {
    this.unfinishedTransactions += levels.length;
    for (const { phase } of streams.values()) {
      if (phase !== 'streaming') continue;
      this.unfinished++;
      return;
    }
  }
}
