/**
 * The life of a supervisor, which owns sessions and conversations.
 *
 * Invariants kept here:
 *
 * V1. Only a supervisor that runs starts anything: a child, or another
 *     incarnation of one.
 * V2. `draining` is entered once and left once, when the last child has gone.
 * V3. Every end of a child, in whatever state, asks for exactly one of
 *     `armRestart` and `releaseChild`.
 * V4. A session that is given up is reported before it is released.
 * V5. A deadline can be set again while draining, and never puts the end off:
 *     which one is nearer is the business of whoever arms it.
 */
import { setup } from 'xstate';
import type { SupervisorEvent } from './supervisor.events.js';

const performed = () => {};

const table = setup({
  types: { events: {} as SupervisorEvent },
  actions: {
    /** Begins an incarnation of a session. */
    openIncarnation: performed,
    openConversation: performed,
    refuseStart: performed,
    /** Another incarnation is connected: whoever looks on is told before its first event. */
    announceIncarnation: performed,
    armRestart: performed,
    /** Sessions that wait for their next incarnation have none. */
    disarmRestarts: performed,
    reportFailure: performed,
    releaseChild: performed,
    /** Tells every child to finish, the youngest first. */
    finishChildren: performed,
    /** Closes what has not finished. */
    closeChildren: performed,
    armDeadline: performed,
    disarmDeadline: performed,
    resolveShutdown: performed,
  },
});

/** The life of a supervisor, for {@link supervisorStepper}, for actors and for diagrams. Its actions are names. */
export const supervisorMachine = table.createMachine({
  id: 'supervisor',
  initial: 'running',
  states: {
    running: {
      on: {
        start_session: { actions: 'openIncarnation' },
        start_conversation: { actions: 'openConversation' },
        over_limit: { actions: 'refuseStart' },
        incarnation_connected: { actions: 'announceIncarnation' },
        incarnation_ended: { actions: 'armRestart' },
        restart_due: { actions: 'openIncarnation' },
        session_ended: { actions: 'releaseChild' },
        session_failed: { actions: ['reportFailure', 'releaseChild'] },
        conversation_ended: { actions: 'releaseChild' },
        shutdown: { target: 'draining', actions: ['armDeadline', 'disarmRestarts', 'finishChildren'] },
        journal_failed: { target: 'draining', actions: ['disarmRestarts', 'finishChildren'] },
      },
    },
    draining: {
      on: {
        start_session: { actions: 'refuseStart' },
        start_conversation: { actions: 'refuseStart' },
        over_limit: { actions: 'refuseStart' },
        incarnation_connected: { actions: 'announceIncarnation' },
        incarnation_ended: { actions: 'releaseChild' },
        session_ended: { actions: 'releaseChild' },
        session_failed: { actions: ['reportFailure', 'releaseChild'] },
        conversation_ended: { actions: 'releaseChild' },
        shutdown: { actions: 'armDeadline' },
        deadline_passed: { actions: 'closeChildren' },
        emptied: { target: 'stopped', actions: 'disarmDeadline' },
      },
    },
    stopped: { type: 'final', entry: 'resolveShutdown' },
  },
});
