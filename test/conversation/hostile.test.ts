/** What is handed out cannot change the state (C11); what is handed in throws nothing but a typed error and leaves no trace (C12). */
import { create, type JsonObject } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type Message, ResponseEventSchema } from '../../proto/index.js';
import { CommitpointError } from '../../src/contract/errors.js';
import {
  createFold,
  linearMessages,
  messageIndex,
  openToolCalls,
  resultOf,
  todoLists,
} from '../../src/conversation/index.js';
import { actions, add, append, begun, cancel, done, event, Folding, init, said, split, task } from './events.js';

const rich = {
  id: 'rich',
  citations: [{ documentId: 'd' }],
  toolCallResult: { toolCallId: 'k', context: { images: [{ data: 'YWJj', mimeType: 'm' }] }, cancel: {} },
};
const typed = { id: 'typed', toolCall: { toolCallId: 'l', writeToLongRunningShellCommand: { input: 'YWJj' } } };
const mcp = { id: 'mcp', toolCall: { toolCallId: 'n', callMcpTool: { name: 'x', args: { a: [1, { b: 2 }] } } } };

/** A conversation with something of everything in it, and all that its API gives. */
function everything() {
  const folding = begun({}, 'a', 'b');
  const todos = { id: 'todos', updateTodos: { createTodoList: { initialTodos: [{ id: '1' }] } } };
  folding.take(
    actions(add('t', rich, typed, mcp, todos), { showSuggestions: { rules: [{ name: 'r' }] } }, task('s', 't')),
  );
  const unknown = event({ clientActions: { actions: [{}] } });
  const [action] = unknown.type.case === 'clientActions' ? unknown.type.value.actions : [];
  if (action) action.$unknown = [{ no: 13, wireType: 2, data: Uint8Array.of(1, 97) }];
  folding.take(
    unknown,
    actions(split('b')),
    event({ finished: { done: {}, tokenUsage: [{ modelId: 'x' }] } }),
    init('c#2', 'r2'),
  );
  folding.take(actions(add('t', said('last', 'x'))), cancel);
  const state = folding.now;
  const given = [state, ...folding.folded.map(({ change }) => change), todoLists(state), openToolCalls(state)];
  return { folding, given: [...given, linearMessages(state), messageIndex(state), folding.fold.policies] };
}

/** Every object that can be reached from a value: by properties, by iteration, and by what a getter gives. */
function reachable(value: unknown, seen = new Set<object>()): Set<object> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return seen;
  if (value instanceof Uint8Array) return seen;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) reachable((value as Record<PropertyKey, unknown>)[key], seen);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOurs =
    prototype !== null && prototype !== Object.prototype && prototype !== Array.prototype && typeof value === 'object';
  if (isOurs) {
    seen.add(prototype as object);
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get !== undefined && key !== '__proto__') reachable(Reflect.get(value, key), seen);
    }
  }
  if (Symbol.iterator in value && typeof value !== 'function')
    for (const item of value as Iterable<unknown>) reachable(item, seen);
  return seen;
}

const isFunction = (value: unknown) => typeof value === 'function';

