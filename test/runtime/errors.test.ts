/** The errors of the family: how they are known, and that foreign errors are left as they are (duplex page, §5). */
import { describe, expect, it } from 'vitest';
import {
  CallInterruptedError,
  CallNotWaitingError,
  CallTimeoutError,
  CallWithdrawnError,
  ConnectAbortedError,
  ConnectTimeoutError,
  type ErrorCode,
  InvalidIdError,
  InvalidInputError,
  isCommitpointError,
  NotSupportedError,
  SessionCloseTimeoutError,
  SessionEndedError,
} from '../../src/contract/errors.js';
import { startSession } from '../../src/runtime/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { Boom, over, throwing } from './hostile-parts.js';
import { expectNoHarm } from './no-harm.js';
import { outcomeOf } from './stage.js';

expectNoHarm();

describe('errors', () => {
  it('are known by a brand and by a code of a closed list', () => {
    const all: [Error & { code: ErrorCode }, ErrorCode][] = [
      [new CallInterruptedError('c'), 'call_interrupted'],
      [new CallNotWaitingError('c', 'executing'), 'call_not_waiting'],
      [new CallTimeoutError('c', 1), 'call_timeout'],
      [new CallWithdrawnError('c'), 'call_withdrawn'],
      [new ConnectAbortedError(), 'connect_aborted'],
      [new ConnectTimeoutError(1), 'connect_timeout'],
      [new InvalidIdError('an id', 1), 'invalid_id'],
      [new InvalidInputError('input', 'a text', 1), 'invalid_input'],
      [new NotSupportedError('a', 'b'), 'not_supported'],
      [new SessionCloseTimeoutError(1), 'session_close_timeout'],
      [new SessionEndedError('host'), 'session_ended'],
    ];
    for (const [error, code] of all) {
      expect(isCommitpointError(error)).toBe(true);
      expect(error.code).toBe(code);
      expect(error.name).toBe(error.constructor.name);
      expect(Object.keys(error)).not.toContain('message');
    }
    expect(isCommitpointError(new TypeError('no'))).toBe(false);
    expect(isCommitpointError(null)).toBe(false);
    expect(isCommitpointError({ code: 'session_ended' })).toBe(false);
  });
});

describe('errors that reach the host', () => {
  it('are of the family where they are ours, and untouched where they are not', async () => {
    const theirs = Object.freeze(new Boom('theirs'));
    const ours = await outcomeOf(
      startSession({ provider: over(() => null), connect: { model: 'm' }, clock: new VirtualClock() }),
    );
    const notOurs = await outcomeOf(
      startSession({ provider: over(throwing(theirs)), connect: { model: 'm' }, clock: new VirtualClock() }),
    );
    expect('error' in ours && isCommitpointError(ours.error)).toBe(true);
    expect(notOurs).toEqual({ error: theirs });
    expect('error' in notOurs && notOurs.error).toBe(theirs);
  });
});
