/**
 * The life of one tool invocation (*call*), from `tool_call` to its outcome.
 *
 * Invariants kept here:
 *
 * T1. Exactly one of `completed`, `rejected`, `unconfirmed`, `abandoned`,
 *     `cancelled` is reached, and no transition leaves it (D1).
 * T2. `execute` and `publish` are asked for at most once (D2): each is the entry
 *     of a state that no path enters twice.
 * T3. `interrupted` abandons the call in every state before `publishing`, unless
 *     its policy is `deliver`; code that has not started never starts (D3).
 * T4. In `publishing` only the far side's answer, its absence, and the end of
 *     the session count (D4): entering it is the commit point.
 * T5. An interruption asks for the signal to be aborted under policy `cancel`
 *     alone, a withdrawal always, the end of the session for all code that
 *     still runs (D5).
 * T6. A stub is asked for by an interruption, never by a withdrawal (D16).
 * T7. With `writeStart` the code, with `writePublish` the publish, waits for
 *     `flushed`.
 * T8. Where code was started and what it gave is not published, `tellLate` is
 *     asked for once, however the call was decided: at the end of the code, or
 *     at the abandonment or the end that finds its outcome at hand. (Code that
 *     settles after the call is decided is told of by the coordination.)
 */
import { assign, setup } from 'xstate';
import type { CallEvent } from './tool-invocation.events.js';

/** What the guards read, and nothing else. */
export interface CallContext {
  readonly policy: 'abandon' | 'cancel' | 'deliver';
  /** The start is made durable before the code runs. */
  readonly writeStart: boolean;
  /** The publish is made durable before the result is sent. */
  readonly writePublish: boolean;
  /** The code was started and has not settled. */
  readonly codeRuns: boolean;
  /** The code has settled, and what it gave waits to be published. */
  readonly holdsOutcome: boolean;
}

/** What is known of a call when it is admitted. */
export type CallRules = Pick<CallContext, 'policy' | 'writeStart' | 'writePublish'>;

/** Why a call's signal is aborted. */
export type AbortCause = 'timeout' | 'interruption' | 'withdrawal' | 'session_end';

const performed = () => {};

const table = setup({
  types: {
    context: {} as CallContext,
    input: {} as CallRules,
    events: {} as CallEvent,
  },
  actions: {
    reportStarted: performed,
    validate: performed,
    requestApproval: performed,
    flush: (_, _intent: { readonly of: 'start' | 'publish' }) => {},
    execute: performed,
    armTimeout: performed,
    disarmTimeout: performed,
    publish: performed,
    armPublishTimeout: performed,
    disarmPublishTimeout: performed,
    reportCompleted: performed,
    reportRejected: performed,
    reportUnconfirmed: performed,
    reportAbandoned: performed,
    abortSignal: (_, _cause: { readonly because: AbortCause }) => {},
    stub: performed,
    noteSettledLate: performed,
    tellLate: performed,
    codeStarts: assign({ codeRuns: true }),
    codeSettles: assign({ codeRuns: false }),
    outcomeWaits: assign({ codeRuns: false, holdsOutcome: true }),
    outcomeGoesOut: assign({ holdsOutcome: false }),
  },
  guards: {
    delivers: ({ context }) => context.policy === 'deliver',
    cancels: ({ context }) => context.policy === 'cancel',
    writesStart: ({ context }) => context.writeStart,
    writesPublish: ({ context }) => context.writePublish,
    codeRuns: ({ context }) => context.codeRuns,
    holdsOutcome: ({ context }) => context.holdsOutcome,
  },
});

const abortedBy = (because: AbortCause) => ({ type: 'abortSignal', params: { because } }) as const;
const flushOf = (of: 'start' | 'publish') => ({ type: 'flush', params: { of } }) as const;

/** Where a result goes: over the durable record of the intent, or straight to the commit point. */
const withResult = [{ guard: 'writesPublish', target: 'committing' }, { target: 'publishing' }] as const;

/** What ends a call whose code has not started. */
const beforeTheCode = {
  interrupted: [{ guard: 'delivers' }, { target: 'abandoned.settled', actions: ['reportAbandoned', 'stub'] }],
  withdrawn: { target: 'abandoned.settled', actions: 'reportAbandoned' },
  session_ended: 'cancelled',
} as const;

