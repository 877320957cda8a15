/**
 * From living actors to a page that inspects them: XState's inspection events,
 * gathered, bounded and sent in the words of `@statelyai/inspect`.
 *
 * B1. The observer throws nothing, sends nothing and waits for nothing: within a
 *     step an event is only written down.
 * B2. Actors are observed while a page may still read of them: not before there
 *     is a socket to send to, and not after it has closed.
 * B3. What waits is bounded in number and in bytes. Where messages had to be
 *     dropped, the page is told how many, and then of all that lives anew.
 * B4. Actors are announced, parents first, each time that a socket is connected.
 * B5. Nothing of a host (socket, function, clock, redaction, a value that is
 *     read) harms an actor or another target.
 */
import type { InspectionEvent } from 'xstate';
import type { InspectionObserver } from '../../contract/inspector.js';
import { MessageWriter, type Written } from './messages.js';
import { assertSocket, type BridgeSettings, type InspectionBridgeOptions, settingsOf } from './options.js';
import { FunctionOutlet, type InspectionSocket, type Outlet, SocketOutlet } from './outlet.js';
import { MessageQueue } from './queue.js';

/** What can be inspected: a supervisor, a session, a conversation; also the `system` of an actor of XState's own. */
export interface Inspectable {
  /** Attaches an observer, after it was told of the actors that live, parents first. Gives what detaches it. */
  inspect(observer: InspectionObserver): (() => void) | { unsubscribe(): void };
}

/** What became of the messages of a bridge. */
export interface BridgeCounts {
  /** Messages that wait, and their bytes. */
  readonly queued: number;
  readonly queuedBytes: number;
  /** Messages that the socket or `send` took. */
  readonly sent: number;
  /** Messages that gave way to others, or were left when their socket closed. */
  readonly dropped: number;
  /** What could not be read, written or sent: a getter, `redact`, `send` or the clock threw. */
  readonly failed: number;
}

/** Sends what inspectors see to a page, in the words of the stock inspector. */
export interface InspectionBridge {
  /**
   * For the `inspect` option of a session or a conversation, where a page is to see it from its first event. Prefer
   * {@link watch}: an observer that was handed out cannot be detached, nor its actors announced to a page that comes later.
   */
  readonly observer: (event: InspectionEvent) => void;
  /**
   * Shows what lives in the target, and what happens there from now on. The target is observed while there is a socket.
   * What it gives ends that. Throws what `inspect` of the target throws.
   */
  watch(target: Inspectable): () => void;
  /**
   * Sends to this socket from now on, which is open or connecting, instead of one before; what still waits for that is
   * dropped. All that is watched is announced anew. When to connect again is the host's affair.
   *
   * @throws {InvalidInputError} where it is no WebSocket
   */
  connect(socket: InspectionSocket): void;
  /** Sends what waits, as far as the socket takes it, without waiting for the batch. */
  flush(): void;
  /** Sends what waits as {@link flush} does, drops the rest, detaches from all. The socket is left open. */
  close(): void;
  readonly counts: BridgeCounts;
}

/**
 * Makes a bridge. Nothing is inspected until it watches something, and nothing is kept while there is nobody to send to.
 *
 * @throws {InvalidInputError} where an option is not of the kind or in the range that it must be
 */
export function createInspectionBridge(options: InspectionBridgeOptions = {}): InspectionBridge {
  return new Bridge(settingsOf(options));
}

/** One target, and what detaches from it while it is observed. */
interface Watched {
  readonly target: Inspectable;
  detach: (() => void) | undefined;
}

class Bridge implements InspectionBridge {
  readonly observer = (event: InspectionEvent): void => this.#observe(event);
  readonly #settings: BridgeSettings;
  readonly #writer: MessageWriter;
  readonly #queue: MessageQueue;
  readonly #watched = new Set<Watched>();
  #outlet: Outlet | undefined;
  /** Whether a message may still be sent. */
  #isHeard = false;
  #isClosed = false;
  #isSending = false;
  #timer: unknown;
  #sent = 0;
  #failed = 0;
  /** How much of what was dropped the page knows of. */
  #toldDropped = 0;
  /** What was dropped when all that lives was last announced for it. */
  #mendedDropped = 0;
  /** Whether what waits holds such an announcement: what was dropped for it is not announced again for. */
  #isMending = false;
  /** Seen last: who is attached twice, by the session and by its supervisor, is told of it twice. */
  #last: InspectionEvent | undefined;

  constructor(settings: BridgeSettings) {
    const { redact, maxMessageBytes, maxQueued, maxBytes, socket, send } = settings;
    this.#settings = settings;
    this.#writer = new MessageWriter(redact, maxMessageBytes / 2, () => this.#now());
    this.#queue = new MessageQueue(maxQueued, maxBytes);
    if (socket !== undefined) this.connect(socket);
    else if (send !== undefined) this.#take((watch) => new FunctionOutlet(send, watch));
  }

