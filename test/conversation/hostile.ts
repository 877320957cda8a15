/** What somebody does to a fold who means it no good. */
import fc from 'fast-check';

/** Tries to change everything that can be reached from these, in every way that the language has. */
export function spoil(...roots: readonly unknown[]): void {
  const seen = new Set<unknown>();
  const waiting = [...roots];
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    waiting.push(...insideOf(value));
    spoilOne(value);
  }
}

function insideOf(value: object): unknown[] {
  if (ArrayBuffer.isView(value)) return [];
  const inside: unknown[] = Reflect.ownKeys(value).map((key) => attempt(() => Reflect.get(value, key)));
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && prototype !== Object.prototype && prototype !== Array.prototype) {
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (get !== undefined && key !== '__proto__') inside.push(attempt(() => Reflect.get(value, key)));
    }
  }
  if (Symbol.iterator in value) inside.push(...(attempt(() => [...(value as Iterable<unknown>)]) ?? []));
  return inside;
}

function spoilOne(value: object): void {
  if (value instanceof Uint8Array) {
    attempt(() => value.fill(0x21));
    return;
  }
  for (const method of ['push', 'reverse', 'clear', 'pop', 'sort', 'shift'] as const) {
    attempt(() => (value as Record<string, (() => void) | undefined>)[method]?.());
  }
  attempt(() => (value as Map<unknown, unknown>).set?.('t', 'spoilt'));
  attempt(() => (value as Map<unknown, unknown>).delete?.('t'));
  for (const key of Reflect.ownKeys(value)) {
    attempt(() => Reflect.set(value, key, 'spoilt'));
    attempt(() => Reflect.deleteProperty(value, key));
    attempt(() => Reflect.defineProperty(value, key, { value: 'spoilt' }));
  }
  attempt(() => Reflect.set(value, 'spoilt', true));
  attempt(() => Reflect.set(value, 'length', 0));
}

function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Stands for an object that nobody may ask anything, the generator neither. */
class Trap {
  constructor(readonly kind: 'proxy' | 'revoked' | 'type' | 'end' | 'endless') {}
}

const throwing = fc.constantFrom('proxy', 'revoked', 'type', 'end', 'endless').map((kind) => new Trap(kind));

/** With every trap set. */
export function armed(value: unknown, depth = 0): unknown {
  if (value instanceof Trap) return trapOf(value);
  if (typeof value !== 'object' || value === null || depth > 12) return value;
  if (Array.isArray(value)) return value.map((each) => armed(each, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, armed(each, depth + 1)]));
}

function trapOf({ kind }: Trap): unknown {
  if (kind === 'proxy') return new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });
  if (kind === 'type') return Object.defineProperty({}, '$typeName', { get: refuse });
  if (kind === 'end') return Object.defineProperty({}, 'end', { get: refuse, enumerable: true });
  if (kind === 'endless') return endless();
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function refuse(): never {
  throw new RangeError('whoever asks gets this');
}

const scalar = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
    maxDepth: 2,
  }),
  throwing,
  fc.constantFrom<unknown>('t', 'm1', '\ud800', Number.NaN, -1, 2 ** 40, 10n ** 30n, Symbol('s'), () => 'x'),
);

/** Something within an event in the place of what should be there. */
function around(name: string, inside: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: inside }, scalar).map((value) => ({ [name]: value }));
}

const choice = (name: string, inside: fc.Arbitrary<unknown>, cases: readonly string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...cases), inside)
        .map(([each, value]) => ({ [name]: { case: each, value } })),
    },
    { weight: 1, arbitrary: around(name, scalar) },
  );

const merged = (...parts: readonly fc.Arbitrary<unknown>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...(all as object[])) as unknown);

const message = merged(
  around('id', fc.constantFrom('m1', 'm9')),
  choice('message', around('text', scalar), [
    'agentOutput',
    'toolCall',
    'userQuery',
    'updateTodos',
    'nope',
    '__proto__',
  ]),
  around('citations', fc.array(around('documentId', scalar), { maxLength: 2 })),
);
const action = choice(
  'action',
  merged(
    around('taskId', fc.constant('t')),
    around('task', merged(around('id', fc.constant('w')), around('messages', fc.array(message, { maxLength: 2 })))),
    around('messages', fc.array(message, { maxLength: 2 })),
    around('message', message),
    around('mask', around('paths', fc.array(fc.oneof(fc.constant('agent_output.text'), scalar), { maxLength: 2 }))),
    around('startFromMessageId', fc.constant('m1')),
    around('rules', fc.array(scalar, { maxLength: 1 })),
  ),
  [
    'createTask',
    'addMessagesToTask',
    'updateTaskMessage',
    'appendToMessageContent',
    'showSuggestions',
    'startNewConversation',
    'updateTaskStatus',
    'nope',
  ],
);
/** A message that holds itself, in an event. */
function endless(): unknown {
  const inner: Record<string, unknown> = { id: 'm1' };
  inner.message = { case: 'toolCall', value: { toolCallId: 'k', tool: { case: 'server', value: inner } } };
  inner.citations = [inner];
  const value = { taskId: 't', messages: [inner] };
  return {
    $typeName: 'warp.multi_agent.v1.ResponseEvent',
    type: { case: 'clientActions', value: { actions: [{ action: { case: 'addMessagesToTask', value } }] } },
  };
}

/** What is no input, or hardly one. */
export const hostileObject: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 1, arbitrary: scalar },
  { weight: 1, arbitrary: scalar.map((end) => ({ end })) },
  { weight: 2, arbitrary: choice('type', scalar, ['init', 'clientActions', 'finished', 'nope']) },
  {
    weight: 8,
    arbitrary: fc
      .tuple(choice('type', around('actions', fc.array(action, { maxLength: 3 })), ['clientActions']), fc.boolean())
      .map(([event, isNamed]) =>
        isNamed ? { $typeName: 'warp.multi_agent.v1.ResponseEvent', ...(event as object) } : event,
      ),
  },
);
