/** What is known of a run at one point of its trace, and what has been found so far. */
import type { CloseReason } from '../../contract/index.js';
import type { ScenarioHeader, TraceEvent } from '../../scenario/scenario.js';
import { AwaitedEvents } from './awaited-events.js';
import type { CallLife } from './call-life.js';
import type { Group } from './groups.js';

/** The end of the session. `unknown`: the driver was closed and the steps do not say why (an overflow, a failed flush). */
export interface End {
  readonly cause: CloseReason | 'unknown';
  /** Virtual milliseconds since the start. */
  readonly at: number;
  readonly group: Group;
  /** Whether the trace leaves the cause open altogether. */
  readonly foggy: boolean;
}

/** Something that the far side did. */
export type FarAct = { readonly far: unknown } | { readonly far_stream: 'end' | 'fail' };

/** The limits of a session, with what holds where the header is silent. Times in milliseconds; 0: no limit. */
export interface Limits {
  readonly concurrentTools: number;
  readonly openCalls: number;
  readonly connectMs: number;
  readonly publishMs: number;
  readonly closeMs: number;
  readonly bufferedEvents: number;
}

function limitsOf({ options = {} }: ScenarioHeader): Limits {
  return {
    concurrentTools: options.maxConcurrentTools ?? 16,
    openCalls: options.maxOpenCalls ?? 256,
    connectMs: options.connectTimeoutMs ?? 30_000,
    publishMs: options.publishTimeoutMs ?? 30_000,
    closeMs: options.closeTimeoutMs ?? 5_000,
    bufferedEvents: options.maxBufferedEvents ?? 65_536,
  };
}

/** The state that the parts of the checker share. */
export class Run {
  private readonly found = new Set<string>();
  readonly limits: Limits;

  /** Every call, in order of admission; `live`: those that something can still happen to. */
  readonly calls = new Map<string, CallLife>();
  readonly live = new Set<CallLife>();
  /** What the host has still to be given because of the far side. */
  readonly awaited = new AwaitedEvents();
  /** Calls whose end the host has still to be told. */
  readonly owing = new Set<CallLife>();
  /** What the far side did before the connection was there, or what of that is not taken yet. */
  readonly backlog: FarAct[] = [];

  /** Calls whose signal, stub or error result this group owes. */
  readonly signalsDue = new Set<CallLife>();
  readonly stubsDue = new Set<CallLife>();
  readonly resultsDue = new Set<CallLife>();

  connected: boolean;
  connectSettled: boolean;
  reading = true;
  everPaused = false;
  end: End | undefined;
  /** How often the driver was closed, and whether its close has settled. */
  closes = 0;
  closeSettled = false;
  closed = false;
  /** Whether the backlog left open how many calls were open at an admission. */
  countsUnsure = false;
  /**
   * Whether a backlog of several events and an end share this group: an overflow
   * may have cut the backlog anywhere, so that most of it may have had no effect.
   */
  foggy = false;
  /** The id that the step of this group repeats. */
  repeated: string | undefined;

  constructor(
    readonly header: ScenarioHeader,
    public group: Group,
  ) {
    this.limits = limitsOf(header);
    this.connected = header.provider?.holdConnect !== true;
    this.connectSettled = this.connected;
  }

  /** What was found, each finding once. */
  get findings(): string[] {
    return [...this.found];
  }

  find(invariant: string, what: string): void {
    this.found.add(`${invariant}: ${what}`);
  }

  /** Whether the far side accepts every result at once. */
  get acceptsAtOnce(): boolean {
    return this.header.provider?.holdPublish !== true;
  }

  /** Whether the driver is closed in this group and nothing known so far is the reason. */
  get endsUnexplained(): boolean {
    return this.group.endFrom !== undefined && this.end === undefined && this.connected && this.backlog.length === 0;
  }

  /** Whether what this group tells the host may not have found a place in the buffer. */
  get mayOverflow(): boolean {
    return this.foggy || (this.endsUnexplained && !this.reading);
  }

  /** Notes an event that the far side causes. `invariant`: the one that is broken when it stays away. */
  expect(invariant: string, what: string, event: TraceEvent): void {
    this.awaited.push({ invariant, what, event, optional: this.mayOverflow });
  }

  /** Notes the error of the runtime that tells of an end; its text is free. */
  expectLastError(invariant = 'D7'): void {
    const event: TraceEvent = { type: 'error', message: '…' };
    const what = 'the error that tells of the end';
    this.awaited.push({ invariant, what, event, optional: this.foggy, last: true });
  }

  /** Notes that the host has to be told of the end of a call. */
  owe(call: CallLife): void {
    call.report = this.mayOverflow ? 'optional' : 'due';
    this.owing.add(call);
  }

  reported(call: CallLife): void {
    call.report = 'done';
    this.owing.delete(call);
  }

  /** Whether the far side has left the result of a call without an answer for too long. */
  expires(call: CallLife, at: number): boolean {
    const { publishMs } = this.limits;
    return (
      call.stage === 'publishing' &&
      publishMs > 0 &&
      call.published !== undefined &&
      at >= call.published.at + publishMs
    );
  }

  /** The session ends. What becomes of each call is decided here. */
  endSession(cause: End['cause'], at: number): void {
    this.end = { cause: this.foggy ? 'unknown' : cause, at, group: this.group, foggy: this.foggy };
    this.backlog.length = 0;
    for (const call of this.live) {
      if (call.stage === 'publishing' && this.acceptsAtOnce) {
        // The far side may have answered before the end or after it.
        call.others.add('completed');
        call.report = 'optional';
        this.owing.add(call);
      }
      call.take('end');
      if (call.code === 'running' && !call.signalled && !call.settlesAtOnce) this.signalsDue.add(call);
    }
    if (cause === 'host' || cause === 'aborted') {
      // A close or an abort throws away what waits unread.
      this.awaited.clear();
      this.owing.clear();
    }
  }
}
