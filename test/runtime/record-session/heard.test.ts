/** What an interruption leaves of what the agent said, where it is known how much of its audio was played. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../../src/contract/provider.js';
import { linearMessages } from '../../../src/conversation/index.js';
import { defineTool, type RecordSessionOptions } from '../../../src/runtime/index.js';
import { audioMs } from '../../../src/runtime/record-session/audio-ms.js';
import { wordsWithin } from '../../../src/runtime/record-session/texts.js';
import { stage, toolCall, watchProcess } from '../stage.js';
import { recorded } from './recorded.js';

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

/** So many milliseconds of audio. */
function audio(ms: number, mediaType = 'audio/pcm;rate=8000'): BidiEvent {
  return { type: 'audio', data: Buffer.alloc(ms * 16).toString('base64'), mediaType };
}

async function talk(how: Partial<RecordSessionOptions> = {}) {
  const look = defineTool({
    name: 'look',
    description: 'look',
    input: { type: 'object' },
    effect: 'read',
    execute: () => 'sun',
  });
  const staged = await stage({ tools: [look], driver: { interrupt: true, played: true } });
  return { ...staged, record: recorded(staged.session, how) };
}

describe('an interruption', () => {
  it('leaves the share of the text that was heard, whole words of it, and says that it is an approximation', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two three four'), audio(1000));
    await session.played(500);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two']);
    const [message] = linearMessages(record.state);
    expect(JSON.parse(message?.serverMessageData ?? '')).toEqual({
      cut: { approximate: true, playedMs: 500, receivedMs: 1000 },
    });
  });

  it('counts what the host tells with it, and no word of the host is no cut', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two three four'), audio(600), audio(400));
    void session.interrupt({ playedMs: 999 });
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two three']);
    await emit(text('five six'), audio(100));
    void session.interrupt();
    await emit(interrupted);
    expect(record.said[1]).toEqual('agent: five six');
    expect(linearMessages(record.state)[1]?.serverMessageData).toBe('');
  });

  it('leaves what was heard whole', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two'), audio(1000));
    await session.played(1000);
    await emit(text(' three'), interrupted);
    expect(record.said).toEqual(['agent: one two three']);
  });

  it('cuts nothing where the audio does not say how long it is, or there is none', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two'), audio(1000), audio(1000, 'audio/opus'));
    await session.played(10);
    await emit(interrupted, text('three four'));
    await session.played(10);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two', 'agent: three four']);
  });

  it('cuts over all messages of the stretch, those that were committed with a result too', async () => {
    for (const [onInterrupted, playedMs, said] of [
      ['keep', 900, ['agent: Let me see.', 'call t1: look {}', 'result t1: sun', 'agent: It is']],
      ['keep', 200, ['agent: Let', 'call t1: look {}', 'result t1: sun', 'agent: ']],
      ['discard', 900, ['agent: Let me see.', 'call t1: look {}', 'result t1: sun']],
      ['discard', 200, ['agent: Let', 'call t1: look {}', 'result t1: sun']],
    ] as const) {
      const { emit, session, record } = await talk({ onInterrupted });
      await emit(text('Let me see.'), audio(500), toolCall('t1', 'look'), text('It is sunny.'), audio(500));
      await session.played(playedMs);
      await emit(interrupted);
      expect(record.said).toEqual(said);
    }
  });

  it('reaches a stretch that is finished and still plays', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two three four'), audio(1000), complete);
    await session.played(500);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two']);
    // once
    await emit(interrupted);
    expect(record.events).toHaveLength(5);
  });

  it('reaches all that wait behind it', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two three four'), audio(1000), complete);
    await session.played(250);
    await emit(text('five six'), audio(400), complete, text('seven'), audio(100));
    await session.played(500);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two', 'agent: ', 'agent: ']);
  });

  it('knows by the numbers which one plays', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two three four'), audio(1000), complete);
    await session.played(900);
    await emit(text('five six'), audio(400), complete);
    await session.played(100);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two three four', 'agent: ']);
  });

  it('takes a stretch of which the host said nothing for played, when the next one begins', async () => {
    const { emit, session, record } = await talk();
    await emit(text('one two'), audio(1000), complete, text('three four'), audio(1000));
    await session.played(500);
    await emit(interrupted);
    expect(record.said).toEqual(['agent: one two', 'agent: three']);
  });

  it('reaches sixteen, the one that plays among them', async () => {
    const { emit, session, record } = await talk();
    await emit(text('first one'), audio(1000));
    await session.played(1);
    for (let n = 0; n < 20; n++) await emit(complete, text(`number ${n}`), audio(1000));
    await emit(interrupted);
    expect(record.said.filter((said) => said !== 'agent: ')).toEqual([0, 1, 2, 3, 4].map((n) => `agent: number ${n}`));
  });
});

describe('wordsWithin', () => {
  it.each([
    ['one two', 7, 'one two'],
    ['one two', 99, 'one two'],
    ['one two', 6, 'one'],
    ['one two', 4, 'one'],
    ['one two', 3, 'one'],
    ['one two', 2, ''],
    ['one two', 0, ''],
    ['one two', -1, ''],
    ['', 0, ''],
    ['so: “yes”, no', 9, 'so: “yes”'],
    ['\u{1f600}\u{1f600}', 3, '\u{1f600}'],
    ['我们今天去公园', 4, '我们今天'],
    ['我们今天去公园', 3, '我们'],
  ])('%j, %i', (whole, length, words) => {
    expect(wordsWithin(whole, length)).toBe(words);
  });
});

describe('audioMs', () => {
  it.each([
    ['audio/pcm;rate=24000', 48, 1],
    ['audio/pcm;rate=16000', 48, 1.5],
    ['Audio/PCM; Rate="24000"; channels=2', 96, 1],
    ['audio/L16;rate=8000', 16, 1],
    ['audio/pcmu', 8, 1],
    ['audio/pcma;rate=16000', 16, 1],
    ['audio/pcm', 48, undefined],
    ['audio/pcm;rate=0', 48, undefined],
    ['audio/pcm;rate=fast', 48, undefined],
    ['audio/opus;rate=48000', 48, undefined],
    ['', 48, undefined],
  ])('%s, %i bytes', (mediaType, bytes, ms) => {
    for (const filler of [0, 1, 2]) {
      const data = Buffer.alloc(bytes + filler).toString('base64');
      const each = audioMs(data, mediaType);
      expect(each).toBe(ms === undefined ? undefined : (ms * (bytes + filler)) / bytes);
    }
  });
});
