/** A mistake for every invariant of sessions and calls that the explorer has to find. */
import { anyPlaces, type BareCall } from '../../../../machines/index.js';
import type { SessionExploration } from '../../../../src/verify/explore/index.js';
import type { Mistake, Table } from './faulty.js';

/** A mistake, and the invariant under which it is found. */
export interface SessionFault {
  readonly invariant: string;
  /** What is wrong. */
  readonly title: string;
  readonly mistake: Mistake;
  /** The smallest world in which it shows. */
  readonly within: SessionExploration;
  /** A trace shows nothing of it: the pure composition alone can. */
  readonly onlyPure?: true;
}

const call = (edit: (table: Table) => void): Mistake => ({ in: 'tool-invocation', edit });
const session = (edit: (table: Table) => void): Mistake => ({ in: 'session', edit });

const look = { name: 'look' } as const;
const search = { name: 'search', onInterruption: 'cancel' } as const;
const asks = { name: 'look', needsApproval: true } as const;
const limited = { name: 'look', timeoutMs: 1 } as const;

export const sessionFaults: readonly SessionFault[] = [
  {
    invariant: 'D1',
    title: 'the end of the session finds a call that waits for approval, and leaves it there',
    mistake: call(({ states }) => delete states.awaiting_approval.on.session_ended),
    within: { tools: [asks], calls: 1 },
  },
  {
    invariant: 'D2',
    title: 'code that settles after its timeout publishes once more',
    mistake: call(({ states }) => {
      states.publishing.on.code_resolved = { target: 'publishing', reenter: true, actions: 'codeSettles' };
    }),
    within: { tools: [limited], calls: 1 },
  },
  {
    invariant: 'D3',
    title: 'an interruption overlooks calls that wait for a place',
    mistake: call(({ states }) => delete states.queued.on.interrupted),
    within: { tools: [look], calls: 2, options: { maxConcurrentTools: 1 } },
  },
  {
    invariant: 'D3',
    title: 'an interruption abandons what was to be delivered',
    mistake: call(({ states }) => states.executing.on.interrupted.shift()),
    within: { tools: [{ name: 'order', onInterruption: 'deliver' }], calls: 1 },
  },
  {
    invariant: 'D3',
    title: 'a withdrawal takes the calls around it too',
    mistake: {
      in: 'coordination',
      take: (sound, occurrence, room, unreadAudio, coordination) => {
        if (occurrence.type !== 'tool_call_cancelled') return sound(occurrence, room, unreadAudio);
        return sound({ ...occurrence, ids: [...coordination.open].map(({ id }: BareCall) => id) }, room, unreadAudio);
      },
    },
    within: { tools: [look], calls: 2 },
  },
  {
    invariant: 'D4',
    title: 'an interruption recalls a result that is on its way',
    mistake: call(({ states }) => {
      states.publishing.on.interrupted = { target: 'abandoned.settled', actions: ['reportAbandoned', 'stub'] };
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D5',
    title: 'an interruption aborts the signal under the policy abandon',
    mistake: call(({ states }) => {
      states.executing.on.interrupted[2].actions.splice(1, 0, {
        type: 'abortSignal',
        params: { because: 'interruption' },
      });
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D5',
    title: 'the end of the session forgets code that drains',
    mistake: call(({ states }) => delete states.abandoned.states.draining.on.session_ended),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D6',
    title: 'the end of a turn interrupts calls',
    mistake: session(({ states }) => {
      states.open.on.turn_complete.actions = ['deliver', 'interruptCalls'];
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D7',
    title: 'output while the model responds is lost',
    mistake: session(({ states }) => {
      states.open.states.responding.on.text = {};
    }),
    within: { calls: 0 },
  },
  {
    invariant: 'D7',
    title: 'an interruption finds no room while the host reads',
    mistake: {
      in: 'coordination',
      take: (sound, occurrence, room, unreadAudio) =>
        sound(occurrence, occurrence.type === 'interrupted' ? 0 : room, unreadAudio),
    },
    within: { calls: 0 },
  },
  {
    invariant: 'D9',
    title: 'a session that closes still sends',
    mistake: session(({ states }) => {
      states.closing.on.host_act = [{ guard: 'isPending', actions: 'refuseAct' }, { actions: 'performAct' }];
    }),
    within: { calls: 0 },
  },
  {
    invariant: 'D10',
    title: 'the driver is closed after the far side has closed',
    mistake: session(({ states }) => states.open.on.closed.actions.push('closeDriver')),
    within: { calls: 0 },
  },
  {
    invariant: 'D10',
    title: 'a connection that comes after the end is never closed',
    mistake: session(({ states }) => {
      states.closing.on.connected.actions = ['connectionOpens'];
    }),
    within: { calls: 0 },
  },
  {
    invariant: 'D11',
    title: 'a session that is closed tells nobody',
    mistake: session(({ states }) => states.closed.entry.pop()),
    within: { calls: 0 },
  },
  {
    invariant: 'D12',
    title: 'input that was refused reaches the tool',
    mistake: call(({ states }) => {
      states.admitted.on.input_refused = 'queued';
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D13',
    title: 'a repeated id is admitted as a call of its own',
    mistake: session(({ states }) => {
      states.open.on.repeated_call = { actions: 'admitCall' };
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'D15',
    title: 'a full buffer takes more',
    mistake: {
      in: 'coordination',
      take: (sound, occurrence, _room, unreadAudio) => sound(occurrence, Number.POSITIVE_INFINITY, unreadAudio),
    },
    within: { calls: 0, options: { maxBufferedEvents: 1 } },
    // a trace cannot tell one event too many from the last event, which has a place of its own
    onlyPure: true,
  },
  {
    invariant: 'D15',
    title: 'a call beyond the number runs all the same',
    mistake: call(({ states }) => {
      states.admitted.on.input_refused = 'queued';
    }),
    within: { tools: [look], calls: 2, far: ['tool_call'], options: { maxOpenCalls: 1 } },
  },
  {
    invariant: 'D16',
    title: 'a call that was cancelled has no stub',
    mistake: call(({ states }) => states.executing.on.interrupted[1].actions.pop()),
    within: { tools: [search], calls: 1 },
  },
  {
    invariant: 'D16',
    title: 'a withdrawal has a stub',
    mistake: call(({ states }) => {
      states.executing.on.withdrawn.actions.push('stub');
    }),
    within: { tools: [look], calls: 1 },
  },
  {
    invariant: 'T7',
    title: 'a result is sent before the intent is durable',
    mistake: call(({ states }) => states.executing.on.code_resolved.shift()),
    within: { tools: [look], calls: 1, durable: true },
    onlyPure: true,
  },
  {
    invariant: 'T8',
    title: 'nobody is told how abandoned code ended',
    mistake: call(({ states }) => states.abandoned.states.draining.on.code_rejected.actions.pop()),
    within: { tools: [look], calls: 1 },
    onlyPure: true,
  },
  {
    invariant: 'K2',
    title: 'a call that was approved starts without a place',
    mistake: call(({ states }) => {
      states.awaiting_approval.on.approved = 'executing';
    }),
    within: { tools: [asks], calls: 2, options: { maxConcurrentTools: 1 } },
    onlyPure: true,
  },
  {
    invariant: 'K2',
    title: 'more places are taken of a pool than it lends',
    mistake: {
      in: 'coordination',
      take: (sound, occurrence, room, unreadAudio) => sound(occurrence, room, unreadAudio, anyPlaces),
    },
    within: { tools: [look], calls: 2, poolPlaces: 1, host: [], far: ['tool_call'] },
    onlyPure: true,
  },
];
