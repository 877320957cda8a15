/**
 * One writer at a time, across processes: a file beside the journal says who
 * writes. Node has no lock that the system gives up with the process, so a lock
 * whose holder is gone is taken over.
 *
 * Invariants kept here:
 *
 * W1. Two that live never hold the lock of one journal: the name of the lock is
 *     made by a hard link, which one of many can make; a lock that is left over
 *     is replaced only by who holds the one name of its succession
 *     (`after-TOKEN`), and only while it is still there.
 * W2. A holder that died does not lock for ever. On one machine, and in one
 *     container, the system says whether a process runs, and when it began: a
 *     process that has the number of a dead one is another one, and a zombie is
 *     dead. Of any other, what counts is the sign of life that every holder gives.
 * W3. A holder that was stopped for so long that another may have taken its lock
 *     looks before it writes again.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, readFile, readlink, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { JournalFailedError, JournalLockedError } from '../contract/errors.js';

/** How often a holder gives a sign of life, and after how long without one it counts as gone where it cannot be asked for. */
const beatMs = 2_000;
const leaseMs = 10_000;
const attempts = 100;

/** Who holds a lock. */
interface Holder {
  /** Of this holding; none is used twice. */
  readonly token: string;
  readonly pid: number;
  readonly host: string;
  /** The run of the machine and the container that the number belongs to; empty where the system does not say. */
  readonly realm: string;
  /** When the process began, in the machine's own count; empty where the system does not say. */
  readonly began: string;
}

/** The right to write a journal. */
export class WriterLock {
  readonly #path: string;
  readonly #journal: string;
  readonly #self: Holder;
  readonly #file: FileHandle;
  readonly #beats: NodeJS.Timeout;
  readonly #now: () => number;
  #lastBeat: number;

  private constructor(path: string, journal: string, self: Holder, file: FileHandle, now: () => number) {
    this.#now = now;
    this.#lastBeat = now();
    this.#path = path;
    this.#journal = journal;
    this.#self = self;
    this.#file = file;
    this.#beats = setInterval(() => this.#beat(), beatMs);
    this.#beats.unref();
  }

  /**
   * Takes the lock of a journal. `now` gives the milliseconds by which its holder knows that it was stopped for long.
   *
   * @throws {JournalLockedError} when another holds it
   */
  static async acquire(journal: string, now: () => number = Date.now): Promise<WriterLock> {
    const path = `${journal}.lock`;
    const self = await ownIdentity();
    const candidate = `${path}.${self.token}`;
    // the file that the name of the lock will lead to
    const file = await open(candidate, 'wx');
    try {
      await file.write(textOf(self), 0);
      const made = (await file.stat()).mtimeMs;
      for (let attempt = 0; attempt < attempts; attempt++) {
        if (await isTaken(path, candidate, journal, made)) return new WriterLock(path, journal, self, file, now);
      }
      throw new JournalLockedError(journal, 'others, who open and close it all the time');
    } catch (thrown) {
      await file.close();
      throw thrown;
    } finally {
      await unlink(candidate).catch(ignoreMissing);
    }
  }

  /** Whether it may have been lost without our seeing it. */
  get isOverdue(): boolean {
    const since = this.#now() - this.#lastBeat;
    // a clock that was set back says nothing
    return since > leaseMs / 2 || since < 0;
  }

