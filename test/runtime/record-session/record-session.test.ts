/** A recorded session: what is written, rule by rule (`docs/design/record-session.md`). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asSessionId, asTurnId } from '../../../src/contract/ids.js';
import type { CallState } from '../../../src/contract/lifecycle.js';
import { type SessionTap, tapped } from '../../../src/contract/session-tap.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import { openToolCalls } from '../../../src/conversation/index.js';
import { defineTool, type RecordSessionOptions } from '../../../src/runtime/index.js';
import { expectLegal } from '../../../src/testing/index.js';
import { type Held, held, quiet, type Stage, type StageOptions, stage, toolCall, watchProcess } from '../stage.js';
import { type Recorded, recorded } from './recorded.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const text = (said: string) => ({ type: 'text', text: said }) as const;
const complete = { type: 'turn_complete' } as const;
const interrupted = { type: 'interrupted' } as const;

/** A tool whose code waits for the test. */
function waiting(name: string, onInterruption: 'abandon' | 'cancel' | 'deliver' = 'abandon') {
  const code: Held<unknown>[] = [];
  const tool = defineTool({
    name,
    description: name,
    input: { type: 'object' },
    onInterruption,
    effect: 'read',
    execute: () => {
      const running = held();
      code.push(running);
      return running.promise;
    },
  });
  return { tool, code };
}

async function recordedStage(
  options: StageOptions = {},
  how: Partial<RecordSessionOptions> = {},
): Promise<Stage & Recorded> {
  const staged = await stage(options);
  const record = recorded(staged.session, how);
  expect(record.news()).toEqual(['init', 'task r-task']);
  return Object.defineProperties(record, Object.getOwnPropertyDescriptors(staged)) as Stage & Recorded;
}

/** The session ends; gives what that wrote. The whole stream is legal, and no call is open. */
async function ended(run: Stage & Recorded): Promise<string[]> {
  await run.session.close();
  await run.recording.finished;
  expectLegal(run.events, { complete: true });
  expect(openToolCalls(run.state)).toEqual([]);
  return run.news();
}

describe('a stretch', () => {
  it('is a transaction, from its first output to its end', async () => {
    const run = await recordedStage();
    await run.emit(text('Hel'), text('lo'));
    expect(run.news()).toEqual(['BEGIN, r-1 agent: Hel', 'append r-1 agent: lo']);
    expect(run.state.transaction).toBe('open');
    await run.emit(complete);
    expect(run.news()).toEqual(['COMMIT']);
    await run.emit(text('Bye'), complete);
    expect(run.news()).toEqual(['BEGIN, r-2 agent: Bye', 'COMMIT']);
    expect(await ended(run)).toEqual(['finished done']);
    expect(run.said).toEqual(['agent: Hello', 'agent: Bye']);
  });

  it('begins with audio, too', async () => {
    const run = await recordedStage();
    await run.emit({ type: 'audio', data: 'AAAA', mediaType: 'audio/pcm;rate=24000' });
    expect(run.news()).toEqual(['BEGIN']);
    await run.emit(text('Hello'), complete, complete);
    expect(run.news()).toEqual(['r-1 agent: Hello', 'COMMIT']);
  });
});

