/**
 * Opens a journal, writes and closes it, again and again, beside others that do the same. Between the open and the close it
 * holds a file that can be made once only. Prints how often it had the journal.
 */
import { rm, writeFile } from 'node:fs/promises';
import { isCommitpointError } from '../../../src/contract/errors.js';
import { fileJournal } from '../../../src/journals/file/index.js';
import { entry } from '../../journal/records.js';

const [path = '', rounds = ''] = process.argv.slice(2);
const alone = `${path}.alone`;
let held = 0;
while (held < Number(rounds)) {
  let journal: Awaited<ReturnType<typeof fileJournal>>;
  try {
    journal = await fileJournal(path, { durable: false });
  } catch (thrown) {
    if (isCommitpointError(thrown) && thrown.code === 'journal_locked') continue;
    throw thrown;
  }
  await writeFile(alone, String(process.pid), { flag: 'wx' });
  journal.append(entry(process.pid));
  await journal.flush();
  await rm(alone);
  await journal.close();
  held++;
}
console.log(held);
