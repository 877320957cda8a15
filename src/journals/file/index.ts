/** A journal in a file; docs/design/journal.md, *Files*. */
export type { Compaction, CompactOptions } from '../../journal/compaction.js';
export { FileJournal } from './file-journal.js';
export { fileJournal, readJournalFile } from './open-file.js';
export type { FileJournalOptions } from './options.js';
