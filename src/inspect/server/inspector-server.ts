/**
 * The inspector's server: a page on a run, for this machine alone.
 *
 * S1. It listens on 127.0.0.1, and tells nothing of a run without the token.
 * S2. Whatever it is given, what it looks at is not harmed, and nothing of it
 *     grows without a bound: steps, bytes, pages.
 * S3. After `close` nothing is left: no timer, no socket, no observer.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../contract/clock.js';
import { InvalidInputError, messageOf } from '../../contract/errors.js';
import type { Journal, JournalRecord } from '../../contract/journal.js';
import { platformClock } from '../../contract/platform-clock.js';
import { memoryJournal } from '../../journal/index.js';
import type { Frame } from '../view/frames.js';
import { defaultMaxSteps, Presentation, type PresentedRun } from '../view/presentation.js';
import { chartsOfMachines } from './charts.js';
import { History } from './history.js';
import { Listeners } from './listeners.js';
import { pageFiles } from './page-files.js';
import { Site } from './site.js';
import { TeedJournal } from './teed-journal.js';
import { type Watchable, Watcher } from './watcher.js';

/** What `createInspectorServer` takes. */
export interface InspectorServerOptions {
  /** Default 0: any that is free. The address is always 127.0.0.1. */
  readonly port?: number;
  /** What the address has to say. Default: 128 random bits. At least 16 characters of A-Z a-z 0-9 _ -. */
  readonly token?: string;
  /** What the page is headed with. Default: the process by its number. */
  readonly title?: string;
  /** How many steps are kept for whoever comes late. Beyond it the page begins anew. Default 20,000. */
  readonly maxSteps?: number;
  /** How many bytes of frames are kept, in the same way. Default 64 MiB. */
  readonly maxBytes?: number;
  /** How many characters of one text are shown. Default 2000. */
  readonly maxText?: number;
  /** How many pages may listen at a time. Default 8. */
  readonly maxClients?: number;
  /** For times and timers. Default: the platform's. */
  readonly clock?: Clock;
  /** Where the compiled page is. @internal */
  readonly page?: URL;
}

/** How long steps are gathered before they are told: milliseconds. */
const gatherMs = 30;
const defaultMaxBytes = 64 * 1024 * 1024;

/** Made by {@link createInspectorServer}. */
export class InspectorServer {
  /** What to open in a browser: it has the token. Whoever has it sees all that the page shows. */
  readonly url: string;
  readonly #site: Site;
  readonly #history: History;
  readonly #listeners: Listeners;
  readonly #options: InspectorServerOptions;
  readonly #clock: Clock;
  readonly #charts: Awaited<ReturnType<typeof chartsOfMachines>>;
  readonly #watcher = new Watcher(() => this.#process);
  readonly #watched = new Set<() => void>();
  /** What the page shows: the process, until another run is opened. */
  #presentation: Presentation;
  readonly #process: Presentation;
  /** Own numbers of records, over all journals. */
  #seq = 0;
  #timer: unknown;
  #isClosed = false;

  /** Made by {@link createInspectorServer}: a declaration of its parts would ask every host for the types of Node. @internal */
  constructor(parts: object, options: InspectorServerOptions) {
    const { site, history, listeners, token, charts } = parts as ServerParts;
    this.#site = site;
    this.#history = history;
    this.#listeners = listeners;
    this.#options = options;
    this.#clock = options.clock ?? platformClock;
    this.#charts = charts;
    this.url = `http://127.0.0.1:${site.port}/?token=${token}`;
    this.#process = this.#present({ title: options.title ?? `process ${process.pid}`, source: 'process' });
    this.#presentation = this.#process;
  }

  /**
   * A journal whose records are shown on the page as they are written, and judged: hand it to `startSession`, `createConversation`,
   * `createSupervisor`. What is written goes to `inner`, whose payloads decide what its records show of texts and arguments. Default:
   * one in memory that keeps payloads and the last 10,000 records. Of lives that began before what is written here nobody can judge
   * all; the rest is judged.
   */
  journal(inner: Journal = memoryJournal({ payloads: 'keep', maxRecords: 10_000 })): Journal {
    let group = { inner: 0, own: 0 };
    let last = 0;
    return new TeedJournal(inner, (record) => {
      // what stands between was not written here: a gap says so to the judge
      if (record.seq !== last + 1) this.#seq++;
      last = record.seq;
      const seq = ++this.#seq;
      const cause = record.cause === 0 ? 0 : record.cause === group.inner ? group.own : record.cause;
      if (record.cause === 0) group = { inner: record.seq, own: seq };
      this.#recorded({ ...record, seq, cause });
    });
  }

