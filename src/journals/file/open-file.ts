import { isCommitpointError, JournalFailedError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { assertOptions, type StoreOptions } from '../options.js';
import { realPathOf } from '../real-path.js';
import { WriterLock } from '../writer-lock.js';
import { makingOf } from './compact-file.js';
import { type Disk, type DiskFile, nodeDisk, writeAll } from './disk.js';
import { FileJournal, type OpenedFile } from './file-journal.js';
import { header } from './format.js';
import { FrameReader } from './frame-reader.js';
import { openToRead, recordsOf } from './record-stream.js';

/**
 * Opens a journal in a file, or makes one, to write it. It is read through once: a torn tail is cut off, and `seq` goes on. Its
 * lock is a file of the same name with `.lock` behind it.
 *
 * Close it when the process ends by itself: what was appended and not flushed may otherwise be lost.
 *
 * @throws {JournalLockedError} when another has it open to write
 * @throws {JournalFormatError} when the file is empty, no journal, or one of a newer format
 * @throws {JournalDamagedError} when a record in the middle is damaged: the file is left as it is
 * @throws {JournalFailedError} when the file cannot be opened, made or written
 * @throws {InvalidInputError} when an option is not what its type says
 */
export async function fileJournal(path: string, options: StoreOptions = {}): Promise<FileJournal> {
  return openFileJournal(path, options, nodeDisk);
}

/** {@link fileJournal} on a disk, and with a clock, that were handed in. */
export async function openFileJournal(
  path: string,
  options: StoreOptions,
  disk: Disk,
  now?: () => number,
): Promise<FileJournal> {
  assertOptions(options);
  try {
    const real = await realPathOf(path);
    const lock = await WriterLock.acquire(real, now);
    try {
      return new FileJournal(await openFile(real, disk, lock), options);
    } catch (thrown) {
      await lock.release();
      throw thrown;
    }
  } catch (thrown) {
    throw isCommitpointError(thrown) ? thrown : new JournalFailedError(path, thrown);
  }
}

/**
 * The records of a journal in a file, from the first on, as far as they are there when it is first asked. No lock is needed: another
 * may write meanwhile. A torn tail is left out.
 *
 * @throws (when iterated) {@link JournalDamagedError} with the offset, after all that is sound before it was given;
 *   {@link JournalFormatError} when the file is empty, no journal, or one of a newer format; {@link UnreadableFileError} when it
 *   cannot be opened
 */
export function readJournalFile(path: string): AsyncIterableIterator<JournalRecord> {
  return recordsOf(path, () => openToRead(path, nodeDisk));
}

async function openFile(path: string, disk: Disk, lock: WriterLock): Promise<OpenedFile> {
  const making = makingOf(path);
  // of a crash while it was made, or made smaller
  await disk.remove(making);
  const found = await disk.open(path, 'write');
  const file = found ?? (await makeFile(path, making, disk));
  try {
    const reader = new FrameReader(file, path);
    await reader.open();
    while (await reader.next(ignore));
    if (await reader.hasTail()) {
      await file.truncate(reader.soundEnd);
      await file.sync();
    }
    return { path, disk, lock, file, end: reader.soundEnd, lastSeq: reader.lastSeq };
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** Under another name first: a file of this name is a journal, whenever the power goes. */
async function makeFile(path: string, making: string, disk: Disk): Promise<DiskFile> {
  const file = await disk.open(making, 'create');
  if (file === undefined) throw new JournalFailedError(path, 'the file was not made');
  try {
    await writeAll(file, header, 0, header.length, 0);
    await file.sync();
    await disk.rename(making, path);
    await disk.syncFolder(path);
    return file;
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

const ignore = () => {};