describe('a call', () => {
  it('is a message, and its result is committed with the stretch so far', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool], hold: ['sendToolResult'] });
    await run.emit(text('Let me see.'), toolCall('t1', 'look', { at: 'x' }));
    expect(run.news()).toEqual(['BEGIN, r-1 agent: Let me see.', 'r-2 call t1: look {"at":"x"}']);
    code[0]?.resolve('sun');
    await quiet();
    // the far side has not taken it yet: this is the commit point
    expect(run.driverCalls.at(-1)).toMatchObject({ method: 'sendToolResult' });
    expect(run.news()).toEqual(['r-3 result t1: sun, COMMIT', 'BEGIN']);
    await run.emit(text('Sunny.'), complete);
    expect(run.news()).toEqual(['r-4 agent: Sunny.', 'COMMIT']);
    run.held[0]?.resolve();
    await quiet();
    expect(await ended(run)).toEqual(['finished done']);
  });

  it('may be of an earlier stretch: its result stands by itself, or is committed with the one at hand', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool] });
    await run.emit(toolCall('t1', 'look'), toolCall('t2', 'look'), complete);
    run.news();
    code[0]?.resolve('one');
    await quiet();
    expect(run.news()).toEqual(['r-3 result t1: one']);
    await run.emit(text('Hel'));
    code[1]?.resolve('two');
    await quiet();
    await run.emit(text('lo'), complete);
    // what the agent says goes on in its message
    expect(run.news()).toEqual([
      'BEGIN, r-4 agent: Hel',
      'r-5 result t2: two, COMMIT',
      'BEGIN',
      'append r-4 agent: lo',
      'COMMIT',
    ]);
  });

  it('that no tool takes has the arguments that the model wrote, and the result that says why', async () => {
    const { tool } = waiting('look');
    const run = await recordedStage({ tools: [tool] });
    await run.emit(
      toolCall('t1', 'look', '{"at":'),
      toolCall('t2', 'nowhere', ''),
      toolCall('t3', 'look', '[1]'),
      toolCall('t4', 'nowhere', '{"id":12345678901234567890}'),
    );
    expect(run.said).toMatchObject([
      'call t1: {"name":"look","arguments":"{\\"at\\":"}',
      expect.stringMatching(/^error t1: .*JSON/),
      'call t2: nowhere {}',
      expect.stringMatching(/^error t2: .*nowhere/),
      'call t3: {"name":"look","arguments":"[1]"}',
      expect.stringMatching(/^error t3: /),
      'call t4: {"name":"nowhere","arguments":"{\\"id\\":12345678901234567890}"}',
      expect.stringMatching(/^error t4: /),
    ]);
  });

  it('whose result the far side refuses, or never answers, stays as it was committed', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool], hold: ['sendToolResult'], publishTimeoutMs: 10 });
    await run.emit(toolCall('t1', 'look'), toolCall('t2', 'look'), toolCall('t3', 'look'));
    for (const [index, each] of code.entries()) each.resolve(`result ${index}`);
    await quiet();
    run.held[0]?.reject(new RangeError('no'));
    await quiet();
    run.held[1]?.resolve();
    await quiet();
    await run.clock.advance(10, quiet);
    run.news();
    expect(await ended(run)).toEqual(['COMMIT', 'finished done']);
    expect(run.session.calls().map(({ state }) => state)).toEqual(['rejected', 'completed', 'unconfirmed']);
    expect(run.said.slice(3)).toEqual(['result t1: result 0', 'result t2: result 1', 'result t3: result 2']);
  });

  it('that was denied, or withdrawn by the far side, is answered', async () => {
    const ask = defineTool({
      name: 'ask',
      description: 'ask',
      input: { type: 'object' },
      needsApproval: true,
      execute: () => 'done',
    });
    const run = await recordedStage({ tools: [ask] });
    await run.emit(toolCall('t1', 'ask'), toolCall('t2', 'ask'), text('Well.'));
    await run.session.deny('t1', 'not today');
    await run.emit({ type: 'tool_call_cancelled', ids: ['t2'] });
    run.news();
    await run.emit(complete);
    expect(run.news()).toEqual(['COMMIT']);
    expect(run.said.slice(2)).toEqual(['agent: Well.', 'error t1: not today', 'cancel t2']);
  });
});

describe('an interruption that keeps', () => {
  it('commits what was said, with a cancel of each call that it abandons, in one event', async () => {
    const { tool } = waiting('look');
    const late = waiting('late', 'deliver');
    const run = await recordedStage({ tools: [tool, late.tool] });
    await run.emit(toolCall('t0', 'look'), complete, text('I think'), toolCall('t1', 'look'), toolCall('t2', 'late'));
    run.news();
    await run.emit(interrupted);
    expect(run.news()).toEqual(['r-5 cancel t0, r-6 cancel t1, COMMIT']);
    expect(openToolCalls(run.state)).toEqual(['t2']);
    late.code[0]?.resolve('at last');
    await quiet();
    expect(run.news()).toEqual(['r-7 result t2: at last']);
    expect(await ended(run)).toEqual(['finished done']);
  });

  it('of nothing writes nothing', async () => {
    const run = await recordedStage();
    await run.emit(interrupted, complete, interrupted);
    expect(run.news()).toEqual([]);
  });

  it('leaves a result that was handed over, whatever comes of it', async () => {
    const { tool, code } = waiting('look', 'cancel');
    const run = await recordedStage({ tools: [tool], hold: ['sendToolResult'] });
    await run.emit(toolCall('t1', 'look'));
    code[0]?.resolve('sun');
    await quiet();
    await run.emit(interrupted);
    expect(await ended(run)).toEqual([
      'BEGIN, r-1 call t1: look {}',
      'r-2 result t1: sun, COMMIT',
      'BEGIN',
      'COMMIT',
      'finished done',
    ]);
  });
});

