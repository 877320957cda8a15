/** Sessions and calls as XState actors (A1–A4 of `src/runtime/actors.ts`), held against XState's own system. */
import fc from 'fast-check';
import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type AnyActorRef,
  createActor,
  createMachine,
  type InspectionEvent,
  type Snapshot,
  toPromise,
  waitFor,
} from 'xstate';
import {
  type CallRules,
  callEvents,
  callStepper,
  sessionEvents,
  sessionMachine,
  sessionStepper,
  toolInvocationMachine,
} from '../../machines/index.js';
import { ActorSystem, CallActor, SessionActor } from '../../src/runtime/actors.js';
import { defineTool, type SessionActorRef } from '../../src/runtime/index.js';
import { held, outcomeOf, quiet, readAll, stage, toolCall, watchProcess } from './stage.js';

/** What an actor can be asked although its types say no: hosts write JavaScript, too. */
type AnyHow = { send(event: { type: string }): void; stop(): unknown; start(): unknown };
const anyhow = (actor: unknown) => actor as AnyHow;

/** Whose inspection event it is. */
const actorOf = ({ actorRef }: InspectionEvent) => actorRef as AnyActorRef;

/** An inspection event in one line: what an inspector tells apart. */
function line(event: InspectionEvent): string {
  const where = `${event.type} ${actorOf(event).id}`;
  const value = (snapshot: unknown) => JSON.stringify(snapshotOf(snapshot as Snapshot<unknown>));
  switch (event.type) {
    case '@xstate.event':
      return `${where} ${event.event.type}`;
    case '@xstate.action':
      return `${where} ${event.action.type} ${JSON.stringify(event.action.params)}`;
    case '@xstate.microstep':
    case '@xstate.snapshot':
      return `${where} ${event.event.type} ${value(event.snapshot)}`;
    default:
      return where;
  }
}

function snapshotOf(snapshot: Snapshot<unknown>) {
  const { status, value, context } = snapshot as Snapshot<unknown> & { value: unknown; context: unknown };
  return { status, value, context };
}

/** A child is sent an event as a parent would: by its system, from nobody. */
function relay(system: unknown, target: AnyActorRef, type: string): void {
  (system as { _relay(source: undefined, target: AnyActorRef, event: { type: string }): void })._relay(
    undefined,
    target,
    { type },
  );
}

const silent = { threw: () => {}, foreign: () => {} };

describe('a session is an XState actor', () => {
  it('shows where it stands: getSnapshot, matches', async () => {
    const { session, emit } = await stage();
    const stands = () => session.actor.getSnapshot();
    expect(stands().matches({ open: 'waiting' })).toBe(true);
    await emit({ type: 'text', text: 'hello' });
    expect(stands().matches({ open: 'responding' })).toBe(true);
    await emit({ type: 'turn_complete' });
    expect(stands().matches({ open: 'waiting' })).toBe(true);
    await emit({ type: 'closed', reason: 'bye' });
    expect(stands().matches('closed')).toBe(true);
    expect(stands().status).toBe('done');
    expect(session.actor.id).toBe(session.sessionId);
  });

  it('can be waited for with waitFor and toPromise', async () => {
    const { session, emit } = await stage();
    const responding = waitFor(session.actor, (snapshot) => snapshot.matches({ open: 'responding' }));
    const done = toPromise(session.actor);
    await emit({ type: 'text', text: 'hello' });
    expect((await responding).value).toEqual({ open: 'responding' });
    const never = outcomeOf(waitFor(session.actor, (snapshot) => snapshot.matches('connecting')));
    await emit({ type: 'closed' });
    expect(await never).toHaveProperty('error');
    await expect(done).resolves.toBeUndefined();
  });

  it('tells subscribers of each state and of the end, RxJS ones too', async () => {
    const { session, emit } = await stage();
    const plain: unknown[] = [];
    const rx: unknown[] = [];
    const selected: unknown[] = [];
    session.actor.subscribe({
      next: (snapshot) => plain.push(snapshot.value),
      complete: () => plain.push('complete'),
    });
    from(session.actor as unknown as AnyActorRef).subscribe({
      next: (snapshot) => rx.push(snapshot.value),
      complete: () => rx.push('complete'),
    });
    session.actor.select((snapshot) => snapshot.context.reason).subscribe((reason) => selected.push(reason));
    await emit({ type: 'text', text: 'a' }, { type: 'interrupted' }, { type: 'closed' });
    expect(plain).toEqual([{ open: 'responding' }, { open: 'waiting' }, 'closed', 'complete']);
    expect(rx).toEqual(plain);
    expect(selected).toEqual(['far_side']);
    session.actor.subscribe({ complete: () => plain.push('complete at once') });
    expect(plain.at(-1)).toBe('complete at once');
  });

  it('has its calls as children, by `_parent`, under their own ids', async () => {
    const { session, emit } = await stage({
      tools: [defineTool({ name: 'wait', description: '', input: {}, execute: () => held().promise })],
    });
    const begun: AnyActorRef[] = [];
    session.inspect((event) => {
      if (event.type === '@xstate.actor') begun.push(actorOf(event));
    });
    await emit(toolCall('call_1', 'wait'));
    expect(begun.map(({ id }) => id)).toEqual([session.sessionId, 'call_1']);
    const [root, call] = begun as [AnyActorRef, AnyActorRef];
    expect(root).toBe(session.actor);
    expect(root._parent).toBeUndefined();
    expect(call._parent).toBe(session.actor);
    expect(call.getSnapshot().value).toBe('executing');
    await emit({ type: 'interrupted' });
    expect(call.getSnapshot().value).toEqual({ abandoned: 'draining' });
  });
});

