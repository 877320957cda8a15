/** The response stream and every transaction are XState actors that inspectors see, moved by the fold alone. */
import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnyActorRef, createActor, type InspectionEvent, waitFor } from 'xstate';
import {
  responseStreamEvents,
  responseStreamMachine,
  responseStreamStepper,
  transactionEvents,
  transactionMachine,
  transactionStepper,
} from '../../../machines/index.js';
import { type ConversationOptions, createConversation, InvalidInputError } from '../../../src/index.js';
import { ActorSystem } from '../../../src/runtime/actors.js';
import { StreamActor, TransactionActor } from '../../../src/runtime/conversation/actors.js';
import {
  actions,
  add,
  begin,
  commit,
  done,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
} from '../../conversation/events.js';
import { outcomeOf, quiet, watchProcess } from '../stage.js';
import { changesOf, codesOf } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** What an actor can be asked although its types say no: hosts write JavaScript, too. */
const anyhow = (actor: unknown) => actor as { send(event: { type: string }): void; stop(): unknown; start(): unknown };

/** Every state that an inspector sees, by the id of its actor: `id: state`. */
function watched(options: ConversationOptions = {}) {
  const states: string[] = [];
  const actors = new Map<string, AnyActorRef>();
  const conversation = createConversation({
    ...options,
    inspect: (event: InspectionEvent) => {
      const actor = event.actorRef as AnyActorRef;
      if (event.type === '@xstate.actor') actors.set(actor.id, actor);
      if (event.type !== '@xstate.snapshot') return;
      states.push(`${actor.id}: ${stateOf(event.snapshot)}`);
    },
  });
  return { conversation, states, actors };
}

function stateOf(snapshot: unknown): string {
  const { value } = snapshot as { value: unknown };
  return typeof value === 'string'
    ? value
    : Object.entries(value as object)
        .flat()
        .join('.');
}

describe('conversation.actor', () => {
  it('shows where the request stands: getSnapshot, matches, waitFor, subscribe', async () => {
    const conversation = createConversation();
    const seen: unknown[] = [];
    conversation.actor.subscribe((snapshot) => seen.push(snapshot.value));
    const finished = waitFor(conversation.actor, (snapshot) => snapshot.matches('finished'));
    expect(conversation.actor.getSnapshot().value).toBe('awaiting_init');
    conversation.apply(init());
    conversation.apply(actions(task('t')));
    conversation.apply(done);
    expect((await finished).value).toBe('finished');
    conversation.apply(init('c', 'r2'));
    conversation.cancel();
    expect(seen).toEqual(['streaming', 'finished', 'streaming', 'cancelled']);
    expect(conversation.actor.getSnapshot()).toMatchObject({ status: 'active', value: 'cancelled' });
  });

  it('the state is the next one already when an observer is told, and what it applies waits', () => {
    const conversation = createConversation();
    const seen: string[] = [];
    conversation.actor.subscribe(({ value }) => {
      seen.push(`${value} ${conversation.state.phase}`);
      if (value === 'streaming') conversation.apply(done);
      seen.push(conversation.state.phase);
    });
    conversation.apply(init());
    expect(seen).toEqual(['streaming streaming', 'streaming', 'finished finished', 'finished']);
  });

  it('a stop is a cancel, with the final snapshot published first', async () => {
    const conversation = createConversation();
    const other = conversation.stream();
    conversation.apply(init());
    conversation.apply(actions(task('t'), begin, add('t', said('m', 'kept'))));
    const seen: unknown[] = [];
    const changes = changesOf(conversation);
    conversation.actor.subscribe({
      next: ({ value, status }) => seen.push([value, status]),
      complete: () => seen.push('complete'),
    });
    conversation.actor.stop();
    expect(seen).toEqual([['cancelled', 'active'], 'complete']);
    expect(conversation.actor.getSnapshot()).toMatchObject({ status: 'stopped', value: 'cancelled' });
    expect(changes.map(({ kind }) => kind)).toEqual(['ended', 'ended']);
    expect(await conversation.ended).toMatchObject({ phase: 'cancelled', interrupted: ['m'] });
    expect(await other.ended).toMatchObject({ phase: 'cancelled' });
    conversation.actor.stop();
    anyhow(conversation.actor).start();
    expect(conversation.actor.getSnapshot().status).toBe('stopped');
  });
});

