/** A journal in a file; docs/design/journal.md, *Files*. */
export type { Compaction, CompactOptions } from '../../journal/compaction.js';
export type { StoreOptions as FileJournalOptions } from '../options.js';
export { FileJournal } from './file-journal.js';
export { fileJournal, readJournalFile } from './open-file.js';