describe('an actor stands where an actor of XState’s own system stands', () => {
  it('a session, for any events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...sessionEvents), { maxLength: 12 }), (events) => {
        const theirs: string[] = [];
        const own = createActor(sessionMachine, { id: 's', inspect: (event) => theirs.push(line(event)) });
        own.start();

        const ours: string[] = [];
        const system = new ActorSystem(silent);
        system.inspect((event) => ours.push(line(event)));
        const living = SessionActor.create(system, 's');
        living.start();

        expect(snapshotOf(living.getSnapshot())).toEqual(snapshotOf(own.getSnapshot()));
        for (const type of events) {
          if (own.getSnapshot().status !== 'active') break;
          own.send({ type });
          living.step(type, sessionStepper.step(living.getSnapshot(), type).snapshot);
          expect(snapshotOf(living.getSnapshot())).toEqual(snapshotOf(own.getSnapshot()));
        }
        expect(ours).toEqual(theirs);
      }),
    );
  });

  const rules = fc.record<CallRules>({
    policy: fc.constantFrom('abandon', 'cancel', 'deliver'),
    writeStart: fc.boolean(),
    writePublish: fc.boolean(),
  });

  it('a call, for any events', () => {
    fc.assert(
      fc.property(rules, fc.array(fc.constantFrom(...callEvents), { maxLength: 12 }), (input, events) => {
        const theirs: string[] = [];
        // that a call is done is told to no machine (A2)
        const look = (event: InspectionEvent) => {
          if (event.type === '@xstate.event' && event.event.type.startsWith('xstate.done.actor.')) return;
          if (actorOf(event).id === 'c') theirs.push(line(event));
        };
        const parent = createActor(createMachine({}), { inspect: look });
        parent.start();
        const own = createActor(toolInvocationMachine, { id: 'c', parent, input });
        own.start();

        const ours: string[] = [];
        const system = new ActorSystem(silent);
        const root = SessionActor.create(system, 's');
        root.start();
        system.inspect((event) => ours.push(line(event)));
        const living = CallActor.create(root, 'c', input);

        for (const type of events) {
          if (own.getSnapshot().status !== 'active') break;
          relay(parent.system, own as unknown as AnyActorRef, type);
          living.step(type, callStepper.step(living.getSnapshot(), type).snapshot);
          expect(snapshotOf(living.getSnapshot())).toEqual(snapshotOf(own.getSnapshot()));
        }
        expect(ours).toEqual(theirs);
      }),
    );
  });

  it('a session that lived: what its inspector saw moves an actor of XState’s own to the same states', async () => {
    const events: { type: string }[] = [];
    const states: unknown[] = [];
    const { session, emit } = await stage({
      inspect: (event) => {
        if (actorOf(event).id !== 'ses_lived') return;
        if (event.type === '@xstate.event') events.push(event.event);
        if (event.type === '@xstate.snapshot') states.push(snapshotOf(event.snapshot as Snapshot<unknown>));
      },
      sessionId: 'ses_lived',
      tools: [defineTool({ name: 'echo', description: '', input: {}, execute: (input) => input })],
    });
    await emit(
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      toolCall('c1', 'echo'),
      { type: 'usage', inputTokens: 1 },
      { type: 'nonsense' } as never,
      { type: 'interrupted' },
      { type: 'turn_complete' },
    );
    await session.close();
    expect(events.map(({ type }) => type)).toEqual(
      // every event is there, those that the fast lane takes too, since somebody looks
      'xstate.init connected text text tool_call usage unknown interrupted turn_complete host_close close_settled'.split(
        ' ',
      ),
    );
    const asked: string[] = [];
    const theirStates: unknown[] = [];
    const recording = Object.fromEntries(
      ['connectDriver', 'deliver', 'admitCall', 'closeDriver', 'resolveClosed'].map((name) => [
        name,
        () => {
          asked.push(name);
        },
      ]),
    );
    const own = createActor(sessionMachine.provide({ actions: recording }), {
      inspect: (event) => {
        if (event.type === '@xstate.snapshot') theirStates.push(snapshotOf(event.snapshot as Snapshot<unknown>));
      },
    });
    own.start();
    for (const event of events.slice(1)) own.send(event as never);
    expect(states).toEqual(theirStates);
    expect(asked).toEqual(
      'connectDriver deliver deliver admitCall deliver deliver closeDriver resolveClosed'.split(' '),
    );
  });

  it('is the same for a data event that nobody looks at: the very same snapshot', async () => {
    const { session, emit } = await stage();
    await emit({ type: 'text', text: 'a' });
    const before = session.actor.getSnapshot();
    await emit({ type: 'text', text: 'b' }, { type: 'audio', data: '', mediaType: 'audio/pcm' });
    expect(session.actor.getSnapshot()).toBe(before);
  });
});

