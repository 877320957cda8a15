/** A journal in a file; docs/design/journal.md, *Files*. */
export { FileJournal, type FileJournalOptions } from './file-journal.js';
export { fileJournal, readJournalFile } from './open-file.js';