  get counts(): BridgeCounts {
    const { size, bytes, dropped } = this.#queue;
    return { queued: size, queuedBytes: bytes, sent: this.#sent, dropped, failed: this.#failed };
  }

  watch(target: Inspectable): () => void {
    const watched: Watched = { target, detach: undefined };
    if (this.#isClosed) return () => {};
    this.#watched.add(watched);
    if (this.#isHeard) {
      try {
        this.#attach(watched);
      } catch (thrown) {
        this.#watched.delete(watched);
        throw thrown;
      }
    }
    return () => {
      this.#watched.delete(watched);
      this.#detach(watched);
    };
  }

  connect(socket: InspectionSocket): void {
    assertSocket('socket', socket);
    if (this.#isClosed) return;
    this.#take((watch) => new SocketOutlet(socket, this.#settings.maxBytes, watch));
  }

  flush(): void {
    this.#disarm();
    // what is written down while this is sent, by `send` itself perhaps, leaves with the next batch
    this.#drain(this.#queue.size + 1);
  }

  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    this.#leave();
    this.#watched.clear();
  }

  #observe(event: InspectionEvent): void {
    if (!this.#isHeard || event === this.#last) return;
    this.#last = event;
    try {
      const message = this.#writer.write(event);
      if (message !== undefined) this.#enqueue(message);
    } catch {
      this.#failed++;
    }
  }

  #enqueue(message: Written): void {
    this.#queue.push(message);
    this.#arm(this.#settings.batchMs);
  }

  #take(make: (watch: { opened(): void; gone(): void; failed(): void }) => Outlet): void {
    this.#leave();
    const outlet = make({
      opened: () => this.#arm(0),
      gone: () => this.#leave(),
      failed: () => {
        this.#failed++;
      },
    });
    if (outlet.state === 'gone') {
      outlet.leave();
      return;
    }
    this.#outlet = outlet;
    this.#isHeard = true;
    this.#attachAll();
  }

  /** Nobody listens any more. */
  #leave(): void {
    this.#isHeard = false;
    this.#outlet?.leave();
    this.#outlet = undefined;
    this.#disarm();
    for (const watched of this.#watched) this.#detach(watched);
    this.#queue.clear();
    this.#last = undefined;
    this.#toldDropped = this.#queue.dropped;
    this.#mendedDropped = this.#queue.dropped;
    this.#isMending = false;
  }

  #attachAll(): void {
    for (const watched of this.#watched) {
      try {
        this.#attach(watched);
      } catch {
        this.#failed++;
      }
    }
  }

  #attach(watched: Watched): void {
    this.#detach(watched);
    const attached = watched.target.inspect(this.observer);
    watched.detach = typeof attached === 'function' ? attached : () => attached.unsubscribe();
  }

  #detach(watched: Watched): void {
    const { detach } = watched;
    watched.detach = undefined;
    if (detach === undefined) return;
    try {
      detach();
    } catch {
      this.#failed++;
    }
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#settings;
    try {
      this.#timer = { handle: clock.setTimeout(() => this.#due(), ms) };
    } catch {
      this.#failed++;
    }
  }

  #disarm(): void {
    const timer = this.#timer as { handle: unknown } | undefined;
    this.#timer = undefined;
    if (timer === undefined) return;
    try {
      this.#settings.clock.clearTimeout(timer.handle);
    } catch {
      this.#failed++;
    }
  }

  #now(): number {
    try {
      return this.#settings.clock.now();
    } catch {
      this.#failed++;
      return 0;
    }
  }

  #due(): void {
    this.#timer = undefined;
    this.#drain(this.#settings.batchSize);
  }

  #drain(most: number): void {
    // `send` may call `flush`
    if (this.#isSending) return;
    this.#isSending = true;
    let left = most;
    let state = this.#outlet?.state;
    let isRefused = false;
    while (state === 'open' && left > 0 && !isRefused && this.#hasNext) {
      left--;
      isRefused = this.#sendNext() === 'refused';
      state = this.#outlet?.state;
    }
    this.#isSending = false;
    if (state === undefined) return;
    if (state === 'gone') this.#leave();
    else if (!this.#hasNext) this.#emptied();
    // where it is not open yet, `opened` goes on
    else if (state !== 'later') this.#arm(isRefused || state === 'full' ? this.#settings.batchMs : 0);
  }

  get #untold(): number {
    return this.#queue.dropped - this.#toldDropped;
  }

  get #hasNext(): boolean {
    return this.#queue.size > 0 || this.#untold > 0;
  }

  #sendNext(): 'sent' | 'refused' | 'lost' | undefined {
    const queue = this.#queue;
    const { first } = queue;
    const untold = this.#untold;
    // what was dropped stood before all that is left, but for the actors
    const tells = untold > 0 && first?.isActor !== true;
    const text = tells ? this.#writer.dropped(untold, queue.droppedRoot) : (first as Written).text;
    const result = this.#outlet?.send(text);
    if (result === 'sent') this.#sent++;
    if (result === 'refused') return result;
    if (tells) this.#toldDropped += untold;
    // it is gone already where the socket was lost on it
    else if (queue.first === first) queue.shift();
    return result;
  }

  /** All was sent. What the page shows is out of date where something was dropped before, so all that lives is announced. */
  #emptied(): void {
    this.#last = undefined;
    const wasMending = this.#isMending;
    this.#isMending = false;
    const { dropped } = this.#queue;
    if (wasMending || dropped === this.#mendedDropped) {
      this.#mendedDropped = dropped;
      return;
    }
    this.#mendedDropped = dropped;
    this.#isMending = true;
    this.#attachAll();
  }
}