describe('an actor is moved by its session alone (A1)', () => {
  it('ignores and notes what is sent to it, and a stop', async () => {
    const { session, lifecycle, emit } = await stage();
    const { actor } = session;
    const before = actor.getSnapshot();
    anyhow(actor).send({ type: 'closed' });
    const { send } = anyhow(actor);
    send({ type: 'host_close' });
    anyhow(actor).send(undefined as never);
    anyhow(actor).send(null as never);
    anyhow(actor).stop();
    anyhow(actor).start();
    await quiet();
    expect(actor.getSnapshot()).toBe(before);
    expect(lifecycle.map((event) => (event.type === 'diagnostic' ? event.code : event.type))).toEqual(
      Array(5).fill('foreign_event'),
    );
    expect(JSON.stringify(lifecycle)).toContain('closed');
    expect(JSON.stringify(lifecycle)).toContain('xstate.stop');
    const { seen } = readAll(session);
    await emit({ type: 'text', text: 'still there' });
    expect(seen).toMatchObject([{ type: 'text', text: 'still there' }]);
  });

  it('ignores and notes what is sent to a call', async () => {
    const code = held<string>();
    const { session, lifecycle, driverCalls, emit } = await stage({
      tools: [defineTool({ name: 'wait', description: '', input: {}, execute: () => code.promise })],
    });
    let call: unknown;
    session.inspect((event) => {
      if (actorOf(event).id === 'c1') call = actorOf(event);
    });
    await emit(toolCall('c1', 'wait'));
    anyhow(call).send({ type: 'code_resolved' });
    anyhow(call).stop();
    await quiet();
    expect(session.calls()).toEqual([{ id: 'c1', name: 'wait', state: 'executing' }]);
    const foreign = lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event] : []));
    expect(foreign.map(({ code, detail }) => [code, detail.includes('c1')])).toEqual([
      ['foreign_event', true],
      ['foreign_event', true],
    ]);
    code.resolve('done');
    await quiet();
    expect(driverCalls.at(-1)).toEqual({ method: 'sendToolResult', id: 'c1', output: 'done', isError: false });
  });

  it('cannot be started again once it has ended', async () => {
    const { session, emit } = await stage({
      tools: [defineTool({ name: 'echo', description: '', input: {}, execute: () => '' })],
    });
    const seen: string[] = [];
    const calls: AnyActorRef[] = [];
    session.inspect((event) => {
      seen.push(event.type);
      if (event.type === '@xstate.actor' && actorOf(event).id === 'c1') calls.push(actorOf(event));
    });
    await emit(toolCall('c1', 'echo'), { type: 'closed' });
    const before = seen.length;
    anyhow(session.actor).start();
    anyhow(calls[0]).start();
    expect(seen.length).toBe(before);
    expect(session.actor.getSnapshot().status).toBe('done');
  });
});

