/** Parts that break their promises, for drivers and tools that do. */
import type { BidiEvent, BidiProvider, BidiSession } from '../../src/contract/provider.js';
import { type defineTool, type Session, startSession } from '../../src/runtime/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** Throws whatever it is given. */
export const throwing = (thrown: unknown) => () => {
  throw thrown;
};

/** An error of a driver’s own class. */
export class Boom extends Error {
  override readonly name = 'Boom';
}
export const boom = new Boom('boom');

/** What cannot be looked at without a throw. */
export const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** An object whose every property throws. */
export const thorny = (thrown: unknown = boom): object =>
  new Proxy({}, { get: throwing(thrown), has: throwing(thrown) });
/** What cannot even be printed. */
export const unprintable = (): object => ({
  get message() {
    throw boom;
  },
  toString: throwing(boom),
});

/** A thenable that behaves as it is told. */
export const thenable = (then: unknown): object => Object.fromEntries([['then', then]]);

/** Settles twice and thrice: first `value`, then other things. */
export const twice = <Value>(value: Value, other?: Value): PromiseLike<Value> =>
  thenable((resolve: (value: Value) => void, reject: (error: unknown) => void) => {
    resolve(value);
    resolve(other ?? value);
    reject(boom);
    throw boom;
  }) as PromiseLike<Value>;

/** A promise of the platform whose `then` was replaced: it, too, settles as often as it likes. */
export const disguised = <Value>(value: Value, other?: Value): Promise<Value> => {
  const promise = Promise.resolve(value);
  Object.defineProperty(promise, 'then', { value: twice(value, other).then });
  return promise;
};

/** A promise of the platform that cannot be adopted without a throw. */
export const unadoptable = <Value>(value: Value): Promise<Value> =>
  Object.defineProperty(Promise.resolve(value), 'constructor', { get: throwing(boom) });

/** A session on a driver, and how often that was closed. */
export interface Played {
  readonly session: Session;
  readonly clock: VirtualClock;
  readonly closes: () => number;
}

/** A driver of plain parts, each of which can be replaced. */
export function driver(over: Partial<Record<keyof BidiSession, unknown>>, events: BidiEvent[] = []): BidiSession {
  const parts = {
    send: async () => {},
    sendToolResult: async () => {},
    events: async function* () {
      yield* events;
      await new Promise(() => {});
    },
    close: async () => {},
  };
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(parts), ...Object.getOwnPropertyDescriptors(over) },
  ) as BidiSession;
}

/** A provider that connects so. */
export const over = (connect: () => unknown): BidiProvider => ({
  id: 'hostile',
  connect: connect as BidiProvider['connect'],
});

/** Starts a session on a driver, and counts how often that is closed. */
export async function play(
  session: BidiSession,
  options: { tools?: ReturnType<typeof defineTool>[] } = {},
): Promise<Played> {
  const clock = new VirtualClock();
  let closes = 0;
  const close = session.close;
  if (Object.getOwnPropertyDescriptor(session, 'close')?.get === undefined) {
    session.close = () => {
      closes++;
      return close.call(session);
    };
  }
  const started = await startSession({
    provider: over(async () => session),
    connect: { model: 'm' },
    clock,
    ...options,
  });
  return { session: started, clock, closes: () => closes };
}