  /** @throws {JournalLockedError} when another has taken the lock */
  async assertHeld(): Promise<void> {
    const holder = await holderAt(this.#path);
    if (holder?.token !== this.#self.token) throw new JournalLockedError(this.#journal, nameOf(holder));
    this.#beat();
  }

  /** Gives it up. Another may hold it then. */
  async release(): Promise<void> {
    clearInterval(this.#beats);
    await this.#file.close();
    if ((await holderAt(this.#path))?.token === this.#self.token) await unlink(this.#path).catch(ignoreMissing);
  }

  /** The same bytes again: what counts is when. */
  #beat(): void {
    this.#file.write(textOf(this.#self), 0).then(
      () => {
        this.#lastBeat = this.#now();
      },
      // no sign was given: the lock is overdue then, and looked at before the next write
      () => {},
    );
  }
}

/**
 * Tries once to become the holder, by the name of the lock or along the names of the successions that others died in. `false`:
 * somebody moved meanwhile, try again.
 */
async function isTaken(path: string, candidate: string, journal: string, now: number): Promise<boolean> {
  const dead: { readonly name: string; readonly token: string }[] = [];
  let name = path;
  for (;;) {
    if (await isLinked(candidate, name)) {
      if (name === path) return true;
      // whoever died was still there when its succession was taken, or somebody else has succeeded already
      for (const one of dead) {
        if ((await holderAt(one.name))?.token === one.token) continue;
        await unlink(name);
        return false;
      }
      await rename(name, path);
      for (const one of dead.slice(1)) await unlink(one.name).catch(ignoreMissing);
      return true;
    }
    const holder = await holderAt(name);
    if (holder === undefined) return false;
    if (await isAlive(holder, name, now)) throw new JournalLockedError(journal, nameOf(holder));
    dead.push({ name, token: holder.token });
    name = `${path}.after-${holder.token}`;
  }
}

async function isLinked(candidate: string, name: string): Promise<boolean> {
  try {
    await link(candidate, name);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw new JournalFailedError(name, thrown);
  }
}

/** Who holds the lock of this name; `undefined` when there is none. */
async function holderAt(name: string): Promise<Holder | undefined> {
  let text: string;
  try {
    text = await readFile(name, 'utf8');
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  return holderIn(text);
}

/** What a file says that is no lock of ours, or was lost in a power cut: nobody that can be asked for. */
function holderIn(text: string): Holder {
  const unknown: Holder = { token: 'unknown', pid: 0, host: '', realm: '', began: '' };
  try {
    const { token, pid, host, realm, began } = JSON.parse(text) as Record<string, unknown>;
    if (typeof token !== 'string' || !/^[\w-]+$/.test(token) || typeof pid !== 'number') return unknown;
    return { token, pid, host: String(host), realm: String(realm), began: String(began) };
  } catch {
    return unknown;
  }
}

async function isAlive(holder: Holder, name: string, now: number): Promise<boolean> {
  const here = await ownIdentity();
  if (holder.host !== here.host || holder.realm !== here.realm || holder.pid <= 0) return hasBeaten(name, now);
  try {
    process.kill(holder.pid, 0);
  } catch (thrown) {
    // a process of another user may not be sent anything, and runs
    if (codeOf(thrown) !== 'EPERM') return false;
  }
  const began = await beganOf(holder.pid);
  return began === 'gone' ? false : began === '' || holder.began === '' || began === holder.began;
}

async function hasBeaten(name: string, now: number): Promise<boolean> {
  try {
    return now - (await stat(name)).mtimeMs < leaseMs;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
}

async function ownIdentity(): Promise<Holder> {
  const { pid } = process;
  return { token: randomUUID(), pid, host: hostname(), realm: await realm(), began: await beganOf(pid) };
}

async function realm(): Promise<string> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

const zombies = new Set(['Z', 'X', 'x']);

/** When a process began; `gone` when it is dead and not yet buried, empty where the system does not say. */
async function beganOf(pid: number): Promise<string> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
  // behind the command's name, which may hold anything: the state is the first field, the beginning the twentieth
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return zombies.has(fields[0] ?? '') ? 'gone' : (fields[19] ?? '');
}

function nameOf(holder: Holder | undefined): string {
  if (holder === undefined) return 'nobody: the lock was removed';
  if (holder.pid === process.pid && holder.host === hostname()) return `this process (pid ${holder.pid})`;
  if (holder.pid <= 0) return 'somebody whose name cannot be read';
  return `process ${holder.pid} on ${holder.host}`;
}

function textOf(holder: Holder): string {
  return `${JSON.stringify(holder)}\n`;
}

function codeOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
}

function ignoreMissing(thrown: unknown): void {
  if (codeOf(thrown) !== 'ENOENT') throw thrown;
}