describe('nobody who looks on does harm (A3)', () => {
  it('a subscriber that throws is noted; the others and the session go on', async () => {
    const process = watchProcess();
    const { session, lifecycle, emit } = await stage();
    const others: unknown[] = [];
    session.actor.subscribe(() => {
      throw new TypeError('bad subscriber');
    });
    session.actor.subscribe({
      complete: () => {
        throw new TypeError('bad complete');
      },
    });
    session.actor.subscribe((async () => {
      throw new TypeError('bad promise');
    }) as () => void);
    session.actor.subscribe((snapshot) => others.push(snapshot.value));
    await emit({ type: 'text', text: 'a' }, { type: 'closed' });
    expect(others).toEqual([{ open: 'responding' }, 'closed']);
    const noted = lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event.detail] : []));
    expect(noted.filter((detail) => detail === 'bad subscriber')).toHaveLength(2);
    expect(noted).toContain('bad promise');
    expect(noted).toContain('bad complete');
    await expect(session.closed).resolves.toMatchObject({ reason: 'far_side' });
    expect(await process.stop()).toEqual([]);
  });

  it('an inspector that throws is noted; the others and the session go on', async () => {
    const process = watchProcess();
    const bad = () => {
      throw new TypeError('bad inspector');
    };
    const others: string[] = [];
    const { session, lifecycle, emit } = await stage({
      inspect: bad,
      tools: [defineTool({ name: 'echo', description: '', input: {}, execute: () => 'x' })],
    });
    session.inspect({ next: bad });
    session.inspect((event) => others.push(event.type));
    const { seen, ended } = readAll(session);
    await emit({ type: 'text', text: 'a' }, toolCall('c1', 'echo'), { type: 'closed' });
    await ended;
    expect(seen.map(({ type }) => type)).toEqual(['text', 'tool_started', 'tool_completed', 'closed']);
    expect(others.filter((type) => type === '@xstate.actor')).toHaveLength(2);
    expect(session.actor.getSnapshot().status).toBe('done');
    expect(lifecycle).toContainEqual({ type: 'diagnostic', code: 'host_callback_threw', detail: 'bad inspector' });
    expect(await process.stop()).toEqual([]);
  });
});

describe('the end of a call reaches no machine (A2)', () => {
  it('neither as an event nor as a memory', async () => {
    const { session, emit } = await stage({
      tools: [defineTool({ name: 'echo', description: '', input: {}, execute: () => 'x' })],
    });
    const types = new Set<string>();
    session.inspect((event) => {
      if ('event' in event) types.add(event.event.type);
    });
    for (let i = 0; i < 50; i++) await emit(toolCall(`call_${i}`, 'echo'));
    expect(session.calls().filter(({ state }) => state === 'completed')).toHaveLength(50);
    await emit({ type: 'closed' });
    expect(session.actor.getSnapshot().children).toEqual({});
    // event types are the alphabet's and none of them holds an id
    const alphabet = new Set<string>([...sessionEvents, ...callEvents, 'xstate.init', 'xstate.stop']);
    expect([...types].filter((type) => !alphabet.has(type))).toEqual([]);
  });
});

describe('what the types of a session’s actor allow', () => {
  it('is looking, not sending', () => {
    const misuse = (actor: SessionActorRef) => {
      // @ts-expect-error the session alone sends
      actor.send({ type: 'closed' });
      // @ts-expect-error the session alone stops it
      actor.stop();
    };
    expect(misuse).toBeTypeOf('function');
  });
});
