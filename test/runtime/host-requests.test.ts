/** What the host may ask of a session, while it is open and after its end (duplex page, §1, §5). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError, NotSupportedError, SessionEndedError } from '../../src/contract/errors.js';
import type { Session } from '../../src/runtime/index.js';
import { expectNoHarm } from './no-harm.js';
import { isSettled, outcomeOf, quiet, stage } from './stage.js';

const watch = expectNoHarm();

describe('what the host asks for', () => {
  it('send reaches the driver as it stands', async () => {
    const { session, driverCalls } = await stage();
    await session.send({ type: 'text', text: 'hello' });
    await session.send({ type: 'audio', data: 'AA==', mediaType: 'audio/pcm' });
    expect(driverCalls.slice(1)).toEqual([
      { method: 'send', input: { type: 'text', text: 'hello' } },
      { method: 'send', input: { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' } },
    ]);
  });

  it('interrupt reaches the driver each time; the next `interrupted` answers all', async () => {
    const { session, emit, driverCalls } = await stage({ driver: { interrupt: true } });
    const first = session.interrupt({ playedMs: 120 });
    const second = session.interrupt();
    expect(await isSettled(first)).toBe(false);
    expect(driverCalls.slice(1)).toEqual([{ method: 'interrupt', playedMs: 120 }, { method: 'interrupt' }]);
    await emit({ type: 'interrupted' });
    expect(await outcomeOf(Promise.all([first, second]))).toEqual({ value: [undefined, undefined] });
  });

  it('interrupt is not supported where the driver cannot; played is simply not wanted', async () => {
    const { session } = await stage();
    const outcome = await outcomeOf(session.interrupt());
    expect(outcome).toEqual({ error: expect.any(NotSupportedError) });
    expect(outcome).toMatchObject({ error: { code: 'not_supported', message: expect.stringContaining('scripted') } });
    expect(await outcomeOf(session.played(5))).toEqual({ value: undefined });
  });

  it('played reaches the driver', async () => {
    const { session, driverCalls } = await stage({ driver: { played: true } });
    await session.played(250.5);
    expect(driverCalls.at(-1)).toEqual({ method: 'played', ms: 250.5 });
  });

  describe('with wrong arguments', () => {
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const thorny = new Proxy(
      {},
      {
        get() {
          throw new TypeError('thorny');
        },
      },
    );
    /** What no act takes, wherever it stands. */
    const junk = [revoked, thorny, Symbol('id'), 1n, Number.NaN, -1, true, null, [], () => {}, { type: 'text' }];

    /** Asks for everything with `wrong` in the place of an argument. */
    async function ask(session: Session, wrong: unknown) {
      const act = (call: (...args: never[]) => Promise<void>, ...args: unknown[]) =>
        call.apply(session, args as never[]);
      const promises = [
        act(session.send, wrong),
        act(session.send, { type: wrong }),
        act(session.send, { type: 'text', text: wrong }),
        act(session.send, { type: 'audio', data: '', mediaType: wrong }),
        act(session.played, wrong),
        act(session.approve, wrong),
        act(session.deny, wrong, 'no'),
        act(session.deny, 'c1', wrong === undefined ? null : wrong),
        act(session.interrupt, { playedMs: wrong === undefined ? null : wrong }),
        act(session.interrupt, typeof wrong === 'object' || wrong === undefined ? 7 : wrong),
      ];
      for (const promise of promises) {
        expect(promise).toBeInstanceOf(Promise);
        const outcome = await outcomeOf(promise);
        expect(outcome).toEqual({ error: expect.any(InvalidInputError) });
        expect(String((outcome as { error: unknown }).error)).toMatch(/invalid .*expected .*found/);
      }
    }

    it('nothing throws at once; all is refused and reaches nobody', async () => {
      const { session, driverCalls } = await stage({ driver: { interrupt: true, played: true } });
      for (const wrong of junk) await ask(session, wrong);
      const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withSparseArray: true });
      await fc.assert(
        fc.asyncProperty(
          anything.filter((value) => typeof value !== 'string' && !(typeof value === 'number' && value >= 0)),
          (wrong) => ask(session, wrong),
        ),
      );
      expect(driverCalls).toHaveLength(1);
      expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
      await session.close();
    });
  });

  it('a rejection that nobody looks at does no harm', async () => {
    const { session } = await stage();
    session.approve('nobody');
    session.interrupt();
    session.send(undefined as never);
    await session.close();
    session.send({ type: 'text', text: 'too late' });
    await quiet();
    expect(watch.harm).toEqual([]);
  });
});

