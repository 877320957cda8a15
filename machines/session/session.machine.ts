/**
 * The life of a duplex session.
 *
 * Invariants kept here:
 *
 * S1. `connecting` is left once, by the first of: the driver's answer, the
 *     timeout, the host's close or abort, a journal that
 *     takes no more.
 * S2. The first cause of an end wins: no event of `closing` changes the reason.
 * S3. Every end in `open` asks for, in this order: the last event (`reportEnd`)
 *     or the discarding of what waits unread, the fence, the end of the
 *     lifetime signal, the driver's close (§5, *End*).
 * S4. `closeDriver` is asked for at most once, and never when the far side
 *     closed (D10).
 * S5. In `closing` nothing is delivered and no call is admitted (D9).
 * S6. `turn_complete`, `interrupted` and `error` are legal in both open states;
 *     `turn_complete` touches no call (D6).
 */
import { assign, setup } from 'xstate';
import type { SessionEvent } from './session.events.js';

/** Why a session ends. */
export type EndReason =
  | 'host'
  | 'aborted'
  | 'far_side'
  | 'protocol_failure'
  | 'stream_ended'
  | 'stream_failed'
  | 'connect_failed'
  | 'overflow'
  | 'journal_failed';

/** What the guards read, and the reason that the report gives. */
export interface SessionContext {
  readonly reason: EndReason | 'none';
  /** `pending` until the driver answers; `gone` when the far side closed or there never was a connection. */
  readonly connection: 'pending' | 'open' | 'gone';
}

const performed = () => {};

const table = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent },
  actions: {
    connectDriver: performed,
    armConnectTimeout: performed,
    disarmConnectTimeout: performed,
    resolveStart: performed,
    refuseStart: performed,
    readEvents: performed,
    deliver: performed,
    admitCall: performed,
    resolveInterrupts: performed,
    interruptCalls: performed,
    withdrawCalls: performed,
    note: performed,
    diagnose: performed,
    performAct: performed,
    refuseAct: performed,
    reportEnd: performed,
    discardUnread: performed,
    fence: performed,
    abortLifetime: performed,
    closeDriver: performed,
    armCloseTimeout: performed,
    disarmCloseTimeout: performed,
    refusePending: performed,
    resolveClosed: performed,
    setReason: assign((_, because: { readonly reason: EndReason }) => because),
    farSideGone: assign({ reason: 'far_side', connection: 'gone' }),
    connectionOpens: assign({ connection: 'open' }),
    connectFails: assign({ reason: 'connect_failed', connection: 'gone' }),
    connectTimesOut: assign({ reason: 'connect_failed' }),
    connectionGone: assign({ connection: 'gone' }),
  },
  guards: {
    isPending: ({ context }) => context.connection === 'pending',
    isGone: ({ context }) => context.connection === 'gone',
  },
});

const because = (reason: EndReason) => ({ type: 'setReason', params: { reason } }) as const;

/** An end with a last event; what waits unread is still delivered. */
const endsWithReport = (reason: EndReason) =>
  ({
    target: 'closing',
    actions: [because(reason), 'reportEnd', 'fence', 'abortLifetime', 'armCloseTimeout', 'closeDriver'],
  }) as const;

/** An end by the host; what waits unread is thrown away. */
const endsSilently = (reason: EndReason) =>
  ({
    target: 'closing',
    actions: [because(reason), 'discardUnread', 'fence', 'abortLifetime', 'armCloseTimeout', 'closeDriver'],
  }) as const;

/** The host gives up before there is a connection, or has a journal that cannot be written. */
const givesUp = (reason: EndReason) =>
  ({
    target: 'closing',
    actions: [because(reason), 'disarmConnectTimeout', 'refuseStart', 'abortLifetime', 'armCloseTimeout'],
  }) as const;

/** The life of a session, for {@link sessionStepper}, for actors and for diagrams. Its actions are names: whoever runs it performs them. */
export const sessionMachine = table.createMachine({
  id: 'session',
  context: { reason: 'none', connection: 'pending' },
  initial: 'connecting',
  states: {
    connecting: {
      entry: ['armConnectTimeout', 'connectDriver'],
      on: {
        connected: {
          target: 'open',
          actions: ['connectionOpens', 'disarmConnectTimeout', 'readEvents', 'resolveStart'],
        },
        connect_rejected: {
          target: 'closed',
          actions: ['connectFails', 'disarmConnectTimeout', 'refuseStart', 'abortLifetime'],
        },
        connect_timed_out: { target: 'closed', actions: ['connectTimesOut', 'refuseStart', 'abortLifetime'] },
        host_act: { actions: 'refuseAct' },
        host_close: givesUp('host'),
        host_abort: givesUp('aborted'),
        flush_failed: givesUp('journal_failed'),
      },
    },
    open: {
      initial: 'waiting',
      on: {
        turn_complete: { target: '.waiting', actions: 'deliver' },
        interrupted: { target: '.waiting', actions: ['deliver', 'resolveInterrupts', 'interruptCalls'] },
        error: { actions: 'deliver' },
        tool_call_cancelled: { actions: 'withdrawCalls' },
        usage: { actions: 'note' },
        input_text: { actions: 'note' },
        expiring: { actions: 'note' },
        unknown: { actions: 'diagnose' },
        ill_formed_note: { actions: 'diagnose' },
        host_act: { actions: 'performAct' },
        // the coordination gives them to calls that wait
        places_lent: {},
        closed: { target: 'closing', actions: ['farSideGone', 'reportEnd', 'fence', 'abortLifetime'] },
        malformed: endsWithReport('protocol_failure'),
        repeated_call: endsWithReport('protocol_failure'),
        stream_ended: endsWithReport('stream_ended'),
        stream_failed: endsWithReport('stream_failed'),
        overflow: endsWithReport('overflow'),
        flush_failed: endsWithReport('journal_failed'),
        host_close: endsSilently('host'),
        host_abort: endsSilently('aborted'),
      },
      states: {
        waiting: {
          on: {
            text: { target: 'responding', actions: 'deliver' },
            audio: { target: 'responding', actions: 'deliver' },
            tool_call: { target: 'responding', actions: 'admitCall' },
          },
        },
        responding: {
          on: {
            text: { actions: 'deliver' },
            audio: { actions: 'deliver' },
            tool_call: { actions: 'admitCall' },
          },
        },
      },
    },
    closing: {
      always: { guard: 'isGone', target: 'closed' },
      exit: 'disarmCloseTimeout',
      on: {
        connected: { guard: 'isPending', actions: ['connectionOpens', 'closeDriver'] },
        connect_rejected: { guard: 'isPending', target: 'closed', actions: 'connectionGone' },
        close_settled: 'closed',
        close_timed_out: 'closed',
        host_act: { actions: 'refuseAct' },
      },
    },
    closed: { type: 'final', entry: ['refusePending', 'resolveClosed'] },
  },
});
