/**
 * M1 to M3 of `moves.ts`, told by example: what each life did in a step, in the
 * words in which a journal records it. That moves and records are one over all
 * histories is held by `test/verify`.
 */
import { describe, expect, test } from 'vitest';
import {
  type Asked,
  type BareCall,
  type CallEventType,
  type CallRules,
  type Composition,
  callStepper,
  createComposition,
  type Move,
  MoveLog,
  type Occurrence,
  type SessionEventType,
  sessionStepper,
  stateNameOf,
} from '../../machines/index.js';

const plain: CallRules = { policy: 'abandon', writeStart: false, writePublish: false };

/** `whose: event from > to [what it did]`; an effect that has a call says which. */
function told({ call, event, from, to, did }: Move<BareCall>): string {
  const effects = did.map((effect) => (effect.call === undefined ? '' : `${effect.call.id}.`) + effect.type);
  return `${call?.id ?? 'session'}: ${event} ${from} > ${to} [${effects.join(', ')}]`;
}

type PlainType = Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>;

/** A session with a place for one call, each step of which is told. */
class Stage {
  readonly composition: Composition = createComposition({
    maxConcurrentTools: 1,
    maxOpenCalls: 4,
    dropUnreadAudio: false,
  });
  readonly #calls = new Map<string, BareCall>();

  take(occurrence: Occurrence<BareCall>, room = Number.POSITIVE_INFINITY): readonly Move<BareCall>[] {
    const moves = this.composition.take(occurrence, room, 0);
    for (const { call } of moves) if (call !== undefined) this.#calls.set(call.id, call);
    return moves;
  }

  session(type: PlainType): string[] {
    return this.take({ at: 'session', type }).map(told);
  }

  admit(id: string, rules: CallRules = plain): string[] {
    const candidate = { id, name: 'look', digest: '', rules };
    return this.take({ at: 'session', type: 'tool_call', candidate }).map(told);
  }

