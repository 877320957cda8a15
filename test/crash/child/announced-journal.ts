/** The file journal, with the commit points on the way through it. */
import type { Journal, JournalEntry, JournalRecord } from '../../../src/contract/journal.js';
import type { FileJournal } from '../../../src/journals/file/index.js';
import type { Intent } from '../points.js';
import type { Points } from './points.js';
import type { SideEffects } from './side-effects.js';

export class AnnouncedJournal implements Journal {
  readonly durable = true;
  readonly payloads = 'keep';
  readonly #journal: FileJournal;
  readonly #points: Points;
  readonly #effects: SideEffects;
  #last: Intent | undefined;

  constructor(journal: FileJournal, points: Points, effects: SideEffects) {
    this.#journal = journal;
    this.#points = points;
    this.#effects = effects;
  }

  append(entry: JournalEntry): number {
    const intent = intentIn(entry);
    if (intent === undefined) return this.#journal.append(entry);
    this.#points.at(intent, 'before the record is appended');
    const seq = this.#journal.append(entry);
    this.#last = intent;
    this.#points.at(intent, 'when it is appended');
    return seq;
  }

  flush(): Promise<void> {
    const intent = this.#last;
    const flushed = this.#journal.flush();
    if (intent !== undefined) this.#points.at(intent, 'when its flush is asked for');
    return flushed.then(() => {
      this.#effects.noteDurable();
      if (intent !== undefined) this.#points.at(intent, 'when it is durable');
    });
  }

  read(): AsyncIterable<JournalRecord> {
    return this.#journal.read();
  }
}

/** What a record makes durable. */
function intentIn({ kind, to, did }: JournalEntry): Intent | undefined {
  if (kind === 'transaction') return to === 'committed' ? 'commit' : undefined;
  for (const { effect, detail } of did) {
    if (effect === 'flush') return detail === 'start' ? 'start' : 'publish';
    if (effect === 'tellLate') return 'notice';
  }
  return undefined;
}
