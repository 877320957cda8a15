/**
 * What the histories of `coordination.test.ts` do not look at, told by example:
 * the words of an end, the exact room that a step takes, what is refused and
 * why, and standing where another one stood.
 */
import { describe, expect, test } from 'vitest';
import {
  type Asked,
  type BareCall,
  type CallEventType,
  type CallRules,
  type Composition,
  createComposition,
  type EndedCall,
  type Limits,
  maxIds,
  type Occurrence,
  type SessionEventType,
  sessionMachine,
  sessionStateOf,
  sessionStepper,
} from '../../machines/index.js';

const plain: CallRules = { policy: 'abandon', writeStart: false, writePublish: false };
const roomy: Limits = { maxConcurrentTools: 2, maxOpenCalls: 4, dropUnreadAudio: false };
const free = Number.POSITIVE_INFINITY;
const tooSlow = 'the host reads too slowly: its buffer of events is full';

type PlainType = Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>;
type AskedOfCall = Asked<BareCall>;

/** A session that is connected, and what its steps ask for. */
class Stage {
  readonly composition: Composition;
  readonly #calls = new Map<string, BareCall>();

  constructor(limits: Limits = roomy) {
    this.composition = createComposition(limits);
    this.session('connected');
  }

  take(occurrence: Occurrence<BareCall>, room = free, unreadAudio = 0): readonly AskedOfCall[] {
    const asked = this.composition.coordination.take(occurrence, room, unreadAudio);
    for (const call of this.composition.coordination.open) this.#calls.set(call.id, call);
    return asked;
  }

  session(type: PlainType, room = free, unreadAudio = 0): readonly AskedOfCall[] {
    return this.take({ at: 'session', type }, room, unreadAudio);
  }

  admit(id: string, rules = plain, room = free): readonly AskedOfCall[] {
    return this.take({ at: 'session', type: 'tool_call', candidate: { id, name: 'look', digest: '', rules } }, room);
  }

