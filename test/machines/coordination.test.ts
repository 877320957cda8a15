/**
 * The invariants at the head of `coordination.ts`, held against random
 * histories of a session and its calls as bare snapshots: no runtime, no
 * promises, every answer whenever it likes. Beside them the orders that are
 * told by example.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Asked,
  type BareCall,
  type CallEventType,
  type CallStateName,
  type Composition,
  callStateOf,
  createComposition,
  type EndReason,
  type Occurrence,
  type SessionEventType,
  sessionStateOf,
} from '../../machines/index.js';
import { property, runs } from '../properties/property.js';
import { everyRules } from './reachable.js';

type Act = Occurrence<BareCall>;
type Effects = readonly Asked<BareCall>[];
type Plain = Extract<Act, { readonly at: 'session'; readonly type: SessionEventType }>['type'];

const reports = ['reportStarted', 'reportCompleted', 'reportRejected', 'reportUnconfirmed', 'reportAbandoned'];
const outcomes: readonly CallStateName[] = ['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled'];

// ── histories ──

/** A happening that may name a call by its number, whatever that call then is. */
type Happening =
  | {
      readonly what: 'call';
      readonly id: number;
      readonly rules: number;
      readonly digest: string;
      readonly name: string;
    }
  /** `leads`: of the open calls, and of the answers that the call waits for. */
  | { readonly what: 'answer'; readonly of: number; readonly any: number; readonly leads: boolean }
  | { readonly what: 'decision'; readonly of: number; readonly type: 'approve' | 'deny' }
  | { readonly what: 'withdrawal'; readonly of: readonly number[] }
  | { readonly what: 'session'; readonly type: Plain };

const answers: readonly CallEventType[] = [
  'input_accepted',
  'approval_required',
  'input_refused',
  'flushed',
  'code_resolved',
  'code_rejected',
  'timed_out',
  'publish_accepted',
  'publish_rejected',
  'publish_timed_out',
];