describe('an interruption that discards', () => {
  const discard = { onInterrupted: 'discard' } as const;

  it('rolls back what was said and the calls that it abandons, without a cancel', async () => {
    const { tool } = waiting('look');
    const run = await recordedStage({ tools: [tool] }, discard);
    await run.emit(text('Yes.'), complete, text('I think'), toolCall('t1', 'look'));
    run.news();
    await run.emit(interrupted);
    expect(run.news()).toEqual(['ROLLBACK']);
    expect(run.said).toEqual(['agent: Yes.']);
    expect(await ended(run)).toEqual(['finished done']);
  });

  it('records the calls that go on again, under their ids, and cancels those of earlier stretches', async () => {
    const { tool } = waiting('look');
    const late = waiting('late', 'deliver');
    const run = await recordedStage({ tools: [tool, late.tool] }, discard);
    await run.emit(toolCall('t0', 'look'), complete);
    await run.emit(text('I'), toolCall('t1', 'late'), text('and'), toolCall('t2', 'look'));
    run.news();
    await run.emit(interrupted);
    expect(run.news()).toEqual(['ROLLBACK, r-3 call t1: late {}, r-6 cancel t0']);
    late.code[0]?.resolve('at last');
    await quiet();
    await run.emit(text('So'), interrupted);
    expect(run.news()).toEqual(['r-7 result t1: at last', 'BEGIN, r-8 agent: So', 'ROLLBACK']);
    expect(await ended(run)).toEqual(['finished done']);
  });

  it('leaves what was committed with a result, its text too', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool] }, discard);
    await run.emit(text('Let me see. '), toolCall('t1', 'look'));
    code[0]?.resolve('sun');
    await quiet();
    await run.emit(text('Sunny.'), interrupted);
    expect(run.said).toEqual(['agent: Let me see. ', 'call t1: look {}', 'result t1: sun']);
  });

  it('takes back what was appended to a message that is committed', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool] }, discard);
    await run.emit(toolCall('t1', 'look'), complete, text('Hel'));
    code[0]?.resolve('sun');
    await quiet();
    await run.emit(text('lo'), interrupted);
    expect(run.said).toEqual(['call t1: look {}', 'agent: Hel', 'result t1: sun']);
  });

  it('keeps a cancel that a call of an earlier stretch got in it', async () => {
    const { tool } = waiting('look');
    const run = await recordedStage({ tools: [tool] }, discard);
    await run.emit(toolCall('t1', 'look'), complete);
    await run.emit(text('I'), toolCall('t2', 'look'), { type: 'tool_call_cancelled', ids: ['t1', 't2'] });
    run.news();
    await run.emit(interrupted);
    expect(run.news()).toEqual(['ROLLBACK, r-4 cancel t1']);
    expect(run.said).toEqual(['call t1: look {}', 'cancel t1']);
  });

  it('keeps what the user said meanwhile', async () => {
    const run = await recordedStage({}, discard);
    await run.emit({ type: 'input_text', text: 'What', final: false }, text('Well'));
    await run.emit({ type: 'input_text', text: ' now?', final: false });
    await run.session.send({ type: 'text', text: 'Stop.' });
    await run.emit({ type: 'input_text', text: 'Stop it', final: false }, text('?'));
    run.news();
    await run.emit(interrupted);
    expect(run.news()).toEqual(['ROLLBACK, revise r-1 user: What now?, r-3 user: Stop., r-4 user: Stop it']);
    await run.emit({ type: 'input_text', text: ' please', final: false });
    await run.emit({ type: 'input_text', text: 'Stop it, please.', final: true });
    expect(await ended(run)).toEqual([
      'append r-4 user:  please',
      'revise r-4 user: Stop it, please.',
      'finished done',
    ]);
    expect(run.said).toEqual(['user: What now?', 'user: Stop.', 'user: Stop it, please.']);
  });
});

