import { describe, expect, it } from 'vitest';
import { ResultRefusedError, ResultUnknownError, SessionEndedError } from '../../../src/contract/errors.js';
import type { OpenAiFakeSession } from '../../../src/testing/loopback/openai/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { words } from '../steps.js';
import { arrived, calls, connected, key, type PairOptions, say, settled, turnOfTheLoop } from './far.js';

// A1, A2, Z2, R3 and R4 over a socket: what the service says to what it was sent.

/** A pair whose model has called `look`, and waits. */
async function called(options: PairOptions = {}) {
  const pair = await connected({
    ...options,
    fake: { reply: ({ index }) => (index === 0 ? calls(2) : {}), ...options.fake },
  });
  await say(pair.session);
  await pair.log.untilType('tool_call', 2);
  await settled(pair);
  return pair;
}

/** Answers the next message of a type by an error instead. */
function refuseNext(far: OpenAiFakeSession, type: string, code: string, message: string, named = true): void {
  far.intercept = (frame) => {
    if (frame.type !== type) return false;
    far.intercept = undefined;
    far.error({ code, message }, named ? String(frame.event_id) : null);
    return true;
  };
}

describe('a result', () => {
  it('of a call that the service does not know is refused by name, and is no event', async () => {
    const pair = await called();
    // A refused result is what the test asks for.
    const answer = pair.session.sendToolResult('call_9', 'x');
    await expect(answer).rejects.toThrow(ResultRefusedError);
    await expect(answer).rejects.toThrow("Tool call ID 'call_9' not found in conversation.");
    await settled(pair);
    expect(pair.far.violations.splice(0)).toHaveLength(1);
  });

  it.each([
    ['that names the message', 'invalid_value', 'Output is too long.', true],
    ['that names the call alone', 'invalid_tool_call_id', "Tool call ID 'call_1' not found in conversation.", false],
  ])('is refused by an error %s; the other result is answered all the same', async (_, code, message, named) => {
    const pair = await called();
    refuseNext(pair.far, 'conversation.item.create', code, message, named);
    const answer = pair.session.sendToolResult('call_1', 'x');
    const other = pair.session.sendToolResult('call_2', 'y');
    await expect(answer).rejects.toThrow(ResultRefusedError);
    await expect(answer).rejects.toThrow(message);
    await other;
    await arrived(pair.far, 'response.create', 2);
    expect(words(await settled(pair)).filter((word) => word.startsWith('error'))).toEqual([]);
  });

  it('that is refused before the response is done asks for no other', async () => {
    const pair = await connected({ fake: { pace: 'stepwise', reply: () => calls(1) } });
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.stepPast('response.output_item.done');
    await pair.log.untilType('tool_call');
    refuseNext(pair.far, 'conversation.item.create', 'invalid_value', 'No.');
    await expect(pair.session.sendToolResult('call_1', 'x')).rejects.toThrow(ResultRefusedError);
    pair.far.finish();
    await settled(pair);
    expect(pair.far.of('response.create')).toHaveLength(1);
  });

  it('that is not answered is unknown after the time for it, and never before', async () => {
    const clock = new VirtualClock();
    const pair = await called({
      fake: { habits: { acknowledge: 'never' }, reply: () => calls(2) },
      driver: { clock, resultTimeoutMs: 700 },
    });
    let error: unknown;
    const answer = pair.session.sendToolResult('call_1', 'x').catch((reason: unknown) => {
      error = reason;
    });
    await arrived(pair.far, 'conversation.item.create', 2);
    await clock.advance(699, turnOfTheLoop);
    expect(error).toBeUndefined();
    await clock.advance(1, turnOfTheLoop);
    await answer;
    expect(error).toBeInstanceOf(ResultUnknownError);
  });

  it.each(['close', 'abort', 'cut'] as const)('is unknown when the session ends first, by %s', async (how) => {
    const controller = new AbortController();
    const pair = await called({
      fake: { habits: { acknowledge: 'never' }, reply: () => calls(2) },
      params: { signal: controller.signal },
    });
    const answer = pair.session.sendToolResult('call_1', 'x');
    answer.catch(() => {});
    await arrived(pair.far, 'conversation.item.create', 2);
    if (how === 'close') await pair.session.close();
    else if (how === 'abort') controller.abort();
    else pair.far.connection.cut('reset');
    await expect(answer).rejects.toThrow(ResultUnknownError);
    await expect(pair.session.sendToolResult('call_2', 'y')).rejects.toThrow(SessionEndedError);
    await expect(say(pair.session)).rejects.toThrow(SessionEndedError);
  });

  it('of two that wait for the same call each has an answer of its own', async () => {
    const pair = await called();
    await Promise.all([pair.session.sendToolResult('call_1', 'x'), pair.session.sendToolResult('call_1', 'again')]);
  });
});

/** A pair whose service begins a response of its own when the first message of a type comes, before it looks at it. */
async function crossing(named: boolean, type: string) {
  const pair = await connected({
    fake: {
      pace: 'stepwise',
      habits: { conflictNamesMessage: named },
      reply: ({ index }) => ({ text: `r${index}` }),
    },
  });
  pair.far.intercept = (message, far) => {
    if (message.type !== type) return false;
    far.intercept = undefined;
    far.respond();
    far.step(1);
    return false;
  };
  return pair;
}

