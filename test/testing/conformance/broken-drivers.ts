import type { BidiConnectParams, BidiEvent, BidiSession } from '../../../src/contract/provider.js';
import type { ConformanceFarSide, FarSidePlan } from '../../../src/testing/conformance/index.js';
import { ScriptedFarSide } from './scripted-far-side.js';

/** A driver with one thing wrong, and the cases that it fails for that. */
export interface BrokenDriver {
  readonly what: string;
  readonly fails: readonly string[];
  readonly farSide: (plan: FarSidePlan) => ConformanceFarSide;
}

/** What is changed of a good driver. */
interface Change {
  /** What it tells in the place of an event. */
  readonly tells?: (event: BidiEvent) => readonly BidiEvent[];
  /** What is put over its sessions. */
  readonly session?: (session: BidiSession, far: ScriptedFarSide) => Partial<BidiSession>;
  readonly connect?: (
    params: BidiConnectParams,
    connect: (params: BidiConnectParams) => Promise<BidiSession>,
  ) => Promise<BidiSession>;
  readonly far?: (far: ScriptedFarSide) => Partial<ConformanceFarSide>;
}

function broken(what: string, fails: readonly string[], change: Change): BrokenDriver {
  return {
    what,
    fails,
    farSide(plan) {
      const far = new ScriptedFarSide(plan);
      const connect = async (params: BidiConnectParams) => changed(await far.provider.connect(params), far, change);
      const provider = {
        id: 'broken',
        connect: (params: BidiConnectParams) => change.connect?.(params, connect) ?? connect(params),
      };
      const over = { provider, ...change.far?.(far) };
      return new Proxy(far, {
        get(target, key) {
          const value: unknown = key in over ? over[key as keyof typeof over] : Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

function changed(session: BidiSession, far: ScriptedFarSide, { tells, session: put }: Change): BidiSession {
  const told: BidiSession =
    tells === undefined
      ? session
      : {
          ...session,
          async *events() {
            for await (const event of session.events()) yield* tells(event);
          },
        };
  return { ...told, ...put?.(told, far) };
}

/** A session of which a result settles in another way where it should reject for such a reason. */
const settling = (matching: RegExp, otherwise: () => Promise<void>, output?: string): Change => ({
  session: ({ sendToolResult }) => ({
    sendToolResult: (...args) =>
      sendToolResult(...args).catch((error: Error) => {
        if (matching.test(error.message) && (output === undefined || output === args[1])) return otherwise();
        throw error;
      }),
  }),
});

const never = () => new Promise<never>(() => {});

export const brokenDrivers: readonly BrokenDriver[] = [
  broken('hides why it was refused', ['connect_refused_says_why'], {
    connect: (params, connect) =>
      connect(params).catch((error: unknown) => {
        throw params.signal?.aborted === true ? error : new TypeError('something went wrong');
      }),
  }),
  broken('hangs when it is refused', ['connect_refused_says_why'], {
    connect: (params, connect) =>
      connect(params).catch((error: unknown) => {
        if (params.signal?.aborted === true) throw error;
        return never();
      }),
  }),
  broken('connects with a signal that is aborted', ['connect_aborted_before'], {
    connect: ({ signal, ...params }, connect) =>
      connect(signal === undefined || signal.aborted ? params : { ...params, signal }),
  }),
  broken('cannot be aborted while it connects', ['connect_aborted_meanwhile'], {
    connect: ({ signal, ...params }, connect) => connect(signal?.aborted === true ? { ...params, signal } : params),
  }),
  broken(
    'rejects with an error of its own when it is aborted',
    ['connect_aborted_before', 'connect_aborted_meanwhile'],
    {
      connect: (params, connect) =>
        connect(params).catch((error: unknown) => {
          throw params.signal?.aborted === true ? new TypeError('aborted') : error;
        }),
    },
  ),
  broken('has the model answer the history', ['history_is_taken'], {
    async connect(params, connect) {
      const session = await connect(params);
      if (params.history !== undefined) await session.send({ type: 'text', text: 'Look.' });
      return session;
    },
  }),
  broken('gives a handle that is of no use', ['resumption_goes_on'], {
    connect: (params, connect) =>
      params.resume === undefined ? connect(params) : Promise.reject(new TypeError('unknown handle')),
    session: () => ({ resumption: () => 'handle' }),
  }),
  broken('ends each turn twice', ['turn_is_told_and_ends_once'], {
    tells: (event) => (event.type === 'turn_complete' ? [event, event] : [event]),
  }),
  broken('loses a piece of the text', ['turn_is_told_and_ends_once'], {
    tells: (event) => [event.type === 'text' ? { ...event, text: event.text.replace('two ', '') } : event],
  }),
  broken('completes a turn that was cut', ['interrupted_ends_the_turn_once'], {
    tells: (event) => (event.type === 'interrupted' ? [event, { type: 'turn_complete' }] : [event]),
  }),
  broken('interrupts twice', ['interrupted_ends_the_turn_once'], {
    tells: (event) => (event.type === 'interrupted' ? [event, event] : [event]),
  }),
  broken('passes on what still comes of a cut turn', ['nothing_of_a_cut_turn_is_heard'], {
    far: (far) => ({
      interrupt(stale) {
        far.provider.emit({ type: 'interrupted' });
        if (stale !== undefined) far.provider.emit({ type: 'text', text: stale });
      },
    }),
  }),
  broken('swallows its own interruption', ['interrupt_is_acknowledged'], {
    session: () => ({ interrupt: async () => {} }),
  }),
  broken('counts what is no number', ['events_are_well_formed'], {
    tells: (event) => (event.type === 'turn_complete' ? [{ type: 'usage', inputTokens: Number.NaN }, event] : [event]),
  }),
  broken('tells of errors without a message', ['events_are_well_formed'], {
    tells: (event) => (event.type === 'closed' ? [{ type: 'error', message: '' }, event] : [event]),
  }),
  broken('gives arguments as an object', ['events_are_well_formed', 'call_is_told_whole'], {
    tells: (event) => [event.type === 'tool_call' ? { ...event, arguments: JSON.parse(event.arguments) } : event],
  }),
  broken('gives a call before its arguments are whole', ['call_is_told_whole'], {
    tells: (event) => [event.type === 'tool_call' ? { ...event, arguments: event.arguments.slice(0, 9) } : event],
  }),
  broken('gives a repeated call again', ['call_is_told_once'], {
    far: (far) => ({
      repeatCalls: () => far.provider.emit({ type: 'tool_call', id: 'c1', name: 'look', arguments: '{}' }),
    }),
  }),
  broken('loses the second of several calls', ['calls_side_by_side', 'withdrawn_calls_are_told'], {
    tells: (event) => (event.type === 'tool_call' && event.id === 'c2' ? [] : [event]),
  }),
  broken('lays out results anew', ['result_arrives'], {
    session: ({ sendToolResult }) => ({
      sendToolResult: (id, output, isError) => sendToolResult(id, output.replace(/\s+/g, ' '), isError),
    }),
  }),
  broken('sends errors as results', ['error_result_arrives'], {
    session: ({ sendToolResult }) => ({ sendToolResult: (id, output) => sendToolResult(id, output) }),
  }),
  broken(
    'takes a refusal for acceptance',
    ['result_refused_rejects'],
    settling(/not on this day/, async () => {}),
  ),
  broken('leaves a result pending at close', ['result_settles_at_close'], settling(/by the host/, never, 'blue')),
  broken(
    'resolves a result at the far end',
    ['result_settles_at_the_far_end'],
    settling(/over: over/, async () => {}, 'blue'),
  ),
  broken('leaves a result pending at a cut', ['result_settles_at_a_cut'], settling(/broke/, never)),
  broken(
    'resolves the result of a call that was taken back',
    ['withdrawn_calls_are_told'],
    settling(/no open call/, async () => {}),
  ),
  broken('takes a withdrawal for an interruption', ['withdrawn_calls_are_told'], {
    tells: (event) => [event.type === 'tool_call_cancelled' ? { type: 'interrupted' } : event],
  }),
  broken('abandons a call in silence', ['abandoned_calls_hold_nothing_up'], {
    session: () => ({ abandonToolCall: async () => {} }),
  }),
  broken('tells more after close()', ['close_ends_everything'], {
    session: (session) => {
      let closed = false;
      return {
        close() {
          closed = true;
          return session.close();
        },
        async *events() {
          yield* session.events();
          if (closed) yield { type: 'closed', reason: 'closed by the host' };
        },
      };
    },
  }),
  broken('throws when it is closed again', ['close_ends_everything'], {
    session: ({ close }) => {
      let closed = false;
      return {
        async close() {
          if (closed) throw new TypeError('closed already');
          closed = true;
          await close();
        },
      };
    },
  }),
  broken('keeps its connection', ['connect_aborted_meanwhile', 'close_ends_everything', 'abort_ends_the_session'], {
    far: () => ({ gone: never }),
  }),
  broken('takes input after close()', ['acts_after_close_reject', 'abort_ends_the_session'], {
    session: ({ send, close }) => {
      let closed = false;
      return {
        close() {
          closed = true;
          return close();
        },
        send: (input) => send(input).catch((error: unknown) => (closed ? undefined : Promise.reject(error))),
      };
    },
  }),
  broken('takes results after the far end', ['acts_after_the_far_end_reject'], {
    session: ({ sendToolResult, close }) => {
      let closed = false;
      return {
        close() {
          closed = true;
          return close();
        },
        sendToolResult: (id, output, isError) =>
          sendToolResult(id, output, isError).catch((error: Error) => {
            // one that is sent late, not one that was on its way
            if (closed || output !== 'late' || !/over: over/.test(error.message)) throw error;
          }),
      };
    },
  }),
  broken('loses the reason of the far side', ['closed_is_last_and_says_why'], {
    tells: (event) => [event.type === 'closed' ? { ...event, reason: 'disconnected' } : event],
  }),
  broken('says that it is closed twice', ['closed_is_last_and_says_why'], {
    tells: (event) => (event.type === 'closed' ? [event, event] : [event]),
  }),
  broken('ends without a word when the connection breaks', ['a_cut_is_closed'], {
    tells: (event) => (event.type === 'closed' && event.reason?.includes('broke') ? [] : [event]),
  }),
  broken('completes a turn that broke off', ['a_cut_is_closed'], {
    tells: (event) =>
      event.type === 'closed' && event.reason?.includes('broke') ? [{ type: 'turn_complete' }, event] : [event],
  }),
];

/** Its rejection would be anybody's who runs tests: for a test that looks away from the others. */
export const unhandled: BrokenDriver = broken('leaves a rejection to nobody', ['nothing_is_left_unhandled'], {
  session: ({ close }) => ({
    close() {
      void Promise.reject(new TypeError('left behind'));
      return close();
    },
  }),
});

/** Nothing of it works. */
export const empty: BrokenDriver = broken('has no methods', ['connect_gives_a_session'], {
  session: () => ({ send: undefined as never }),
});