/** The life of a call, for {@link callStepper}, for actors and for diagrams. Its actions are names: whoever runs it performs them. */
export const toolInvocationMachine = table.createMachine({
  id: 'tool-invocation',
  context: ({ input }) => ({
    policy: input.policy,
    writeStart: input.writeStart,
    writePublish: input.writePublish,
    codeRuns: false,
    holdsOutcome: false,
  }),
  initial: 'admitted',
  states: {
    admitted: {
      entry: ['reportStarted', 'validate'],
      exit: 'disarmTimeout',
      on: {
        input_accepted: 'queued',
        approval_required: 'awaiting_approval',
        input_refused: withResult,
        timed_out: withResult,
        ...beforeTheCode,
      },
    },
    awaiting_approval: {
      entry: 'requestApproval',
      on: { approved: 'queued', denied: withResult, ...beforeTheCode },
    },
    queued: {
      on: { placed: [{ guard: 'writesStart', target: 'starting' }, { target: 'executing' }], ...beforeTheCode },
    },
    starting: {
      entry: flushOf('start'),
      on: { flushed: 'executing', ...beforeTheCode },
    },
    executing: {
      entry: ['codeStarts', 'execute', 'armTimeout'],
      exit: 'disarmTimeout',
      on: {
        code_resolved: [
          { guard: 'writesPublish', target: 'committing', actions: 'outcomeWaits' },
          { target: 'publishing', actions: 'codeSettles' },
        ],
        code_rejected: [
          { guard: 'writesPublish', target: 'committing', actions: 'outcomeWaits' },
          { target: 'publishing', actions: 'codeSettles' },
        ],
        timed_out: [
          { guard: 'writesPublish', target: 'committing', actions: abortedBy('timeout') },
          { target: 'publishing', actions: abortedBy('timeout') },
        ],
        interrupted: [
          { guard: 'delivers' },
          {
            guard: 'cancels',
            target: 'abandoned.draining',
            actions: ['reportAbandoned', abortedBy('interruption'), 'stub'],
          },
          { target: 'abandoned.draining', actions: ['reportAbandoned', 'stub'] },
        ],
        withdrawn: { target: 'abandoned.draining', actions: ['reportAbandoned', abortedBy('withdrawal')] },
        session_ended: { target: 'cancelled', actions: abortedBy('session_end') },
      },
    },
    committing: {
      entry: flushOf('publish'),
      on: {
        flushed: { target: 'publishing', actions: 'outcomeGoesOut' },
        code_resolved: { guard: 'codeRuns', actions: ['codeSettles', 'tellLate'] },
        code_rejected: { guard: 'codeRuns', actions: ['codeSettles', 'tellLate'] },
        interrupted: [
          { guard: 'delivers' },
          { guard: 'codeRuns', target: 'abandoned.draining', actions: ['reportAbandoned', 'stub'] },
          { guard: 'holdsOutcome', target: 'abandoned.settled', actions: ['reportAbandoned', 'stub', 'tellLate'] },
          { target: 'abandoned.settled', actions: ['reportAbandoned', 'stub'] },
        ],
        withdrawn: [
          { guard: 'codeRuns', target: 'abandoned.draining', actions: 'reportAbandoned' },
          { guard: 'holdsOutcome', target: 'abandoned.settled', actions: ['reportAbandoned', 'tellLate'] },
          { target: 'abandoned.settled', actions: 'reportAbandoned' },
        ],
        session_ended: [{ guard: 'holdsOutcome', target: 'cancelled', actions: 'tellLate' }, { target: 'cancelled' }],
      },
    },
    publishing: {
      entry: ['publish', 'armPublishTimeout'],
      exit: 'disarmPublishTimeout',
      on: {
        publish_accepted: { target: 'completed', actions: 'reportCompleted' },
        publish_rejected: { target: 'rejected', actions: 'reportRejected' },
        publish_timed_out: { target: 'unconfirmed', actions: 'reportUnconfirmed' },
        session_ended: 'unconfirmed',
        code_resolved: { guard: 'codeRuns', actions: ['codeSettles', 'tellLate'] },
        code_rejected: { guard: 'codeRuns', actions: ['codeSettles', 'tellLate'] },
      },
    },
    abandoned: {
      initial: 'settled',
      states: {
        draining: {
          on: {
            code_resolved: { target: 'settled', actions: ['codeSettles', 'noteSettledLate', 'tellLate'] },
            code_rejected: { target: 'settled', actions: ['codeSettles', 'noteSettledLate', 'tellLate'] },
            session_ended: { actions: abortedBy('session_end') },
          },
        },
        settled: {},
      },
    },
    completed: { type: 'final' },
    rejected: { type: 'final' },
    unconfirmed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