describe('two responses at once', () => {
  it.each([true, false])(
    'the service began one before it took our item: we ask again after it (the refusal is named: %s)',
    async (named) => {
      const pair = await crossing(named, 'conversation.item.create');
      const { far, session, log } = pair;
      await say(session);
      await arrived(far, 'response.create');
      far.finish();
      await arrived(far, 'response.create', 2);
      far.finish();
      await log.untilType('turn_complete', 2);
      expect(words(await settled(pair)).filter((word) => word.startsWith('error'))).toEqual([]);
      expect(far.of('response.create')).toHaveLength(2);
    },
  );

  it.each([true, false])(
    'the service began one after it took our item: it is answered by that one (named: %s)',
    async (named) => {
      const pair = await crossing(named, 'response.create');
      const { far, session, log } = pair;
      await say(session);
      await arrived(far, 'response.create');
      far.finish();
      await log.untilType('turn_complete');
      expect(words(await settled(pair))).toEqual(['text:r0', 'usage', 'turn_complete']);
      expect(far.of('response.create')).toHaveLength(1);
    },
  );

  it('a request that waits is dropped when the service begins one after it took the item', async () => {
    const pair = await connected({ fake: { pace: 'stepwise', reply: ({ index }) => ({ text: `r${index}` }) } });
    const { far, session, log } = pair;
    far.respond();
    far.step(1);
    await settled(pair);
    // Text cuts the response, and waits for its end, which the service holds back.
    far.intercept = (message) => message.type === 'response.cancel';
    await say(session);
    await arrived(far, 'response.cancel');
    await settled(pair);
    far.intercept = undefined;
    far.connection.together(() => {
      far.finish();
      far.respond();
      far.step(1);
    });
    far.finish();
    await log.untilType('turn_complete');
    await settled(pair);
    // The create crossed the second response and was refused; it is not made again, for the item was seen.
    expect(far.of('response.create').length).toBeLessThanOrEqual(1);
    expect(words(await settled(pair)).filter((word) => word === 'turn_complete')).toHaveLength(1);
  });

  it('a service that refuses without end is asked nine times, and then the host hears of it', async () => {
    const clock = new VirtualClock();
    const pair = await connected({ driver: { clock } });
    pair.far.intercept = (message, far) => {
      if (message.type !== 'response.create') return false;
      far.error({ code: 'conversation_already_has_active_response', message: 'busy' }, String(message.event_id));
      return true;
    };
    await say(pair.session);
    for (let n = 1; n <= 9; n++) {
      await arrived(pair.far, 'response.create', n);
      await settled(pair);
      await clock.advance(250, turnOfTheLoop);
    }
    await clock.advance(10_000, turnOfTheLoop);
    expect(pair.far.of('response.create')).toHaveLength(9);
    expect(words(await settled(pair))).toEqual(['error:conversation_already_has_active_response: busy']);
  });

  it('a request that nothing answers is told after its time, and the next one is made', async () => {
    const clock = new VirtualClock();
    const pair = await connected({ driver: { clock, responseTimeoutMs: 400 } });
    pair.far.intercept = (message) => message.type === 'response.create' && pair.far.of('response.create').length === 1;
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    await clock.advance(399, turnOfTheLoop);
    expect(await settled(pair)).toEqual([]);
    await clock.advance(1, turnOfTheLoop);
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    expect(words(await settled(pair))).toEqual([
      'error:no response began within 400 ms',
      ...['text:ok', 'usage', 'turn_complete'],
    ]);
    await pair.session.close();
    expect(clock.pending).toBe(0);
  });

  it('a request that is refused for another reason is told, and the next one is made', async () => {
    const pair = await connected();
    refuseNext(pair.far, 'response.create', 'rate_limit_exceeded', `Too many requests for ${key}.`);
    await say(pair.session);
    await pair.log.untilType('error');
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    expect(words(await settled(pair))).toEqual([
      'error:rate_limit_exceeded: Too many requests for [key].',
      ...['text:ok', 'usage', 'turn_complete'],
    ]);
  });
});

describe('errors', () => {
  it.each([
    ['response_cancel_not_active', 'Cancellation failed: no active response found'],
    [null, 'Audio content of 9250ms is already shorter than 57340ms'],
    ['unsupported_content_type', 'Only model output audio messages can be truncated'],
  ])('that answer advice are no events: %s', async (code, message) => {
    const diagnostics: string[] = [];
    const pair = await connected({ driver: { onDiagnostic: ({ code: found }) => diagnostics.push(found) } });
    pair.far.error({ code, message });
    expect(await settled(pair)).toEqual([]);
    expect(diagnostics).toEqual(['advice_refused']);
  });

  it('of any other kind are told, and the session goes on', async () => {
    const pair = await connected();
    pair.far.error({ code: 'server_error', message: `The server had an error. Your key is ${key}.` });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    expect(words(await settled(pair))[0]).toBe('error:server_error: The server had an error. Your key is [key].');
  });
});