describe('what the user says', () => {
  it('is recorded as it was sent; audio is not', async () => {
    const run = await recordedStage();
    await run.session.send({ type: 'text', text: 'Hi' });
    await run.session.send({ type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' });
    expect(run.news()).toEqual(['r-1 user: Hi']);
  });

  it('is recorded as the transcript has it: pieces, then the whole', async () => {
    const run = await recordedStage();
    await run.emit(
      { type: 'input_text', text: 'How', final: false },
      { type: 'input_text', text: ' are', final: false },
    );
    await run.emit({ type: 'input_text', text: 'How are you?', final: true });
    await run.emit({ type: 'input_text', text: 'Well?', final: true }, { type: 'input_text', text: '', final: true });
    expect(run.news()).toEqual([
      'r-1 user: How',
      'append r-1 user:  are',
      'revise r-1 user: How are you?',
      'r-2 user: Well?',
    ]);
  });

  it('is one message, where its transcript is finished after the answer', async () => {
    const run = await recordedStage();
    await run.emit({ type: 'input_text', text: 'How', final: false }, text('Fine.'), complete);
    await run.emit({ type: 'input_text', text: 'How are you?', final: true });
    expect(run.said).toEqual(['user: How are you?', 'agent: Fine.']);
  });

  it('ends with the answer, where the far side never says that it is final', async () => {
    const run = await recordedStage();
    await run.emit({ type: 'input_text', text: 'One', final: false }, text('1'), complete);
    // a piece that comes late is of the same utterance; what comes after the interruption is not
    await run.emit({ type: 'input_text', text: 'Tw', final: false }, text('2'));
    await run.emit({ type: 'input_text', text: 'o', final: false }, interrupted);
    await run.emit({ type: 'input_text', text: 'No', final: false }, { type: 'input_text', text: ', 3', final: false });
    await run.emit(text('3'), complete);
    expect(run.said).toEqual(['user: One', 'agent: 1', 'user: Two', 'agent: 2', 'user: No, 3', 'agent: 3']);
  });
});

describe('texts', () => {
  it('that are cut within a character are put together; half a character alone is replaced', async () => {
    const { tool, code } = waiting('look');
    const run = await recordedStage({ tools: [tool] });
    await run.emit(text('a\ud83d'), text('\ude00b'), text(''), text('\ude00'), text('c\ud83d'), toolCall('t1', 'look'));
    await run.emit(text('d\ud83d'), complete);
    code[0]?.resolve('x\ud83d');
    await quiet();
    await run.session.send({ type: 'text', text: '\ude00' });
    expect(run.said).toEqual([
      'agent: a\u{1f600}b\ufffdc\ufffd',
      'call t1: look {}',
      'agent: d\ufffd',
      'result t1: x\ufffd',
      'user: \ufffd',
    ]);
  });
});

describe('the end', () => {
  it('closes the stretch at hand as an interruption does', async () => {
    const { tool } = waiting('look', 'deliver');
    for (const [onInterrupted, lines] of [
      ['keep', ['r-3 cancel t1', 'COMMIT', 'finished done']],
      ['discard', ['r-3 cancel t1', 'ROLLBACK', 'finished done']],
    ] as const) {
      const run = await recordedStage({ tools: [tool] }, { onInterrupted });
      await run.emit(text('I'), toolCall('t1', 'look'));
      run.news();
      expect(await ended(run)).toEqual(lines);
    }
  });

  it.each([
    ['of the far side', { type: 'closed', reason: 'bye' }, 'done'],
    ['of a protocol failure', { type: 'text' }, 'internalError: protocol failure'],
  ] as const)('%s has the reason that fits', async (_, event, reason) => {
    const run = await recordedStage();
    await run.emit(text('I'), event as never);
    const { closed, reason: how } = await run.recording.finished;
    expect(how).toBe('session_ended');
    expect(closed).toEqual(await run.session.closed);
    expect(run.news().slice(1)).toEqual(['COMMIT', expect.stringMatching(`^finished ${reason}`)]);
  });

  it('of a driver that fails, or of an abort, is a failure', async () => {
    const run = await recordedStage();
    run.far.fail(new RangeError('socket gone'));
    await quiet();
    expect(run.news()).toEqual(['finished llmUnavailable']);
    const controller = new AbortController();
    const other = await recordedStage({ signal: controller.signal });
    controller.abort();
    await quiet();
    expect(other.news()).toEqual(['finished other']);
  });

  it('tells the usage that was reported, added up', async () => {
    const run = await recordedStage({}, { model: 'm' });
    await run.emit(
      { type: 'usage', inputTokens: 3, outputTokens: 4 },
      { type: 'usage', inputTokens: 5, cachedTokens: 2 },
    );
    await ended(run);
    expect(run.state.finished?.tokenUsage).toMatchObject([
      { modelId: 'm', totalInput: 8, output: 4, inputCacheRead: 2, inputCacheWrite: 0 },
    ]);
  });

  it('was before the recording: it is begun and finished', async () => {
    const { session } = await stage();
    await session.close();
    const { recording, news } = recorded(session);
    expect(await recording.finished).toMatchObject({ reason: 'session_ended', events: 3 });
    expect(news()).toEqual(['init', 'task r-task', 'finished done']);
  });
});

describe('stop', () => {
  it.each(['keep', 'discard'] as const)(
    'finishes the stream, with %s, while the session goes on',
    async (onInterrupted) => {
      const { tool, code } = waiting('look');
      const run = await recordedStage({ tools: [tool] }, { onInterrupted });
      await run.emit(toolCall('t0', 'look'), complete, text('I'), toolCall('t1', 'look'));
      run.news();
      const end = await run.recording.stop();
      expect(end).toMatchObject({ reason: 'stopped', events: run.events.length });
      expect(run.news()).toEqual([
        onInterrupted === 'keep' ? 'r-4 cancel t0, r-5 cancel t1, COMMIT' : 'ROLLBACK, r-4 cancel t0',
        'finished done',
      ]);
      code[0]?.resolve('x');
      await run.emit(text('go on'), complete);
      expect(run.session.calls()[0]?.state).toBe('completed');
      expect(await run.recording.stop()).toEqual(end);
      expect(run.news()).toEqual([]);
      expectLegal(run.events, { complete: true });
    },
  );

  it('does not record calls that were made before it began', async () => {
    const { tool, code } = waiting('look');
    const staged = await stage({ tools: [tool] });
    await staged.emit(toolCall('t1', 'look'));
    const record = recorded(staged.session);
    code[0]?.resolve('x');
    await staged.emit(complete);
    await record.recording.stop();
    expect(record.news()).toEqual(['init', 'task r-task', 'finished done']);
  });
});

describe('an interruption', () => {
  /** A session in the hand: what it tells comes within one step. */
  function inTheHand(onInterrupted: 'keep' | 'discard') {
    let tap: SessionTap = {};
    const session = {
      [tapped](its: SessionTap) {
        tap = its;
        return () => {};
      },
    };
    const record = recorded(session, { onInterrupted });
    const at = { sessionId: asSessionId('ses_1'), turnId: asTurnId('turn_1') };
    const report = (event: object) => tap.reported?.({ ...at, ...event } as BidiTurnEvent);
    const call = (id: string, from: CallState | null, to: CallState, more: object = {}) =>
      tap.noted?.({ type: 'call', id, name: 'look', from, to, at: 0, ...more });
    call('t1', null, 'admitted', { arguments: '{}' });
    report({ type: 'turn_complete' });
    report({ type: 'text', text: 'So' });
    call('t2', null, 'admitted', { arguments: '{}' });
    record.news();
    report({ type: 'interrupted' });
    call('t1', 'executing', 'abandoned');
    // what is told meanwhile and changes nothing
    report({ type: 'tool_abandoned', toolUseId: 't1', toolName: 'look' });
    tap.noted?.({ type: 'diagnostic', code: 'abandon_failed', detail: 'no' });
    expect(record.news()).toEqual([]);
    return { record, tap, report, call };
  }

  const discarded = 'ROLLBACK, r-3 call t2: look {}, r-4 cancel t1';

  it.each<[string, (hand: ReturnType<typeof inTheHand>) => void, string[]]>([
    ['text', ({ report }) => report({ type: 'text', text: 'x' }), ['BEGIN, r-5 agent: x']],
    ['audio', ({ report }) => report({ type: 'audio', data: '', mediaType: '' }), ['BEGIN']],
    ['a call', ({ call }) => call('t3', null, 'admitted', { arguments: '{}' }), ['BEGIN, r-5 call t3: look {}']],
    ['a turn_complete', ({ report }) => report({ type: 'turn_complete' }), []],
    ['another one', ({ report }) => report({ type: 'interrupted' }), []],
    ['a call that goes on', ({ call }) => call('t2', 'queued', 'executing'), []],
    [
      'a result',
      ({ call }) => call('t2', 'executing', 'publishing', { result: { output: 'x', isError: false } }),
      ['r-5 result t2: x'],
    ],
    ['a call that ends with the session', ({ call }) => call('t2', 'executing', 'cancelled'), ['r-5 cancel t2']],
    [
      'a text of the user',
      ({ tap }) => tap.acted?.({ type: 'send', input: { type: 'text', text: 'x' } }),
      ['r-5 user: x'],
    ],
    ['a transcript', ({ tap }) => tap.noted?.({ type: 'input_text', text: 'x', final: true }), ['r-5 user: x']],
    ['what was played', ({ tap }) => tap.acted?.({ type: 'played', ms: 3 }), []],
    ['the end', ({ tap }) => tap.ended?.({ reason: 'host', calls: [] }), ['r-5 cancel t2', 'finished done']],
  ])('is written before %s that comes in the same step', (_, happens, lines) => {
    const hand = inTheHand('discard');
    happens(hand);
    expect(hand.record.news()).toEqual([discarded, ...lines]);
  });

  it('is written in the same turn of the event loop, where nothing comes', async () => {
    const { record } = inTheHand('keep');
    await Promise.resolve();
    expect(record.news()).toEqual(['r-4 cancel t1, COMMIT']);
  });
});
