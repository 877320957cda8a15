/** Opens a journal, writes a record, and comes to its end without a flush or a close. */
import { fileJournal } from '../../../src/journals/file/index.js';
import { entry } from '../../journal/records.js';

const journal = await fileJournal(process.argv[2] ?? '');
journal.append(entry(1));
