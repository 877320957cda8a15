/** A recorded session: what is written, rule by rule (`docs/design/record-session.md`). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
});
