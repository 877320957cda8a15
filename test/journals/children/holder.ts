/** Opens a journal, writes a record that is durable and one that is not, says so, and holds it until it is killed. */
import { fileJournal } from '../../../src/journals/file/index.js';
import { entry } from '../../journal/records.js';

const journal = await fileJournal(process.argv[2] ?? '');
journal.append(entry(1));
await journal.flush();
console.log(process.pid);
setInterval(() => {}, 1_000);
