/** The conversations of a journal, as their records tell of them: of each what was committed, and no more than one state. */
import type { JournalRecord } from '../../contract/journal.js';
import type { RecoveredConversation } from '../../conversation/index.js';
import { JournalFold } from '../../conversation/journal-fold.js';

export class RememberedConversations {
  readonly #folds = new Map<string, JournalFold>();

  /** @throws {JournalDamagedError} for a record that cannot be one of its conversation, @throws {JournalFormatError} for one of newer machines */
  take(record: JournalRecord): void {
    const { kind, actor } = record;
    // of one whose beginning is no longer held nothing can be said
    if (kind === 'conversation' && record.event === '') this.#foldOf(actor).take(record);
    else if (kind === 'conversation') this.#folds.get(actor)?.take(record);
    // the id of a conversation may have any character
    else if (kind === 'transaction') this.#folds.get(actor.slice(0, actor.lastIndexOf('/')))?.take(record);
  }

  /** In order of their beginning. */
  recovered(): readonly RecoveredConversation[] {
    return [...this.#folds.values()].map((fold) => fold.recovered());
  }

  #foldOf(id: string): JournalFold {
    let fold = this.#folds.get(id);
    if (fold === undefined) {
      fold = new JournalFold(id);
      this.#folds.set(id, fold);
    }
    return fold;
  }
}
