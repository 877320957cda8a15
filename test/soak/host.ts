/** One host of one supervised session: begins it, reads it or not, acts at random, and checks what it was told. */
import { getEventListeners } from 'node:events';
import { ConversationClosedError } from '../../src/contract/errors.js';
import type { BidiProvider } from '../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import {
  recordSession,
  type SessionRecording,
  type SupervisedCloseReport,
  type SupervisedSession,
  type SupervisedSessionOptions,
  type Supervisor,
} from '../../src/runtime/index.js';
import { expectLegal } from '../../src/testing/index.js';
import { verify } from '../../src/verify/index.js';
import { Random } from '../crash/random.js';
import { Fault, later, soakProvider } from './far-side.js';
import { ShakyJournal } from './journals.js';
import { count, type Tally } from './tally.js';
import { soakTools } from './tools.js';

/** Where a host lives. */
export interface Place {
  readonly supervisor: Supervisor;
  readonly tally: Tally;
  /** A driver that reaches a service over a real socket. */
  readonly socket: () => BidiProvider;
  /** Whether the shift is over: then nobody begins anything. */
  readonly isOver: () => boolean;
}

/** What nobody waits longer for; times are those of the machine, so it is generous. */
const patienceMs = 20_000;
const outcomes: ReadonlySet<string> = new Set(['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled']);

/** Lives one session from its beginning to its end. */
export async function liveOnce(place: Place, seed: number): Promise<void> {
  const random = new Random(seed);
  const { supervisor, tally } = place;
  const where = `session of seed ${seed}`;
  const abort = new AbortController();
  const journal = random.chance(0.25) ? new ShakyJournal(random) : undefined;
  const isSocket = random.chance(0.12);
  const tools = soakTools(random, { started: () => tally.codeStarted++, late: () => tally.late++ });
  const trouble = random.one([0, 0.02, 0.1]);
  const names = tools.map(({ name }) => name);
  const options: SupervisedSessionOptions = {
    provider: () => (isSocket ? place.socket() : soakProvider(random, names, trouble)),
    connect: random.chance(0.5) ? { model: 'm' } : () => ({ model: 'm' }),
    tools,
    signal: abort.signal,
    connectTimeoutMs: isSocket ? 3_000 : 60,
    publishTimeoutMs: 80,
    closeTimeoutMs: 60,
    maxConcurrentTools: random.one([1, 2, 16]),
    maxOpenCalls: random.one([3, 20, 256]),
    maxBufferedEvents: random.one([4, 40, 65_536]),
    dropUnreadAudio: random.chance(0.3),
    ...(journal === undefined ? {} : { journal }),
    restart: {
      type: random.one(['temporary', 'transient', 'permanent'] as const),
      intensity: random.below(6),
      periodMs: 10_000,
      backoff: random.chance(0.1)
        ? () => {
            throw new Fault('no backoff');
          }
        : { baseMs: 1 + random.below(10), factor: 2, maxMs: 50, jitter: random.next() },
    },
    ...(random.chance(0.1) ? { inspect: random.chance(0.3) ? throws : () => {} } : {}),
  };
  let session: SupervisedSession;
  try {
    session = await supervisor.startSession(options);
  } catch {
    tally.refusedStarts++;
    await verifyOwn(journal, where, tally);
    return;
  }
  tally.sessions++;
  if (isSocket) tally.sockets++;
  const host = new Host(session, random, tally, where);
  host.listen();
  const recording = host.record(supervisor);
  const acting = host.act(abort, place.isOver);
  const report = await inTime(session.closed, `${where}: it is not closed`, tally);
  await acting;
  if (report === undefined) return;
  for (const { reason } of report.ends) count(tally.ends, reason);
  tally.restarts += report.incarnations - 1;
  if (report.failed) tally.failures++;
  await host.finish(report);
  if (recording !== undefined) await inTime(recording(), `${where}: its recording is not finished`, tally);
  const listeners = getEventListeners(abort.signal, 'abort').length;
  if (listeners > 0) tally.found(where, `${listeners} listeners are left on the host's signal`);
  await verifyOwn(journal, where, tally);
}

function throws(): never {
  throw new Fault('whoever looks on, throws');
}

async function inTime<Value>(promise: Promise<Value>, what: string, tally: Tally): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      tally.found(what, `after ${patienceMs} ms`);
      resolve(undefined);
    }, patienceMs);
  });
  const value = await Promise.race([promise, late]);
  clearTimeout(timer);
  return value;
}

async function verifyOwn(journal: ShakyJournal | undefined, where: string, tally: Tally): Promise<void> {
  if (journal === undefined) return;
  const { findings, records } = await verify(journal.records);
  tally.journals++;
  tally.records += records;
  for (const { invariant, what, seq } of findings) tally.found(where, `${invariant} at record ${seq}: ${what}`);
}

class Host {
  readonly #session: SupervisedSession;
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #where: string;
  /** What was read, by incarnation. */
  readonly #seen = new Map<string, BidiTurnEvent[]>();
  readonly #waiting = new Set<string>();
  #reading: Promise<void> = Promise.resolve();
  #isDone = false;
  #wake: () => void = () => {};

  constructor(session: SupervisedSession, random: Random, tally: Tally, where: string) {
    this.#session = session;
    this.#random = random;
    this.#tally = tally;
    this.#where = where;
  }