  call(id: string, type: CallEventType, room = free): readonly AskedOfCall[] {
    return this.take({ at: 'call', type, call: this.#calls.get(id) as BareCall }, room);
  }

  execute(id: string, rules = plain): void {
    this.admit(id, rules);
    this.call(id, 'input_accepted');
  }

  approve(id: string): readonly AskedOfCall[] {
    return this.take({ at: 'session', type: 'host_act', act: { type: 'approve', id } });
  }

  get state(): string {
    return sessionStateOf(this.composition.session);
  }

  get reason(): string {
    return this.composition.session.context.reason;
  }
}

const typesOf = (asked: readonly AskedOfCall[]) => asked.map(({ type }) => type);
const detailOf = (asked: readonly AskedOfCall[], type: string) => asked.find((effect) => effect.type === type)?.detail;
const changesIn = (asked: readonly AskedOfCall[]) =>
  asked.filter(({ type }) => type === 'callChanged').map(({ call, params }) => [call?.id, params]);

describe('the coordination', () => {
  test('tells of every change of a call, and of none where it stays', () => {
    const stage = new Stage();
    expect(changesIn(stage.admit('c1'))).toEqual([['c1', { from: null, to: 'admitted' }]]);
    expect(changesIn(stage.call('c1', 'input_accepted'))).toEqual([
      ['c1', { from: 'admitted', to: 'queued' }],
      ['c1', { from: 'queued', to: 'executing' }],
    ]);
    expect(changesIn(stage.session('interrupted'))).toEqual([['c1', { from: 'executing', to: 'abandoned' }]]);
    // draining or settled: for hosts it is one state
    expect(typesOf(stage.call('c1', 'code_resolved'))).toEqual(['noteSettledLate', 'tellLate']);
  });

  test('tells of the code of a call that was decided without it, and of nothing else', () => {
    for (const type of ['code_resolved', 'code_rejected'] as const) {
      const stage = new Stage();
      stage.execute('c1');
      stage.call('c1', 'timed_out');
      stage.call('c1', 'publish_accepted');
      expect(typesOf(stage.call('c1', 'timed_out'))).toEqual([]);
      expect(typesOf(stage.call('c1', 'publish_accepted'))).toEqual([]);
      expect(typesOf(stage.call('c1', type))).toEqual(['tellLate']);
    }
  });

  test('says why an approval is refused', () => {
    const stage = new Stage();
    const refusalOf = (id: string) => {
      const asked = stage.approve(id);
      expect(typesOf(asked)).toEqual(['refuseAct']);
      return detailOf(asked, 'refuseAct');
    };
    expect(refusalOf('c1')).toBe('no such call');
    stage.execute('c1');
    expect(refusalOf('c1')).toBe('executing');
    stage.session('interrupted');
    stage.call('c1', 'code_resolved');
    expect(refusalOf('c1')).toBe('abandoned');
    stage.admit('c2');
    expect(refusalOf('c3')).toBe('no such call');
  });

  test('K3: says how many results wait when those beyond the limit are too many', () => {
    const stage = new Stage({ ...roomy, maxOpenCalls: 1 });
    stage.execute('c1');
    stage.admit('c2');
    const asked = stage.call('c2', 'input_refused');
    expect(detailOf(asked, 'reportEnd')).toBe('1 calls beyond the 1 open ones wait for the far side');
    expect(asked.find(({ type }) => type === 'noteOverflow')?.params).toBe(0);
  });

  test.each(['text', 'audio', 'turn_complete', 'interrupted', 'error'] as const)(
    'K4: %s takes a place, and overflows where there is none',
    (type) => {
      const fits = new Stage();
      expect(typesOf(fits.session(type, 1))).toContain('deliver');
      expect(fits.reason).toBe('none');
      const full = new Stage();
      const asked = full.session(type, 0);
      expect(typesOf(asked).slice(0, 2)).toEqual(['noteOverflow', 'reportEnd']);
      expect(asked[0]?.params).toBe(1);
      expect(detailOf(asked, 'reportEnd')).toBe(tooSlow);
    },
  );

  test('K4: an interruption takes one place, and one for each call that it abandons: what else is asked takes none', () => {
    for (const [room, reason] of [
      [3, 'none'],
      [2, 'overflow'],
    ] as const) {
      const stage = new Stage();
      stage.execute('c1', { ...plain, policy: 'cancel' });
      stage.execute('c2', { ...plain, policy: 'cancel' });
      const asked = stage.session('interrupted', room);
      expect(typesOf(asked).filter((type) => type === 'reportAbandoned')).toHaveLength(room - 1);
      expect(stage.reason).toBe(reason);
      if (reason === 'overflow') expect(detailOf(asked, 'reportEnd')).toBe(tooSlow);
    }
  });

  test.each([
    ['publish_accepted', 'completed'],
    ['publish_rejected', 'rejected'],
    ['publish_timed_out', 'unconfirmed'],
  ] as const)("K4: %s that cannot be reported stands, and is the session's end", (type, state) => {
    const stage = new Stage();
    stage.execute('c1');
    stage.call('c1', 'code_resolved');
    const asked = stage.call('c1', type, 0);
    expect(stage.composition.coordination.find('c1')).toEqual({ id: 'c1', name: 'look', digest: '', state });
    expect(typesOf(asked).filter((each) => each.startsWith('report'))).toEqual(['reportEnd']);
    // it is the answer that has decided the call, not the end
    expect(changesIn(asked)).toEqual([['c1', { from: 'publishing', to: state }]]);
    expect(typesOf(asked).indexOf('callChanged')).toBeLessThan(typesOf(asked).indexOf('noteOverflow'));
    expect(detailOf(asked, 'reportEnd')).toBe(tooSlow);
    expect(asked.find(({ type: each }) => each === 'noteOverflow')?.params).toBe(1);
  });

  test('unread audio is dropped where there is some, and makes room', () => {
    const limits = { ...roomy, dropUnreadAudio: true };
    expect(typesOf(new Stage(limits).session('interrupted', 1, 0))).toEqual(['deliver', 'resolveInterrupts']);
    const full = new Stage(limits);
    expect(typesOf(full.session('interrupted', 0, 1))).toEqual(['dropUnreadAudio', 'deliver', 'resolveInterrupts']);
    expect(typesOf(new Stage(limits).session('text', 1, 1))).toEqual(['deliver']);
  });

  test('K5: a session that is not open takes nothing, drops nothing and overflows no more', () => {
    const connecting = createComposition({ ...roomy, dropUnreadAudio: true });
    const stage = new Stage({ ...roomy, dropUnreadAudio: true });
    stage.execute('c1');
    stage.session('host_close');
    expect(stage.state).toBe('closing');
    for (const { coordination } of [connecting, stage.composition]) {
      for (const type of ['interrupted', 'text'] as const) {
        expect(coordination.take({ at: 'session', type }, 0, 1)).toEqual([]);
      }
    }
    expect(stage.admit('c1')).toEqual([]);
    expect(stage.admit('c2', plain, 0)).toEqual([]);
    expect(stage.reason).toBe('host');
  });

  test('K1: a session remembers so many ids and no more', () => {
    const ended: EndedCall = { id: '', name: 'look', digest: '', state: 'completed' };
    const known = Array.from({ length: maxIds }, (_, number) => ({ ...ended, id: String(number) }));
    const counts = { admitted: 0, refusedPublishing: 0, placesHeld: 0, queued: 0 };
    const stage = new Stage();
    stage.composition.resume(stage.composition.session, known.slice(1), counts);
    expect(typesOf(stage.admit('last'))).toContain('reportStarted');
    const asked = stage.admit('one more');
    expect(stage.reason).toBe('overflow');
    expect(detailOf(asked, 'reportEnd')).toBe('more than 1000000 calls in one session');
    expect(asked[0]).toMatchObject({ type: 'noteOverflow', params: 1 });
  });
});

describe('a composition', () => {
  test('gives the moves of the step at hand, whatever others took before', () => {
    const stage = new Stage();
    stage.execute('c1');
    stage.session('interrupted');
    const { composition } = stage;
    const [move, ...others] = composition.take({ at: 'session', type: 'text' }, free, 0);
    expect([move?.event, move?.from, others]).toEqual(['text', 'open.waiting', []]);
    stage.session('turn_complete');
    expect(composition.take({ at: 'session', type: 'text' }, free, 0)).toHaveLength(1);
  });

  test('counts its calls, and stands where another one stood', () => {
    const stage = new Stage({ maxConcurrentTools: 1, maxOpenCalls: 3, dropUnreadAudio: false });
    for (const id of ['c1', 'c2', 'c3', 'c4']) stage.admit(id);
    stage.call('c4', 'input_refused');
    stage.call('c1', 'input_accepted');
    stage.call('c2', 'input_accepted');
    stage.take({ at: 'session', type: 'tool_call_cancelled', ids: ['c3'] });
    const { coordination, session } = stage.composition;
    expect(coordination.counts).toEqual({ admitted: 2, refusedPublishing: 1, placesHeld: 1, queued: 1 });
    expect([...coordination.open].map(({ id }) => id)).toEqual(['c1', 'c2', 'c4']);

    const again = createComposition({ maxConcurrentTools: 1, maxOpenCalls: 3, dropUnreadAudio: false });
    const ids = [...coordination.calls()].map(({ id }) => id);
    const lives = ids.map((id) => coordination.find(id) as BareCall | EndedCall);
    again.resume(session, lives.map((life) => ({ ...life })) as typeof lives, coordination.counts);
    expect(again.session).toBe(session);
    expect([...again.coordination.calls()]).toEqual([...coordination.calls()]);
    expect([...again.coordination.open].map(({ id }) => id)).toEqual(['c1', 'c2', 'c4']);
    expect(again.coordination.counts).toEqual(coordination.counts);
    // the place that c1 gives back is c2's, and the number of those that are refused still counts
    const c1 = again.coordination.find('c1') as BareCall;
    again.coordination.take({ at: 'call', type: 'code_resolved', call: c1 }, free, 0);
    expect([...again.coordination.calls()].map(({ state }) => state)).toEqual([
      'publishing',
      'executing',
      'abandoned',
      'publishing',
    ]);
  });
});

describe('the session machine', () => {
  test('knows that a connection that never was is gone', () => {
    const { snapshot } = sessionStepper.initial(undefined as never);
    expect(sessionStepper.step(snapshot, 'connect_rejected').snapshot.context).toEqual({
      reason: 'connect_failed',
      connection: 'gone',
    });
    const closing = sessionStepper.step(snapshot, 'host_close').snapshot;
    expect(sessionStepper.step(closing, 'connect_rejected').snapshot.context).toEqual({
      reason: 'host',
      connection: 'gone',
    });
    expect(sessionMachine.id).toBe('session');
  });
});