  /**
   * Shows a session, a supervised one, a supervisor with all that it owns, or a conversation: what is said, and every step from now on.
   * Where it writes to a {@link journal} of this server its records are shown; else what its machines do, which nobody can judge. It
   * does not count as a reader. Texts, arguments and outputs are shown as they are, whatever its journal keeps of them: a session
   * whose words nobody may see is not watched, and shown by a journal alone. Gives what ends that.
   *
   * @throws {InvalidInputError} for what cannot be inspected
   */
  watch(target: Watchable): () => void {
    if (typeof (target as Watchable | null | undefined)?.inspect !== 'function') {
      throw new InvalidInputError('target', 'a session, a supervisor or a conversation', target);
    }
    if (this.#isClosed) return () => {};
    let hasEnded = false;
    const end = () => {
      this.#watched.delete(end);
      detach();
    };
    const detach = this.#watcher.watch(target, () => {
      // nothing of it is kept
      hasEnded = true;
      this.#watched.delete(end);
    });
    if (!hasEnded) this.#watched.add(end);
    return end;
  }

  /**
   * Shows another run instead of the process, of which nothing is shown from then on: all of it, to its end. Rejects as the run does;
   * what was told of it before is shown. A server that was closed opens nothing.
   */
  async open(run: PresentedRun): Promise<void> {
    if (this.#isClosed) return;
    this.#presentation.leave();
    const presentation = this.#present(run);
    this.#presentation = presentation;
    try {
      presentation.end(await run.run(presentation));
    } catch (thrown) {
      presentation.end(messageOf(thrown));
      throw thrown;
    }
  }

  /** Ends the page and every connection, and detaches from all that is watched. Resolves when nothing is left. Calling it again does nothing. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      for (const end of this.#watched) end();
      this.#presentation.end('the inspector was closed');
      this.#clock.clearTimeout(this.#timer);
      this.#listeners.close();
    }
    await this.#site.close();
  }

  #present({ title, source }: Pick<PresentedRun, 'title' | 'source'>): Presentation {
    const { maxSteps = defaultMaxSteps, maxText } = this.#options;
    return new Presentation({
      title,
      source,
      isLive: source === 'process',
      charts: this.#charts,
      now: () => this.#clock.now(),
      maxSteps,
      ...(maxText === undefined ? {} : { maxText }),
      isTooMuch: () => this.#isTooMuch,
      onSteps: () => this.#gather(),
      onFrame: (frame) => this.#tell(frame),
    });
  }

  #recorded(record: JournalRecord): void {
    const { event, kind, actor } = record;
    // a store of the host's may take what is no record
    if (this.#isClosed || typeof actor !== 'string') return;
    if (event === '' && kind !== 'call' && kind !== 'transaction') this.#watcher.recorded(actor);
    this.#process.record(record);
  }

  get #isTooMuch(): boolean {
    const { maxBytes = defaultMaxBytes } = this.#options;
    return this.#history.bytes > maxBytes && this.#history.size > 2;
  }

  #gather(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      try {
        if (this.#isTooMuch) this.#presentation.startOver();
        this.#presentation.flush();
      } catch {
        // what cannot be told harms nobody; whoever looks sees that steps are missing
      }
    }, gatherMs);
  }

  #tell(frame: Frame): void {
    this.#history.add(frame);
  }
}

interface ServerParts {
  readonly site: Site;
  readonly history: History;
  readonly listeners: Listeners;
  readonly token: string;
  readonly charts: Awaited<ReturnType<typeof chartsOfMachines>>;
}

/**
 * Starts a server whose page shows what happens in this process: who lives, in which state, what was said and called, and which
 * invariant is broken. It is for development: it listens on 127.0.0.1 alone, shows what the journal keeps and what sessions say to
 * whoever has its {@link InspectorServer.url}, and keeps the process alive until it is closed.
 *
 * Rejects with an `InvalidInputError` for an option that is none, and for a port that is not to be had.
 */
export async function createInspectorServer(options: InspectorServerOptions = {}): Promise<InspectorServer> {
  const { port = 0, token = randomBytes(16).toString('hex'), maxClients = 8, clock = platformClock } = options;
  assertInteger('port', port, 0, 65_535);
  assertInteger('maxClients', maxClients, 1, 1000);
  assertInteger('maxSteps', options.maxSteps ?? defaultMaxSteps, 10, 1_000_000);
  assertInteger('maxBytes', options.maxBytes ?? defaultMaxBytes, 1, Number.MAX_SAFE_INTEGER);
  assertInteger('maxText', options.maxText ?? 2000, 10, 1_000_000);
  if (!/^[\w-]{16,200}$/.test(token)) {
    throw new InvalidInputError('option token', '16 to 200 characters of A-Z a-z 0-9 _ -', token);
  }
  const charts = await chartsOfMachines();
  const files = await pageFiles(options.page ?? new URL('../page/', import.meta.url));
  const history = new History();
  const listeners = new Listeners(history, clock, maxClients);
  let site: Site;
  try {
    site = await Site.open({ port, token, files, listeners, maxClients });
  } catch (thrown) {
    throw new InvalidInputError('option port', `a port that can be had (${messageOf(thrown)})`, port);
  }
  const parts: ServerParts = { site, history, listeners, token, charts };
  return new InspectorServer(parts, options);
}

function assertInteger(option: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return;
  throw new InvalidInputError(`option ${option}`, `an integer from ${least} to ${most}`, value);
}