const number = fc.nat(9);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      what: fc.constant('call' as const),
      id: fc.oneof({ weight: 30, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: number }),
      rules: fc.nat(everyRules.length - 1),
      digest: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('look', 'pay'),
    }),
  },
  {
    weight: 80,
    arbitrary: fc.record({
      what: fc.constant('answer' as const),
      of: number,
      any: fc.nat(),
      leads: fc.constantFrom(true, true, true, false),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      what: fc.constant('decision' as const),
      of: number,
      type: fc.constantFrom('approve', 'deny'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('withdrawal' as const), of: fc.array(number, { maxLength: 3 }) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constant('session' as const),
      type: fc.constantFrom<Plain[]>('text', 'audio', 'turn_complete', 'error', 'usage', 'unknown'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('session' as const), type: fc.constant<Plain>('interrupted') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('session' as const),
      type: fc.constantFrom<Plain[]>(
        'closed',
        'malformed',
        'stream_ended',
        'stream_failed',
        'flush_failed',
        'host_close',
        'host_abort',
        'close_settled',
        'close_timed_out',
        'connected',
      ),
    }),
  },
);

interface History {
  readonly limits: {
    readonly maxConcurrentTools: number;
    readonly maxOpenCalls: number;
    readonly dropUnreadAudio: boolean;
  };
  /** From this step on the host does not read: the buffer has the room that the step says. */
  readonly fullFrom: number;
  readonly steps: readonly { readonly happening: Happening; readonly room: number; readonly unreadAudio: number }[];
}

const history: fc.Arbitrary<History> = fc.record({
  limits: fc.record({
    maxConcurrentTools: fc.integer({ min: 1, max: 2 }),
    maxOpenCalls: fc.integer({ min: 1, max: 3 }),
    dropUnreadAudio: fc.boolean(),
  }),
  fullFrom: fc.nat(60),
  steps: fc.array(
    fc.record({
      happening,
      room: fc.nat(3),
      unreadAudio: fc.nat(1),
    }),
    { maxLength: 80, size: 'max' },
  ),
});

/** What stood before and after a step, and what it asked for. */
interface Step {
  readonly happening: Happening;
  readonly occurrence: Act;
  readonly room: number;
  readonly unreadAudio: number;
  readonly before: ReadonlyMap<string, CallStateName>;
  readonly after: ReadonlyMap<string, CallStateName>;
  readonly wasOpen: boolean;
  readonly isOpen: boolean;
  readonly reason: EndReason | 'none';
  readonly asked: Effects;
  readonly composition: Composition;
}

const isOpen = ({ session }: Composition) => sessionStateOf(session).startsWith('open.');
const statesOf = ({ coordination }: Composition) =>
  new Map([...coordination.calls()].map(({ id, state }) => [id, state]));
const typesOf = (asked: Effects) => asked.map(({ type }) => type);

/** Plays a history on a session that is connected, and looks at every step of it. */
function play({ limits, fullFrom, steps }: History, look: (step: Step) => void): void {
  const composition = createComposition(limits);
  composition.coordination.take({ at: 'session', type: 'connected' }, Number.POSITIVE_INFINITY, 0);
  const known: string[] = [];
  const calls = new Map<string, BareCall>();
  for (const [index, { happening, room: left, unreadAudio }] of steps.entries()) {
    const room = index < fullFrom ? Number.POSITIVE_INFINITY : left;
    const occurrence = occurrenceOf(happening, known, calls, [...composition.coordination.open]);
    if (occurrence === undefined) continue;
    const before = statesOf(composition);
    const wasOpen = isOpen(composition);
    const asked = composition.coordination.take(occurrence, room, unreadAudio);
    const after = statesOf(composition);
    for (const id of after.keys()) if (!known.includes(id)) known.push(id);
    for (const call of composition.coordination.open) calls.set(call.id, call);
    const { reason } = composition.session.context;
    look({
      happening,
      occurrence,
      room,
      unreadAudio,
      before,
      after,
      wasOpen,
      isOpen: isOpen(composition),
      reason,
      asked,
      composition,
    });
  }
}

function occurrenceOf(
  happening: Happening,
  known: readonly string[],
  calls: ReadonlyMap<string, BareCall>,
  open: readonly BareCall[],
): Act | undefined {
  const named = (of: number): string | undefined => known[known.length - 1 - (of % Math.max(known.length, 1))];
  switch (happening.what) {
    case 'call': {
      const id = happening.id === -1 ? `c${known.length}` : (named(happening.id) ?? 'c0');
      const rules = everyRules[happening.rules] as (typeof everyRules)[number];
      return {
        at: 'session',
        type: 'tool_call',
        candidate: { id, name: happening.name, digest: happening.digest, rules },
      };
    }
    case 'answer': {
      const among = happening.leads ? open : [...calls.values()];
      const call = among[happening.of % Math.max(among.length, 1)];
      if (call === undefined) return undefined;
      const waited = answers.filter((type) => call.snapshot.can({ type }));
      const from = happening.leads && waited.length > 0 ? waited : answers;
      return { at: 'call', type: from[happening.any % from.length] as CallEventType, call };
    }
    case 'decision':
      return { at: 'session', type: 'host_act', act: { type: happening.type, id: named(happening.of) ?? 'nobody' } };
    case 'withdrawal':
      return { at: 'session', type: 'tool_call_cancelled', ids: happening.of.map((of) => named(of) ?? 'nobody') };
    case 'session':
      return { at: 'session', type: happening.type } as Act;
  }
}

/** How often something was met over all runs of a property: what was never met was never shown. */
function counted(): { met(): void; readonly times: number } {
  let times = 0;
  return {
    met: () => {
      times++;
    },
    get times() {
      return times;
    },
  };
}

/** A few histories need not have met everything. */
const shown = test.skipIf(runs < 200);

// ── the invariants ──

describe('the coordination', () => {
  const repeats = counted();
  property('K1: never admits a known id again', history, (history) => {
    play(history, ({ occurrence, before, after, wasOpen, reason, asked }) => {
      if (occurrence.at !== 'session' || occurrence.type !== 'tool_call' || !wasOpen) return;
      const { id } = occurrence.candidate;
      const admissions = asked.filter(({ type }) => type === 'reportStarted');
      if (!before.has(id)) return;
      repeats.met();
      expect(admissions).toEqual([]);
      expect(reason).toBe('protocol_failure');
      expect([...after.keys()]).toEqual([...before.keys()]);
    });
  });
  shown('K1: repeats were met', () => expect(repeats.times).toBeGreaterThan(0));

  const queues = counted();
  property('K2: gives places in order of admission, all of them, and never one too many', history, (history) => {
    play(history, ({ before, after, asked, isOpen }) => {
      const inState = (states: ReadonlyMap<string, CallStateName>, ...names: CallStateName[]) =>
        [...states].filter(([, state]) => names.includes(state)).map(([id]) => id);
      const held = inState(after, 'starting', 'executing');
      expect(held.length).toBeLessThanOrEqual(history.limits.maxConcurrentTools);
      const waiting = inState(after, 'queued');
      if (waiting.length > 0) queues.met();
      if (isOpen && waiting.length > 0) expect(held).toHaveLength(history.limits.maxConcurrentTools);
      // whoever was given a place came before whoever still waits
      const order = [...after.keys()];
      const placed = asked.flatMap(({ type, params, call }) =>
        type === 'callChanged' && (params as { from: string | null }).from === 'queued' && call !== undefined
          ? held.filter((id) => id === call.id)
          : [],
      );
      for (const id of placed) {
        for (const other of waiting) expect(order.indexOf(id)).toBeLessThan(order.indexOf(other));
      }
      expect(placed).toEqual([...placed].sort((one, other) => order.indexOf(one) - order.indexOf(other)));
      expect(before.size).toBeLessThanOrEqual(after.size);
    });
  });
  shown('K2: calls had to wait', () => expect(queues.times).toBeGreaterThan(0));

  const refusals = counted();
  const endedByRefusals = counted();
  property(
    'K3: keeps the number of open calls, and of refused results in flight, within `maxOpenCalls`',
    history,
    (history) => {
      const { maxOpenCalls } = history.limits;
      play(history, ({ after, asked, isOpen, wasOpen, reason, composition }) => {
        const open = [...composition.coordination.open];
        expect(open.filter(({ refused }) => !refused).length).toBeLessThanOrEqual(maxOpenCalls);
        const admitted = asked.find(({ type }) => type === 'reportStarted')?.call;
        if (admitted !== undefined) {
          // a call is refused for its number where the others fill it, and nowhere else
          const others = open.filter(({ id, refused }) => !refused && id !== admitted.id).length;
          expect(admitted.refused).toBe(others >= maxOpenCalls);
        }
        const inFlight = open.filter(
          ({ refused, snapshot }) => refused && callStateOf(snapshot) === 'publishing',
        ).length;
        if (open.some(({ refused }) => refused)) refusals.met();
        if (isOpen) expect(inFlight).toBeLessThan(maxOpenCalls);
        // the one too many was sent before the end
        const sent = asked.findIndex(({ type, call }) => type === 'publish' && call?.refused === true);
        if (!wasOpen || isOpen || sent === -1) return;
        endedByRefusals.met();
        expect(reason).toBe('overflow');
        expect(typesOf(asked).indexOf('reportEnd')).toBeGreaterThan(sent);
        expect([...after.values()].filter((state) => !outcomes.includes(state))).toEqual([]);
      });
    },
  );
  shown('K3: calls were refused, and sessions ended by it', () => {
    expect(refusals.times).toBeGreaterThan(0);
    expect(endedByRefusals.times).toBeGreaterThan(0);
  });

  const overflows = counted();
  property('K4: reports no more than there is room for, and overflows at what does not fit', history, (history) => {
    play(history, ({ occurrence, room, unreadAudio, before, after, wasOpen, isOpen, reason, asked }) => {
      const types = typesOf(asked);
      const taken = types.filter((type) => type === 'deliver' || reports.includes(type)).length;
      const freed = types.includes('dropUnreadAudio') ? unreadAudio : 0;
      expect(taken).toBeLessThanOrEqual(room + freed);
      if (!wasOpen || isOpen || reason !== 'overflow') return;
      overflows.met();
      // one last event, behind everything that was reported
      expect(types.filter((type) => type === 'reportEnd')).toHaveLength(1);
      expect(
        types.slice(types.indexOf('reportEnd')).filter((type) => type === 'deliver' || reports.includes(type)),
      ).toEqual([]);
      if (occurrence.at === 'session' && occurrence.type !== 'host_act' && taken === 0) {
        // a far-side event that does not fit changes nothing: calls end as at any end
        expect([...after.keys()]).toEqual([...before.keys()]);
        for (const [id, state] of before) {
          const expected = outcomes.includes(state) ? state : state === 'publishing' ? 'unconfirmed' : 'cancelled';
          expect(after.get(id)).toBe(expected);
        }
      }
      if (occurrence.at === 'call' && before.get(occurrence.call.id) === 'publishing') {
        // the far side's answer stands
        const answered = {
          publish_accepted: 'completed',
          publish_rejected: 'rejected',
          publish_timed_out: 'unconfirmed',
        };
        const expected = answered[occurrence.type as keyof typeof answered];
        if (expected !== undefined) expect(after.get(occurrence.call.id)).toBe(expected);
      }
    });
  });
  shown('K4: buffers were full', () => {
    expect(overflows.times).toBeGreaterThan(0);
  });

  const afterwards = counted();
  property(
    'K5: after the fence admits, starts, sends and reports nothing, and has decided every call',
    history,
    (history) => {
      play(history, ({ before, after, wasOpen, isOpen, asked }) => {
        if (isOpen) return;
        for (const [id, state] of after) expect(outcomes, `${id} is ${state}`).toContain(state);
        if (wasOpen) return;
        afterwards.met();
        const forbidden = [
          'deliver',
          'execute',
          'publish',
          'stub',
          'flush',
          'validate',
          'requestApproval',
          'reportEnd',
          ...reports,
        ];
        expect(typesOf(asked).filter((type) => forbidden.includes(type))).toEqual([]);
        expect([...after]).toEqual([...before]);
      });
    },
  );
  shown('K5: sessions went on being stepped after their end', () => expect(afterwards.times).toBeGreaterThan(0));

  property(
    'D3, D4: an interruption decides exactly the calls before the commit point that are not delivered',
    history,
    (history) => {
      play(history, ({ occurrence, before, after, asked, isOpen, composition }) => {
        if (occurrence.at !== 'session' || occurrence.type !== 'interrupted' || !isOpen) return;
        const policies = new Map(
          [...composition.coordination.open].map(({ id, snapshot }) => [id, snapshot.context.policy]),
        );
        for (const [id, state] of before) {
          const now = after.get(id);
          if (outcomes.includes(state) || state === 'publishing') expect(now).toBe(state);
          else if (now !== 'abandoned') expect(policies.get(id)).toBe('deliver');
        }
        const abandoned = asked.filter(({ type }) => type === 'reportAbandoned').map(({ call }) => call?.id);
        expect(abandoned).toEqual(
          [...before]
            .filter(([id, state]) => after.get(id) !== state && after.get(id) === 'abandoned')
            .map(([id]) => id),
        );
      });
    },
  );
});

// ── orders, by example ──

describe('the orders of §5', () => {
  const limits = { maxConcurrentTools: 2, maxOpenCalls: 10, dropUnreadAudio: false };

  /** A session with these calls, each executing where there is a place. */
  function started(policies: readonly ('abandon' | 'cancel' | 'deliver')[], over: Partial<typeof limits> = {}) {
    const composition = createComposition({ ...limits, ...over });
    const take = (occurrence: Act, room = Number.POSITIVE_INFINITY, unreadAudio = 0) =>
      composition.coordination.take(occurrence, room, unreadAudio);
    take({ at: 'session', type: 'connected' });
    policies.forEach((policy, index) => {
      const candidate = {
        id: `t${index + 1}`,
        name: 'look',
        digest: '',
        rules: { policy, writeStart: false, writePublish: false },
      };
      take({ at: 'session', type: 'tool_call', candidate });
      take({ at: 'call', type: 'input_accepted', call: callOf(`t${index + 1}`) });
    });
    function callOf(id: string): BareCall {
      const call = composition.coordination.find(id);
      expect(call).toBeDefined();
      return call as BareCall;
    }
    return { composition, take, callOf };
  }

  /** What is asked for, in words: `execute t3`. Without what the host and the driver never see. */
  function words(asked: Effects): string[] {
    const inner = ['callChanged', 'armTimeout', 'disarmTimeout', 'armPublishTimeout', 'disarmPublishTimeout'];
    return asked
      .filter(({ type }) => !inner.includes(type))
      .map(({ type, call }) => (call === undefined ? type : `${type} ${call.id}`));
  }

  test('an interruption: the event, call by call in order of admission, then the places that became free', () => {
    const { take } = started(['cancel', 'abandon', 'deliver', 'abandon', 'deliver']);
    expect(words(take({ at: 'session', type: 'interrupted' }))).toEqual([
      'deliver',
      'resolveInterrupts',
      'reportAbandoned t1',
      'abortSignal t1',
      'stub t1',
      'reportAbandoned t2',
      'stub t2',
      'reportAbandoned t4',
      'stub t4',
      'execute t3',
      'execute t5',
    ]);
  });

  test('a withdrawal: in order of admission, whatever the order of the ids, without a stub', () => {
    const { take } = started(['deliver', 'deliver', 'deliver']);
    expect(words(take({ at: 'session', type: 'tool_call_cancelled', ids: ['t2', 'nobody', 't1', 't2'] }))).toEqual([
      'reportAbandoned t1',
      'abortSignal t1',
      'reportAbandoned t2',
      'abortSignal t2',
      'execute t3',
    ]);
  });

  test('an end: the last event, the signals, the lifetime, the close; then the refusals, then `closed`', () => {
    const { take } = started(['abandon', 'deliver', 'deliver']);
    take({ at: 'session', type: 'interrupted' });
    expect(words(take({ at: 'session', type: 'stream_failed' }))).toEqual([
      'reportEnd',
      'abortSignal t1',
      'abortSignal t2',
      'abortSignal t3',
      'abortLifetime',
      'armCloseTimeout',
      'closeDriver',
    ]);
    expect(words(take({ at: 'session', type: 'close_settled' }))).toEqual([
      'disarmCloseTimeout',
      'refusePending',
      'resolveClosed',
    ]);
  });

  test('a result: the publish comes before the start in the place that it gives back', () => {
    const { take, callOf } = started(['abandon', 'abandon', 'abandon']);
    expect(words(take({ at: 'call', type: 'code_resolved', call: callOf('t1') }))).toEqual([
      'publish t1',
      'execute t3',
    ]);
  });

  test('a consequence that does not fit ends the step there; what was free is not given', () => {
    const { take, composition } = started(['abandon', 'abandon', 'deliver']);
    expect(words(take({ at: 'session', type: 'interrupted' }, 2))).toEqual([
      'deliver',
      'resolveInterrupts',
      'reportAbandoned t1',
      'stub t1',
      'noteOverflow',
      'reportEnd',
      'abortSignal t1',
      'abortSignal t2',
      'abortLifetime',
      'armCloseTimeout',
      'closeDriver',
    ]);
    expect([...statesOf(composition)]).toEqual([
      ['t1', 'abandoned'],
      ['t2', 'cancelled'],
      ['t3', 'cancelled'],
    ]);
  });

  test("the far side's answer stands, though the host cannot be told", () => {
    for (const [answer, outcome] of [
      ['publish_accepted', 'completed'],
      ['publish_rejected', 'rejected'],
      ['publish_timed_out', 'unconfirmed'],
    ] as const) {
      const { take, callOf, composition } = started(['abandon', 'abandon']);
      const call = callOf('t1');
      take({ at: 'call', type: 'code_resolved', call });
      expect(words(take({ at: 'call', type: answer, call }, 0))).toEqual([
        'noteOverflow',
        'reportEnd',
        'abortSignal t2',
        'abortLifetime',
        'armCloseTimeout',
        'closeDriver',
      ]);
      expect([...statesOf(composition).values()]).toEqual([outcome, 'cancelled']);
    }
  });

  test('unread audio goes before the interruption asks for its place', () => {
    const { take } = started([], { dropUnreadAudio: true });
    expect(words(take({ at: 'session', type: 'interrupted' }, 0, 1))).toEqual([
      'dropUnreadAudio',
      'deliver',
      'resolveInterrupts',
    ]);
  });

  test('a connection that comes after the end is closed, and host acts are refused', () => {
    const { coordination } = createComposition(limits);
    const take = (type: 'connect_timed_out' | 'connected' | 'connect_rejected') =>
      words(coordination.take({ at: 'session', type }, Number.POSITIVE_INFINITY, 0));
    expect(take('connect_timed_out')).toEqual(['refuseStart', 'abortLifetime', 'refusePending', 'resolveClosed']);
    expect(take('connected')).toEqual(['closeDriver']);
    expect(take('connect_rejected')).toEqual([]);
    const send: Act = { at: 'session', type: 'host_act', act: { type: 'send' } };
    expect(words(coordination.take(send, Number.POSITIVE_INFINITY, 0))).toEqual(['refuseAct']);
  });
});
