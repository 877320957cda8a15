import { join } from 'node:path';
import { memoryJournal } from '../../src/journal/index.js';
import { type FileJournalOptions, fileJournal } from '../../src/journals/file/index.js';
import { journalContract, type Kind } from './contract.js';
import { makeFolder, removeFolder } from './folder.js';

journalContract('in memory', { make: async () => memoryJournal() });
journalContract('a durable file', inFile({}));
journalContract('a file that is not durable', inFile({ durable: false }));

function inFile(options: FileJournalOptions): Kind {
  let folder = '';
  const open = () => fileJournal(join(folder, 'run.journal'), options);
  return {
    async make() {
      folder = await makeFolder();
      return open();
    },
    reopen: open,
    clean: () => removeFolder(folder),
  };
}