  listen(): void {
    const session = this.#session;
    const random = this.#random;
    session.lifecycle$.subscribe({
      next: (event) => {
        if (event.type === 'approval_requested') this.#waiting.add(event.id);
        if (event.type === 'call' && outcomes.has(event.to)) count(this.#tally.calls, event.to);
      },
      complete: () => {
        this.#isDone = true;
        this.#wake();
      },
    });
    if (random.chance(0.1)) session.lifecycle$.subscribe(throws);
    if (random.chance(0.1)) session.events$.subscribe(throws);
    const how = random.below(10);
    if (how < 7) this.#reading = this.#read(0);
    else if (how < 8) this.#reading = this.#read(random.below(20));
    else if (how < 9) session.events$.subscribe((event) => this.#take(event));
    // and some never read at all
  }

  async #read(pauseMs: number): Promise<void> {
    for await (const event of this.#session.events()) {
      this.#take(event);
      if (pauseMs > 0) await later(pauseMs);
    }
  }

  #take(event: BidiTurnEvent): void {
    this.#tally.events++;
    const { sessionId } = event;
    let seen = this.#seen.get(sessionId);
    if (seen === undefined) {
      seen = [];
      this.#seen.set(sessionId, seen);
    }
    seen.push(event);
  }

  /** Records the session into a conversation of the supervisor. Gives what waits for the end of both, and checks it. */
  record(supervisor: Supervisor): (() => Promise<void>) | undefined {
    const random = this.#random;
    if (!random.chance(0.3)) return undefined;
    let recording: SessionRecording;
    let conversation: ReturnType<Supervisor['createConversation']>;
    try {
      conversation = supervisor.createConversation();
    } catch {
      // the shift has ended meanwhile
      return undefined;
    }
    try {
      recording = recordSession(this.#session, {
        conversation,
        onInterrupted: random.one(['keep', 'discard'] as const),
      });
    } catch (error) {
      // the supervisor closes conversations at its end
      if (!(error instanceof ConversationClosedError)) {
        this.#tally.found(this.#where, `it cannot be recorded: ${String(error)}`);
      }
      return undefined;
    }
    this.#tally.conversations++;
    return async () => {
      const end = await recording.finished;
      const { diagnostics, transactions } = conversation.state as unknown as {
        diagnostics: readonly { code: string; detail?: string }[];
        transactions?: readonly unknown[];
      };
      if (diagnostics.length > 0 && end.reason === 'session_ended') {
        this.#tally.found(this.#where, `its recording folds with ${JSON.stringify(diagnostics[0])}`);
      }
      if (transactions !== undefined && transactions.length > 0)
        this.#tally.found(this.#where, 'a transaction is left open');
      conversation.close();
    };
  }

  /** Does things until the session has ended, and ends it if nobody else does. */
  async act(abort: AbortController, isOver: () => boolean): Promise<void> {
    const random = this.#random;
    const session = this.#session;
    const times = 3 + random.below(40);
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#isDone) resolve();
    });
    for (let time = 0; time < times && !this.#isDone && !isOver(); time++) {
      await Promise.race([later(random.below(12)), ended]);
      if (this.#isDone) return;
      this.#one();
    }
    if (this.#isDone || isOver()) return;
    const how = random.below(10);
    if (how < 6) this.#ignoring(session.close());
    else if (how < 8) abort.abort(new Fault('the host has had enough'));
    else {
      // its far side may end it; somebody has to, in the end
      await Promise.race([later(200), ended]);
      if (!this.#isDone) this.#ignoring(session.close());
    }
  }

  #one(): void {
    const random = this.#random;
    const session = this.#session;
    const [waits = 'c0'] = this.#waiting;
    this.#tally.acts++;
    switch (random.below(8)) {
      case 0:
      case 1:
        this.#ignoring(session.send({ type: 'text', text: 'go on' }));
        break;
      case 2:
        this.#ignoring(session.send({ type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' }));
        break;
      case 3:
        this.#ignoring(session.interrupt({ playedMs: random.below(100) }));
        break;
      case 4:
        this.#ignoring(session.played(random.below(100)));
        break;
      case 5:
        this.#waiting.delete(waits);
        this.#ignoring(session.deny(waits, 'not today'));
        break;
      default:
        this.#waiting.delete(waits);
        this.#ignoring(session.approve(waits));
    }
  }

  /** Half of what is refused nobody hears of: that must do no harm. */
  #ignoring(act: Promise<void>): void {
    if (this.#random.chance(0.5)) return;
    act.catch(() => {
      this.#tally.refusedActs++;
    });
  }

  /** The session is closed: its events are those of one that was. */
  async finish({ ends }: SupervisedCloseReport): Promise<void> {
    // what waits unread is still given out, unless the host closed it
    await inTime(this.#reading, `${this.#where}: its events have no end`, this.#tally);
    for (const [sessionId, events] of this.#seen) {
      if (ends.length < 16 && !ends.some((end) => end.sessionId === sessionId)) {
        this.#tally.found(this.#where, `there are events of ${sessionId}, which is no incarnation of it`);
      }
      try {
        expectLegal(events);
      } catch (error) {
        this.#tally.found(this.#where, String(error));
      }
    }
    for (const { id, state } of this.#session.calls()) {
      if (!outcomes.has(state)) this.#tally.found(this.#where, `call ${id} is ${state} after the end`);
    }
  }
}