describe('an inspector', () => {
  it('sees one actor a transaction, child of its stream, with every state', () => {
    const { conversation, states, actors } = watched();
    conversation.apply(init());
    conversation.apply(actions(task('t'), begin, add('t', said('m', 'a')), commit));
    conversation.apply(actions(begin));
    conversation.apply(actions(failing));
    conversation.apply(actions(rollback));
    conversation.apply(done);
    expect(states).toEqual([
      'conversation: awaiting_init',
      'conversation: streaming',
      'transaction-1: open.sound',
      'transaction-1: committed',
      'transaction-2: open.sound',
      'transaction-2: open.doomed',
      'transaction-2: rolled_back',
      'conversation: finished',
    ]);
    const root = conversation.actor as unknown as AnyActorRef;
    expect(root._parent).toBeUndefined();
    for (const id of ['transaction-1', 'transaction-2']) {
      expect(actors.get(id)?._parent).toBe(root);
      expect(actors.get(id)?.getSnapshot().status).toBe('done');
    }
  });

  it('sees the levels of savepoints, and further streams with their transactions', () => {
    const { conversation, states, actors } = watched({ policies: { nested: 'savepoint' } });
    conversation.apply(init());
    conversation.apply(actions(task('t'), add('t', said('m', 'a')), begin, begin, failing));
    conversation.apply(actions(split('m')));
    const other = conversation.stream();
    other.apply(init('c2', 'r2'));
    other.apply(actions(begin));
    other.apply(failed);
    expect(states).toEqual([
      'conversation: awaiting_init',
      'conversation: streaming',
      'transaction-1: open.sound',
      // it takes the Begin inside
      'transaction-1: open.sound',
      'transaction-2: open.sound',
      'transaction-2: open.doomed',
      'transaction-2: rolled_back',
      'transaction-1: committed',
      'stream-1: awaiting_init',
      'stream-1: streaming',
      'transaction-3: open.sound',
      'stream-1: failed',
      'transaction-3: rolled_back',
    ]);
    expect(actors.get('stream-1')?._parent).toBe(conversation.actor);
    expect(actors.get('transaction-2')?._parent).toBe(conversation.actor);
    expect(actors.get('transaction-3')?._parent).toBe(actors.get('stream-1'));
  });

  it('of the stock kind sees conversation and transactions: names, parents, definitions, events, states', async () => {
    const sent: StatelyInspectionEvent[] = [];
    const { inspect } = createInspector({ send: (event) => sent.push(event), start: () => {}, stop: () => {} });
    const conversation = createConversation({ inspect });
    conversation.apply(init());
    conversation.apply(actions(task('t'), begin, add('t', said('m', 'a secret')), commit));
    conversation.apply(done);
    await quiet();
    // it puts each event off with a timer, so one that is set now comes after them
    await new Promise((resolve) => setTimeout(resolve, 1));
    const actors = sent.flatMap((event) => (event.type === '@xstate.actor' ? [event] : []));
    expect(actors.map(({ name }) => name)).toEqual(['conversation', 'transaction-1']);
    const [root, transaction] = actors as [(typeof actors)[0], (typeof actors)[0]];
    expect(root.parentId).toBeUndefined();
    expect(transaction).toMatchObject({ parentId: root.sessionId, rootId: root.sessionId });
    expect(JSON.parse(root.definition as string)).toMatchObject({ id: 'response-stream', initial: 'awaiting_init' });
    expect(JSON.parse(transaction.definition as string)).toMatchObject({
      id: 'transaction',
      states: { open: { states: { sound: {}, doomed: {} } }, committed: {}, rolled_back: {} },
    });
    const statesOf = (sessionId: string) =>
      sent.flatMap((event) =>
        event.type === '@xstate.snapshot' && event.sessionId === sessionId ? [stateOf(event.snapshot)] : [],
      );
    expect(statesOf(root.sessionId)).toEqual(['awaiting_init', 'streaming', 'finished']);
    expect(statesOf(transaction.sessionId)).toEqual(['open.sound', 'committed']);
    const types = sent.flatMap((event) =>
      event.type === '@xstate.event' && event.sessionId === root.sessionId ? [event.event.type] : [],
    );
    expect(types).toEqual(['xstate.init', 'init_next', 'finished_done']);
    // what is said stands in no snapshot, no event and no action
    expect(JSON.stringify(sent)).not.toContain('a secret');
  });

  it('that comes later is told of what lives, parents first; what it gives detaches', () => {
    const conversation = createConversation();
    const other = conversation.stream();
    const closed = conversation.stream();
    closed.close();
    conversation.apply(init());
    conversation.apply(actions(begin, commit, begin));
    const seen: string[] = [];
    const detach = conversation.inspect((event) => {
      if (event.type === '@xstate.actor' || event.type === '@xstate.snapshot')
        seen.push(`${event.type} ${(event.actorRef as AnyActorRef).id}`);
    });
    expect(seen).toEqual(['@xstate.actor conversation', '@xstate.actor stream-1', '@xstate.actor transaction-2']);
    other.cancel();
    detach();
    conversation.apply(done);
    expect(seen.slice(3)).toEqual(['@xstate.snapshot stream-1']);
    expect(() => conversation.inspect('console' as never)).toThrow(InvalidInputError);
  });

  it('strict: sees no step of what is undone', () => {
    const { conversation, states } = watched({ mode: 'strict' });
    conversation.apply(init());
    expect(() => conversation.apply(actions(task('t'), begin, failing))).toThrow();
    expect(states).toEqual([
      'conversation: awaiting_init',
      'conversation: streaming',
      'transaction-1: open.sound',
      'conversation: failed',
      'transaction-1: rolled_back',
    ]);
  });
});

