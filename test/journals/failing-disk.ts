/** Disks that fail, or stop, where a test wants them to: the real one, with a hand on it. */
import { type Disk, type DiskFile, nodeDisk } from '../../src/journals/file/disk.js';

/** What a disk is asked for, in the order in which a journal asks. */
export type Operation = 'open' | 'write' | 'sync' | 'truncate' | 'rename' | 'remove' | 'syncFolder';

/** Is told before each operation; what it throws, the disk throws, and what it waits for, the disk waits for. */
export type Hand = (operation: Operation, path: string) => void | Promise<void>;

/** An error of the system. */
export class SystemError extends Error {
  override readonly name = 'SystemError';
  constructor(readonly code: string) {
    super(`${code}: as the test wants it`);
  }
}

/** `mostAtOnce`: how many bytes a write takes, at most. */
export function diskWith(hand: Hand, mostAtOnce = Number.POSITIVE_INFINITY): Disk {
  return {
    async open(path, mode) {
      await hand('open', path);
      const file = await nodeDisk.open(path, mode);
      return file && fileWith(file, path, hand, mostAtOnce);
    },
    async rename(from, to) {
      await hand('rename', from);
      await nodeDisk.rename(from, to);
    },
    async remove(path) {
      await hand('remove', path);
      await nodeDisk.remove(path);
    },
    async syncFolder(path) {
      await hand('syncFolder', path);
      await nodeDisk.syncFolder(path);
    },
  };
}

function fileWith(file: DiskFile, path: string, hand: Hand, mostAtOnce: number): DiskFile {
  return {
    size: () => file.size(),
    read: (bytes, offset, length, position) => file.read(bytes, offset, length, position),
    async write(bytes, offset, length, position) {
      await hand('write', path);
      return file.write(bytes, offset, Math.min(length, mostAtOnce), position);
    },
    async sync() {
      await hand('sync', path);
      await file.sync();
    },
    async truncate(size) {
      await hand('truncate', path);
      await file.truncate(size);
    },
    close: () => file.close(),
  };
}

/** A disk whose operations of one kind wait until they are let go. */
export class Gate {
  #waiting: (() => void)[] = [];
  #isOpen = true;

  shut(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  pass(): Promise<void> | void {
    if (this.#isOpen) return;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
