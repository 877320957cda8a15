/**
 * What a file journal needs of a disk, so that a test can hand it one that
 * fails. Positions and lengths are bytes; whatever goes wrong is thrown as the
 * system says it.
 */
import { constants, type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file that is open. */
export interface DiskFile {
  size(): Promise<number>;
  /** Reads into `bytes` from `offset` on; gives how many there were, 0 at the end of the file. */
  read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Writes from `offset` on; gives how many were written, which may be fewer. */
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Settles when what was written would survive a power cut. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** Where files are. */
export interface Disk {
  /** `undefined` when there is no such file. `create` makes one, or empties the one that is there. */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<DiskFile | undefined>;
  /** Puts a file where another is, at once. */
  rename(from: string, to: string): Promise<void>;
  /** It is no fault when there is none. */
  remove(path: string): Promise<void>;
  /** Settles when the names in the folder of `path` would survive a power cut. */
  syncFolder(path: string): Promise<void>;
}

const flags = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
};

/** The code of an error of the system. */
export function systemCode(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
}

class NodeFile implements DiskFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  async read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return (await this.#handle.read(bytes, offset, length, position)).bytesRead;
  }

  async write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return (await this.#handle.write(bytes, offset, length, position)).bytesWritten;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** The disk of this machine. */
export const nodeDisk: Disk = {
  async open(path, mode) {
    try {
      return new NodeFile(await open(path, flags[mode], 0o644));
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOENT' && mode !== 'create') return undefined;
      throw thrown;
    }
  },
  rename,
  async remove(path) {
    try {
      await unlink(path);
    } catch (thrown) {
      if (systemCode(thrown) !== 'ENOENT') throw thrown;
    }
  },
  async syncFolder(path) {
    // Windows opens no folders, and keeps names without being asked
    if (process.platform === 'win32') return;
    const folder = await open(dirname(path), constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
};

/** Writes all of `bytes` from `start` to `end`, however few are taken at a time. */
export async function writeAll(
  file: DiskFile,
  bytes: Uint8Array,
  start: number,
  end: number,
  position: number,
): Promise<void> {
  for (let at = start; at < end; ) {
    const written = await file.write(bytes, at, end - at, position + at - start);
    if (written === 0) throw new NothingTaken();
    at += written;
  }
}

/** A disk that takes nothing and says nothing; the cause of a `JournalFailedError`. */
class NothingTaken extends Error {
  override readonly name = 'NothingTaken';
  constructor() {
    super('the disk took none of the bytes');
  }
}