  call(id: string, type: CallEventType): string[] {
    return this.take({ at: 'call', type, call: this.#calls.get(id) as BareCall }).map(told);
  }

  act(type: 'approve' | 'send', id = ''): string[] {
    const act = type === 'approve' ? { type, id } : { type };
    return this.take({ at: 'session', type: 'host_act', act }).map(told);
  }

  withdraw(ids: readonly string[], room = Number.POSITIVE_INFINITY): string[] {
    return this.take({ at: 'session', type: 'tool_call_cancelled', ids }, room).map(told);
  }
}

function opened(): Stage {
  const stage = new Stage();
  stage.session('connected');
  return stage;
}

describe('moves', () => {
  test('of a session alone: its beginning, and a step each', () => {
    const stage = new Stage();
    expect(told(stage.composition.begin())).toBe('session:   > connecting [armConnectTimeout, connectDriver]');
    expect(stage.session('connected')).toEqual([
      'session: connected connecting > open.waiting [disarmConnectTimeout, readEvents, resolveStart]',
    ]);
    expect(stage.session('text')).toEqual(['session: text open.waiting > open.responding [deliver]']);
    expect(stage.session('text')).toEqual(['session: text open.responding > open.responding [deliver]']);
  });

  test('M1: what followed stands behind what happened, in the order in which lives were advanced', () => {
    const stage = opened();
    expect(stage.admit('c1')).toEqual([
      'session: tool_call open.waiting > open.responding []',
      'c1:   > admitted [c1.reportStarted, c1.validate]',
    ]);
    expect(stage.call('c1', 'input_accepted')).toEqual([
      'c1: input_accepted admitted > queued [c1.disarmTimeout]',
      'c1: placed queued > executing [c1.execute, c1.armTimeout]',
    ]);
    stage.admit('c2');
    expect(stage.call('c2', 'input_accepted')).toEqual(['c2: input_accepted admitted > queued [c2.disarmTimeout]']);
    stage.admit('c3');
    expect(stage.session('interrupted')).toEqual([
      'session: interrupted open.responding > open.waiting [deliver, resolveInterrupts]',
      'c1: interrupted executing > abandoned.draining [c1.disarmTimeout, c1.reportAbandoned, c1.stub]',
      'c2: interrupted queued > abandoned.settled [c2.reportAbandoned, c2.stub]',
      'c3: interrupted admitted > abandoned.settled [c3.disarmTimeout, c3.reportAbandoned, c3.stub]',
    ]);
  });

  test('M1, M2: a freed place is given after the call that held it has moved', () => {
    const stage = opened();
    for (const id of ['c1', 'c2']) {
      stage.admit(id);
      stage.call(id, 'input_accepted');
    }
    expect(stage.call('c1', 'code_resolved')).toEqual([
      'c1: code_resolved executing > publishing [c1.disarmTimeout, c1.publish, c1.armPublishTimeout]',
      'c2: placed queued > executing [c2.execute, c2.armTimeout]',
    ]);
  });

  test("M2: what the session asks for after its calls were moved is the session's, and an overflow has a move of its own", () => {
    const stage = opened();
    stage.admit('c1', { ...plain, policy: 'deliver' });
    stage.call('c1', 'input_accepted');
    stage.admit('c2');
    expect(stage.withdraw(['c1', 'c2'], 0)).toEqual([
      'session: tool_call_cancelled open.responding > open.responding [noteOverflow]',
      'session: overflow open.responding > closing [reportEnd, abortLifetime, armCloseTimeout, closeDriver]',
      'c1: session_ended executing > cancelled [c1.disarmTimeout, c1.abortSignal]',
      'c2: session_ended admitted > cancelled [c2.disarmTimeout]',
    ]);
    expect(stage.session('close_settled')).toEqual([
      'session: close_settled closing > closed [disarmCloseTimeout, refusePending, resolveClosed]',
    ]);
  });

  test('M2: what is asked for a call before it was advanced belongs to the life that was', () => {
    const stage = opened();
    stage.admit('c1');
    stage.call('c1', 'approval_required');
    expect(stage.act('approve', 'c1')).toEqual([
      'session: host_act open.responding > open.responding [c1.performAct]',
      'c1: approved awaiting_approval > queued []',
      'c1: placed queued > executing [c1.execute, c1.armTimeout]',
    ]);
    expect(stage.act('approve', 'c1')).toEqual(['session: host_act open.responding > open.responding [refuseAct]']);
  });

  test('M2: every effect stands in one move, in the order in which it was asked for', () => {
    const { coordination } = createComposition({ maxConcurrentTools: 1, maxOpenCalls: 4, dropUnreadAudio: false });
    const stage = opened();
    const candidate = { id: 'c1', name: 'look', digest: '', rules: plain };
    const steps: Occurrence<BareCall>[] = [
      { at: 'session', type: 'tool_call', candidate },
      { at: 'session', type: 'interrupted' },
      { at: 'session', type: 'host_close' },
    ];
    coordination.take({ at: 'session', type: 'connected' }, 9, 0);
    for (const step of steps) {
      const bare = (asked: readonly Asked<BareCall>[]) => asked.map(({ type, params }) => ({ type, params }));
      const asked = coordination.take(step, 9, 0).filter(({ type }) => type !== 'callChanged');
      // calls are in order of admission, the session's effects around them: one order for each life
      const moves = stage.take(step, 9);
      for (const whose of [undefined, 'c1']) {
        const did = moves.flatMap((move) => move.did).filter(({ call }) => call?.id === whose);
        expect(bare(did)).toEqual(bare(asked.filter(({ call }) => call?.id === whose)));
      }
    }
  });

  test('M3: a step that neither moves a life nor asks is none', () => {
    const stage = opened();
    stage.admit('c1');
    expect(stage.call('c1', 'publish_accepted')).toEqual([]);
    expect(stage.withdraw(['c9'])).toEqual([]);
    stage.session('host_close');
    expect(stage.session('text')).toEqual([]);
    stage.session('close_settled');
    expect(stage.session('close_settled')).toEqual([]);
  });

  test('M3: a life that neither moved nor asked has a move where it came first, and else none', () => {
    const stage = opened();
    stage.admit('c1', { ...plain, policy: 'deliver' });
    stage.admit('c2');
    // the withdrawal asks for nothing of the session's, but it came first; c1 goes on with what it does
    expect(stage.withdraw(['c2'])).toEqual([
      'session: tool_call_cancelled open.responding > open.responding []',
      'c2: withdrawn admitted > abandoned.settled [c2.disarmTimeout, c2.reportAbandoned]',
    ]);
    expect(stage.session('interrupted')).toEqual([
      'session: interrupted open.responding > open.waiting [deliver, resolveInterrupts]',
    ]);
  });

  test('M3: a step that moves no life and asks for something is one move that stays', () => {
    const stage = opened();
    stage.admit('c1');
    stage.call('c1', 'input_accepted');
    stage.session('interrupted');
    stage.call('c1', 'code_resolved');
    expect(stage.call('c1', 'code_resolved')).toEqual([
      'c1: code_resolved abandoned.settled > abandoned.settled [c1.tellLate]',
    ]);
    stage.session('host_close');
    stage.session('close_settled');
    expect(stage.act('send')).toEqual(['session: host_act closed > closed [refuseAct]']);
  });
});

describe('a transition', () => {
  test('is one object for all lives that take it, and says whether anything changed', () => {
    const stage = opened();
    const other = opened();
    const admit = (on: Stage, id: string) =>
      on.take({ at: 'session', type: 'tool_call', candidate: { id, name: 'look', digest: '', rules: plain } });
    const [first, begun] = admit(stage, 'c1');
    const [again, begunAgain] = admit(other, 'c7');
    expect(first?.transition).toEqual({
      event: 'tool_call',
      from: 'open.waiting',
      to: 'open.responding',
      stays: false,
    });
    expect(begun?.transition).toEqual({ event: '', from: '', to: 'admitted', stays: false });
    expect(again?.transition).toBe(first?.transition);
    expect(begunAgain?.transition).toBe(begun?.transition);
    expect(Object.isFrozen(first?.transition)).toBe(true);
    const [stays] = admit(stage, 'c2');
    expect(stays?.transition).toEqual({
      event: 'tool_call',
      from: 'open.responding',
      to: 'open.responding',
      stays: true,
    });
  });

  test('is named by the whole path of a state', () => {
    const { snapshot } = sessionStepper.initial(undefined as never);
    expect(stateNameOf(snapshot)).toBe('connecting');
    expect(stateNameOf(sessionStepper.step(snapshot, 'connected').snapshot)).toBe('open.waiting');
    const admitted = callStepper.initial(plain).snapshot;
    expect(stateNameOf(callStepper.step(admitted, 'withdrawn').snapshot)).toBe('abandoned.settled');
  });
});

describe('a log of moves', () => {
  test('gives the only advance away where there is one, and keeps them where there are more', () => {
    const log = new MoveLog<BareCall>();
    expect(log.takeOnly()).toBeUndefined();
    const first = sessionStepper.initial(undefined as never).snapshot;
    const open = sessionStepper.step(first, 'connected').snapshot;
    log.session('connected', first, open, 0);
    expect(log.takeOnly()).toMatchObject({ call: undefined, at: 0, transition: { event: 'connected' } });
    expect(log.takeOnly()).toBeUndefined();

    const { snapshot } = callStepper.initial(plain);
    const call: BareCall = { id: 'c1', name: 'look', digest: '', refused: false, snapshot };
    log.session('tool_call', open, open, 0);
    log.admitted(call, snapshot, 0);
    expect(log.takeOnly()).toBeUndefined();
    const candidate = { id: 'c1', name: 'look', digest: '', rules: plain };
    const moves = log.take({ at: 'session', type: 'tool_call', candidate }, open, []);
    expect(moves.map(told)).toEqual(['session: tool_call open.waiting > open.responding []', 'c1:   > admitted []']);
    // what was taken is gone
    expect(log.takeOnly()).toBeUndefined();
    expect(log.take({ at: 'session', type: 'text' }, open, [])).toEqual([]);
  });
});
