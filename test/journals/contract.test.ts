import { join } from 'node:path';
import { memoryJournal } from '../../src/journal/index.js';
import { type FileJournalOptions, fileJournal } from '../../src/journals/file/index.js';
import { sqliteJournal } from '../../src/journals/sqlite/index.js';
import { type Closable, journalContract, type Kind } from './contract.js';
import { makeFolder, removeFolder } from './folder.js';
import { hasSqlite } from './sqlite.js';

journalContract('in memory', { make: async () => memoryJournal() });
journalContract('a durable file', inFile({}));
journalContract('a file that is not durable', inFile({ durable: false }));

// where Node has none, the contract has nothing to hold: see sqlite-journal.test.ts
if (hasSqlite) {
  journalContract('durable SQLite', inSqlite({}));
  journalContract('SQLite that is not durable', inSqlite({ durable: false }));
}

function inFile(options: FileJournalOptions): Kind {
  return inFolder((path) => fileJournal(path, options));
}

function inSqlite(options: FileJournalOptions): Kind {
  return inFolder((path) => sqliteJournal(path, options));
}

function inFolder(openAt: (path: string) => Promise<Closable>): Kind {
  let folder = '';
  const open = () => openAt(join(folder, 'run.journal'));
  return {
    async make() {
      folder = await makeFolder();
      return open();
    },
    reopen: open,
    clean: () => removeFolder(folder),
  };
}