describe('C11: a subscriber cannot change the state', () => {
  test('all that it is given is frozen', () => {
    const { given } = everything();
    const objects = [...reachable(given)].filter((object) => object !== given);
    expect(objects.length).toBeGreaterThan(100);
    const loose = objects.filter((object) => !Object.isFrozen(object) && !Array.isArray(object) && !isFunction(object));
    expect(loose).toEqual([]);
    const lists = objects.filter((object) => Array.isArray(object) && !Object.isFrozen(object));
    // a list of a message entry of the map, made for whoever iterates it
    for (const list of lists) expect(list).toHaveLength(2);
  });

  test('whatever it does to it, the state stays as it is', () => {
    const { folding, given } = everything();
    const before = JSON.stringify(resultOf(folding.now));
    for (const object of reachable(given)) {
      if (object === given) continue;
      if (isFunction(object)) continue;
      for (const key of Reflect.ownKeys(object)) {
        if (Array.isArray(object) && key === 'length') continue;
        Reflect.set(object, key, 'changed');
        Reflect.deleteProperty(object, key);
        Reflect.defineProperty(object, key, { value: 'changed' });
      }
      Reflect.defineProperty(object, 'at', { value: () => 'changed' });
      Reflect.setPrototypeOf(object, null);
    }
    expect(JSON.stringify(resultOf(folding.now))).toBe(before);
    folding.take(init('c#2', 'r3'), actions(append('t', said('last', '!'))), done);
    expect(folding.texts).toMatchObject({ b: 'b', last: 'x!' });
  });

  test('bytes are copied whenever they are read', () => {
    const { folding } = everything();
    const bytes = () => {
      const message = folding.now.tasks
        .get('t')
        ?.messages.toArray()
        .find(({ id }) => id === 'typed') as Message;
      const call = message.message.case === 'toolCall' ? message.message.value.tool : undefined;
      return call?.case === 'writeToLongRunningShellCommand' ? call.value.input : new Uint8Array();
    };
    expect([...bytes()]).toEqual([97, 98, 99]);
    bytes().fill(0);
    expect([...bytes()]).toEqual([97, 98, 99]);
    const received = () =>
      folding.now.diagnostics.find(({ code }) => code === 'unknown_action')?.received?.$unknown?.[0]?.data ?? [];
    expect([...received()]).toEqual([1, 97]);
    if (received() instanceof Uint8Array) (received() as Uint8Array).fill(0);
    expect([...received()]).toEqual([1, 97]);
  });

  test('toArray gives a list of its own', () => {
    const { folding } = everything();
    const messages = folding.now.tasks.get('t')?.messages;
    messages?.toArray().fill(undefined as never);
    expect(messages?.toArray()).toContain(messages?.at(0));
  });
});

describe('the views', () => {
  test('of messages', () => {
    const messages = begun({}, 'a', 'b', 'c').now.tasks.get('t')?.messages;
    const at = (index: number) => messages?.at(index)?.id;
    expect([0, 2, 3, -1, -3, -4, 1.7, Number.NaN, Number.POSITIVE_INFINITY].map(at)).toEqual([
      'a',
      'c',
      undefined,
      'c',
      'a',
      undefined,
      'b',
      'a',
      undefined,
    ]);
    expect([messages?.length, [...(messages ?? [])].length, JSON.parse(JSON.stringify(messages)).length]).toEqual([
      3, 3, 3,
    ]);
  });

  test('of tasks', () => {
    const folding = begun();
    folding.take(actions(task('s', 't'), task('u', 's')));
    const { tasks, rootTaskId } = folding.now;
    expect([tasks.size, [...tasks.keys()], [...tasks].map(([id]) => id), rootTaskId]).toEqual([
      3,
      ['t', 's', 'u'],
      ['t', 's', 'u'],
      't',
    ]);
    expect([tasks.has('s'), tasks.has('x'), tasks.get('x'), tasks.get('u')?.parentTaskId]).toEqual([
      true,
      false,
      undefined,
      's',
    ]);
    const visited: string[] = [];
    tasks.forEach((each, id, map) => {
      visited.push(`${each.id} ${id} ${map === tasks}`);
    });
    expect(visited).toEqual(['t t true', 's s true', 'u u true']);
    expect(tasks.get('t')).toBe(folding.now.tasks.get('t'));
  });
});

function setArgs({ message }: Message, args: JsonObject): void {
  if (message.case === 'toolCall' && message.value.tool.case === 'callMcpTool') message.value.tool.value.args = args;
}