describe('what the host asks for after the end', () => {
  const acts: [string, (session: Session) => Promise<void>][] = [
    ['send', (session) => session.send({ type: 'text', text: 'a' })],
    ['interrupt', (session) => session.interrupt()],
    ['played', (session) => session.played(1)],
    ['approve', (session) => session.approve('c1')],
    ['deny', (session) => session.deny('c1')],
  ];

  it.each(acts)('%s: the exact abort reason, from the fence on', async (_, act) => {
    const abort = new AbortController();
    const { session, held: waiting } = await stage({ signal: abort.signal, hold: ['close'] });
    const reason = Symbol('enough');
    abort.abort(reason);
    expect(session.actor.getSnapshot().value).toBe('closing');
    expect(await outcomeOf(act(session))).toEqual({ error: reason });
    waiting[0]?.resolve();
    await session.closed;
    expect(await outcomeOf(act(session))).toEqual({ error: reason });
  });

  it.each(acts)('%s: otherwise a SessionEndedError that says why', async (_, act) => {
    const ends: [string, (on: Awaited<ReturnType<typeof stage>>) => unknown][] = [
      ['host', ({ session }) => session.close()],
      ['far_side', ({ emit }) => emit({ type: 'closed' })],
      ['stream_failed', ({ far }) => far.fail(new TypeError('cut'))],
      ['stream_ended', ({ far }) => far.end()],
      ['protocol_failure', ({ emit }) => emit({} as never)],
    ];
    for (const [reason, end] of ends) {
      const on = await stage();
      end(on);
      await on.session.closed;
      const outcome = await outcomeOf(act(on.session));
      expect(outcome).toEqual({ error: expect.any(SessionEndedError) });
      expect(outcome).toMatchObject({ error: { code: 'session_ended', reason, message: `session ended: ${reason}` } });
    }
  });

  it('what waits for the driver is refused at the end, interrupts and sends in the order asked', async () => {
    const { session, emit } = await stage({
      hold: ['send', 'played', 'interrupt'],
      driver: { interrupt: true, played: true },
    });
    const order: string[] = [];
    const refused = acts.slice(0, 3).map(([name, act]) =>
      act(session).catch((error: unknown) => {
        order.push(`${name}: ${(error as Error).message}`);
      }),
    );
    await emit({ type: 'closed' });
    await Promise.all(refused);
    expect(order).toEqual(['send', 'interrupt', 'played'].map((name) => `${name}: session ended: far_side`));
  });

  it('at the end pending interrupts are refused before pending closes, then `closed` resolves', async () => {
    const { session, held: waiting } = await stage({ hold: ['interrupt', 'close'], driver: { interrupt: true } });
    const order: string[] = [];
    session.closed.then(() => order.push('closed'));
    session.interrupt().catch(() => order.push('interrupt'));
    session.close().then(() => order.push('close'));
    session.close().then(() => order.push('close again'));
    await quiet();
    expect(order).toEqual([]);
    waiting[1]?.resolve();
    await quiet();
    expect(order).toEqual(['interrupt', 'close', 'close again', 'closed']);
  });

  it('close resolves', async () => {
    const { session, emit } = await stage();
    await emit({ type: 'closed' });
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
  });
});
