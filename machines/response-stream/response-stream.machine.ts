/**
 * The life of a response stream: one request after another on one conversation.
 *
 * Invariants kept here:
 *
 * R1. Whatever ends the input ends `streaming` and `awaiting_init`: no path
 *     stays in them (C4).
 * R2. A phase that ends a request is left by an init alone, and only by one of
 *     this conversation: a next request, or after `truncated` and `cancelled`
 *     the same one, which goes on.
 * R3. `recordFinish` is asked for at most once a request (C8): by the
 *     transition that leaves `streaming` or `awaiting_init` for a finish.
 * R4. Every end asks to close what is open, then to end the request, in this
 *     order; what is told comes before both.
 * R5. An event that is out of its place is told of and does nothing else. A
 *     StreamFinished before any init is told of and honoured.
 */
import { setup } from 'xstate';
import type { ResponseStreamEvent } from './response-stream.events.js';

/** What a stream tells of. */
export type ResponseStreamNote =
  | 'actions_before_init'
  | 'unexpected_init'
  | 'after_finished'
  | 'unknown_event'
  | 'bad_frame';

const performed = () => {};

const table = setup({
  types: { events: {} as ResponseStreamEvent },
  actions: {
    report: (_, _note: { readonly note: ResponseStreamNote }) => {},
    /** The request of the init begins. */
    startRequest: performed,
    /** The request at hand goes on. */
    resumeRequest: performed,
    /** The init's conversation id is the name of the conversation at hand. */
    nameConversation: performed,
    applyActions: performed,
    /** Reason, usage and cost are those of the finish. */
    recordFinish: performed,
    /** Every open transaction ends, as this end has it. */
    closeTransactions: (
      _,
      _end: { readonly as: 'finish_done' | 'finish_failed' | 'input_ended' | 'host_cancel' },
    ) => {},
    endRequest: performed,
  },
});

const told = (note: ResponseStreamNote) => ({ type: 'report', params: { note } }) as const;
const closing = (as: 'finish_done' | 'finish_failed' | 'input_ended' | 'host_cancel') =>
  ({ type: 'closeTransactions', params: { as } }) as const;

/** What ends a request that has not ended. */
const ends = {
  end_of_input: { target: 'truncated', actions: [closing('input_ended'), 'endRequest'] },
  transport_error: { target: 'truncated', actions: [closing('input_ended'), 'endRequest'] },
  bad_frame: { target: 'truncated', actions: [told('bad_frame'), closing('input_ended'), 'endRequest'] },
  host_cancel: { target: 'cancelled', actions: [closing('host_cancel'), 'endRequest'] },
  halted: { target: 'failed', actions: [closing('finish_failed'), 'endRequest'] },
} as const;

/** What comes after an end. */
const late = {
  init_next: { target: 'streaming', actions: 'startRequest' },
  init_foreign: { actions: told('unexpected_init') },
  actions: { actions: told('after_finished') },
  finished_done: { actions: told('after_finished') },
  finished_failed: { actions: told('after_finished') },
  untyped: { actions: told('after_finished') },
  bad_frame: { actions: told('bad_frame') },
} as const;

/** After a finish the same init is a replay, and ignored. */
const afterTheFinish = {
  ...late,
  init_renames: { target: 'streaming', actions: 'startRequest' },
} as const;

/** A request that was cut off goes on with its own init. */
const cutOff = {
  ...late,
  init_same: { target: 'streaming', actions: 'resumeRequest' },
  init_renames: { target: 'streaming', actions: ['nameConversation', 'resumeRequest'] },
} as const;

/** The life of a response stream on its conversation, for its stepper, for actors and for diagrams. Its actions are names. */
export const responseStreamMachine = table.createMachine({
  id: 'response-stream',
  initial: 'awaiting_init',
  states: {
    awaiting_init: {
      on: {
        init_next: { target: 'streaming', actions: 'startRequest' },
        init_foreign: { actions: told('unexpected_init') },
        actions: { actions: told('actions_before_init') },
        finished_done: {
          target: 'finished',
          actions: [told('actions_before_init'), 'recordFinish', closing('finish_done'), 'endRequest'],
        },
        finished_failed: {
          target: 'failed',
          actions: [told('actions_before_init'), 'recordFinish', closing('finish_failed'), 'endRequest'],
        },
        untyped: { actions: told('unknown_event') },
        ...ends,
      },
    },
    streaming: {
      on: {
        init_next: { actions: told('unexpected_init') },
        init_renames: { actions: 'nameConversation' },
        init_foreign: { actions: told('unexpected_init') },
        actions: { actions: 'applyActions' },
        finished_done: { target: 'finished', actions: ['recordFinish', closing('finish_done'), 'endRequest'] },
        finished_failed: { target: 'failed', actions: ['recordFinish', closing('finish_failed'), 'endRequest'] },
        untyped: { actions: told('unknown_event') },
        ...ends,
      },
    },
    finished: { on: afterTheFinish },
    failed: { on: afterTheFinish },
    truncated: { on: cutOff },
    cancelled: { on: cutOff },
  },
});