describe('nobody else moves an actor', () => {
  it('what is sent to one is ignored and noted; a transaction is stopped by nobody', () => {
    const { conversation, actors } = watched();
    conversation.apply(init());
    conversation.apply(actions(begin));
    anyhow(conversation.actor).send({ type: 'finished_done' });
    const transaction = actors.get('transaction-1') as AnyActorRef;
    anyhow(transaction).send({ type: 'commit' });
    anyhow(transaction).stop();
    anyhow(transaction).send(undefined as never);
    expect(transaction.getSnapshot().value).toEqual({ open: 'sound' });
    expect(conversation.state).toMatchObject({ phase: 'streaming', transaction: 'open' });
    expect(codesOf(conversation)).toEqual(Array(4).fill('foreign_event'));
    expect(conversation.state.diagnostics[0]?.detail).toContain('finished_done');
  });

  it('observers and inspectors that throw are noted and harm nobody', async () => {
    const conversation = createConversation({
      inspect: () => {
        throw new TypeError('bad inspector');
      },
    });
    conversation.actor.subscribe(() => {
      throw new TypeError('bad observer');
    });
    conversation.apply(init());
    conversation.apply(actions(begin, commit));
    conversation.apply(done);
    await quiet();
    expect(await outcomeOf(conversation.ended)).toMatchObject({ value: { phase: 'finished' } });
    const details = new Set(conversation.state.diagnostics.map(({ code, detail }) => `${code} ${detail}`));
    expect(details).toEqual(new Set(['host_callback_threw bad inspector', 'host_callback_threw bad observer']));
  });
});

describe('an actor stands where an actor of XState’s own system stands', () => {
  const silent = { threw: () => {}, foreign: () => {} };
  const shown = (actor: { getSnapshot(): unknown }) => {
    const { status, value, context } = actor.getSnapshot() as Record<string, unknown>;
    return { status, value, context };
  };

  it('a response stream, for any events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...responseStreamEvents), { maxLength: 12 }), (events) => {
        const own = createActor(responseStreamMachine).start();
        const living = StreamActor.root(new ActorSystem(silent), 's');
        for (const type of events) {
          own.send({ type });
          living.step(type, responseStreamStepper.step(living.getSnapshot(), type).snapshot);
          expect(shown(living)).toEqual(shown(own));
        }
      }),
    );
  });

  const rules = fc.record({
    nested: fc.constantFrom('ignore' as const, 'savepoint' as const, 'error' as const),
    onDoomedCommit: fc.constantFrom('rollback' as const, 'commit' as const),
    onFailure: fc.constantFrom('rollback' as const, 'commit' as const),
    onCancel: fc.constantFrom('rollback' as const, 'commit' as const),
    dooms: fc.boolean(),
  });

  it('a transaction, for any events', () => {
    fc.assert(
      fc.property(rules, fc.array(fc.constantFrom(...transactionEvents), { maxLength: 12 }), (input, events) => {
        const own = createActor(transactionMachine, { input }).start();
        const living = TransactionActor.create(StreamActor.root(new ActorSystem(silent), 's'), 't', input);
        for (const type of events) {
          if (own.getSnapshot().status !== 'active') break;
          own.send({ type });
          living.step(type, transactionStepper.step(living.getSnapshot(), type).snapshot);
          expect(shown(living)).toEqual(shown(own));
        }
      }),
    );
  });
});