describe('C12: no input throws anything but a typed error', () => {
  const whole = () =>
    actions(task('t2', 't'), add('t', rich, typed, mcp), append('t', said('a', '!')), {
      showSuggestions: { rules: [{ name: 'r' }] },
    });

  const refused = (input: unknown) => {
    const folding = begun({}, 'a');
    const { state } = folding;
    expect(() => folding.take(input as never)).toThrow(CommitpointError);
    expect(folding.state).toBe(state);
    expect(resultOf(folding.now)).toEqual(resultOf(begun({}, 'a').now));
  };

  test.each([
    undefined,
    null,
    0,
    'x',
    true,
    1n,
    Symbol('x'),
    [],
    {},
    () => {},
    new Map(),
    { end: 'x' },
    { end: undefined },
    { $typeName: 'x' },
  ])('%o is no input', (input) => {
    refused(input);
  });

  test('a proxy that was revoked, and one that throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    refused(proxy);
    const throws = () => {
      throw new TypeError('no');
    };
    refused(new Proxy({}, { get: throws, has: () => true, getPrototypeOf: throws }));
    refused(new Proxy({}, { has: throws }));
  });

  /** Every place in a value that a reader may come to: its parent and its key. */
  function* places(value: object): IterableIterator<[object, string]> {
    for (const key of Object.keys(value)) {
      yield [value, key];
      const inner: unknown = Reflect.get(value, key);
      if (typeof inner === 'object' && inner !== null && !(inner instanceof Uint8Array)) yield* places(inner);
    }
  }

  const count = [...places(whole())].length;
  const wrongs: readonly unknown[] = [
    undefined,
    null,
    7,
    'text',
    [],
    {},
    [undefined],
    { case: 'nope', value: {} },
    Number.NaN,
    -1,
    Symbol('x'),
    () => {},
  ];

  test('with anything anywhere in it', () => {
    expect(count).toBeGreaterThan(100);
    for (let at = 0; at < count; at++) {
      for (const wrong of wrongs) {
        const received = whole();
        const [parent, key] = [...places(received)][at] as [object, string];
        Reflect.set(parent, key, wrong);
        const folding = begun({}, 'a');
        const { state } = folding;
        try {
          folding.take(received);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(CommitpointError);
          expect(folding.state).toBe(state);
        }
        // whatever was taken of it can be shown, and folded on
        expect(() => JSON.stringify(resultOf(folding.now))).not.toThrow();
        folding.take(done);
        expect(folding.now.phase).toBe('finished');
      }
    }
  });

  test('with a getter that throws anywhere in it', () => {
    for (let at = 0; at < count; at++) {
      const received = whole();
      const [parent, key] = [...places(received)][at] as [object, string];
      Reflect.defineProperty(parent, key, {
        enumerable: true,
        get() {
          throw new RangeError('mine');
        },
      });
      const folding = begun({}, 'a');
      try {
        folding.take(received);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(CommitpointError);
        expect(String(thrown)).toContain('mine');
      }
    }
  });

  test('a property that says another thing each time is read once', () => {
    const received = actions(add('t', said('m', 'x')));
    const [action] = received.type.case === 'clientActions' ? received.type.value.actions : [];
    const messages = action?.action.case === 'addMessagesToTask' ? action.action.value.messages : [];
    let reads = 0;
    Object.defineProperty(messages[0], 'id', { enumerable: true, get: () => `read ${++reads}` });
    const folding = begun();
    folding.take(received);
    expect([reads, Object.keys(folding.texts)]).toEqual([1, ['read 1']]);
  });

  test('half a character, which has no UTF-8, is refused wherever it stands', () => {
    const half = '\ud83d';
    const wrongs: ((change: { message?: Message; texts: Message[] }) => void)[] = [
      ({ texts }) => Reflect.set(texts[0] as Message, 'id', half),
      ({ texts }) => Reflect.set(texts[0]?.message.value as object, 'text', half),
      ({ message }) => Reflect.set(message?.message.value as object, 'text', half),
      ({ texts }) => setArgs(texts[1] as Message, { a: half }),
      ({ texts }) => setArgs(texts[1] as Message, { [half]: 'a' }),
    ];
    for (const wrong of wrongs) {
      const received = actions(add('t', said('m', 'x'), mcp), append('t', said('a', 'x')));
      const [first, second] = received.type.case === 'clientActions' ? received.type.value.actions : [];
      const texts = first?.action.case === 'addMessagesToTask' ? first.action.value.messages : [];
      const message = second?.action.case === 'appendToMessageContent' ? second.action.value.message : undefined;
      wrong({ texts, ...(message && { message }) });
      refused(received);
    }
  });

  test('a message within itself, and one that is too deep', () => {
    const received = actions(
      add('t', { id: 'm', toolCall: { suggestPlan: { proposedTasks: [{ id: 'p', messages: [{ id: 'q' }] }] } } }),
    );
    const [action] = received.type.case === 'clientActions' ? received.type.value.actions : [];
    const message = action?.action.case === 'addMessagesToTask' ? action.action.value.messages[0] : undefined;
    const plan = message?.message.case === 'toolCall' ? message.message.value.tool : undefined;
    const inner = plan?.case === 'suggestPlan' ? plan.value.proposedTasks[0] : undefined;
    if (message && inner) inner.messages[0] = message;
    refused(received);
    const args: JsonObject = {};
    args['self'] = args;
    const call = actions(add('t', mcp));
    const [other] = call.type.case === 'clientActions' ? call.type.value.actions : [];
    if (other?.action.case === 'addMessagesToTask') setArgs(other.action.value.messages[0] as Message, args);
    refused(call);
  });

  test('what it says names the field, and what is expected of it', () => {
    const received = actions(add('t', said('m', 'x')));
    const [action] = received.type.case === 'clientActions' ? received.type.value.actions : [];
    if (action?.action.case === 'addMessagesToTask') Reflect.set(action.action.value.messages[0] as object, 'id', 7);
    expect(() => begun().take(received)).toThrow(/Message\.id\): expected a string, found 7/);
  });

  test('options that there are not', () => {
    const refusal = expect.objectContaining({ code: 'invalid_input' });
    for (const options of [
      { mode: 'x' },
      { maxDiagnostics: -1 },
      { maxDiagnostics: 1.5 },
      { policies: { nested: 'x' } },
      { policies: { toString: 'x' } },
    ]) {
      expect(() => createFold(options as never)).toThrow(refusal);
    }
    const fold = createFold();
    for (const state of [undefined, {}, fold.initial.conversation]) {
      expect(() => fold.take(state as never, init())).toThrow(refusal);
    }
  });

  test('an event that holds nothing at all', () => {
    const folding = new Folding();
    folding.take(
      create(ResponseEventSchema),
      event({ init: {} }),
      event({ clientActions: {} }),
      event({ finished: {} }),
    );
    expect([folding.codes, folding.now.phase, folding.now.conversations]).toEqual([
      ['unknown_event'],
      'finished',
      [''],
    ]);
  });

  test('strings, keys and ids of any kind', () => {
    const odd = ['__proto__', 'constructor', '\u0000', '😀', '#2', ' ', 'x'.repeat(10_000)];
    const folding = new Folding();
    folding.take(init('__proto__', 'constructor'), actions(task('root'), ...odd.map((id) => task(id, 'root'))));
    folding.take(
      actions(
        ...odd.map((id) =>
          add(id, said(id, id), { id: `${id}!`, userQuery: { referencedAttachments: { [id]: { plainText: id } } } }),
        ),
      ),
    );
    expect(folding.codes).toEqual([]);
    expect([...folding.now.tasks.keys()]).toEqual(['root', ...odd]);
    for (const id of odd) {
      expect(folding.texts[id] ?? Reflect.get(folding.texts, id)).toBeDefined();
      const message = folding.now.tasks.get(id)?.messages.at(1)?.message;
      expect(message?.case === 'userQuery' ? Object.keys(message.value.referencedAttachments) : []).toEqual([id]);
    }
  });
});
