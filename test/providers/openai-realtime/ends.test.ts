import { describe, expect, it } from 'vitest';
import { InvalidInputError, SessionEndedError, SocketFullError } from '../../../src/contract/errors.js';
import type { BidiEvent } from '../../../src/contract/provider.js';
import { openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { isTerminal, words } from '../steps.js';
import { arrived, calls, connected, EventLog, fakeOf, key, say, settled, turnOfTheLoop } from './far.js';

// Z1: ends, in every phase and by every cause, and what is left after them.

const last = (events: readonly BidiEvent[]) => events.at(-1);

describe('the service ends the session', () => {
  it.each([
    [1000, '', 'close code 1000'],
    [1011, 'Internal error.', 'Internal error. (close code 1011)'],
    [4008, `No more for ${key}`, 'No more for [key] (close code 4008)'],
  ])('by close code %i', async (code, reason, told) => {
    const { far, log } = await connected();
    far.connection.close(code, reason);
    expect(words(await log.untilEnd())).toEqual(['closed']);
    expect(last(log.events)).toEqual({ type: 'closed', reason: told });
  });

  it('when its time is up: an error, and the reason of the close', async () => {
    const { far, log } = await connected();
    far.expire();
    expect(await log.untilEnd()).toEqual([
      { type: 'error', message: 'session_expired: Your session hit the maximum duration of 60 minutes.' },
      { type: 'closed', reason: 'Your session hit the maximum duration of 60 minutes. (close code 1001)' },
    ]);
  });

  it.each(['end', 'reset'] as const)('by a connection that is cut: %s', async (how) => {
    const { far, log } = await connected();
    far.connection.cut(how);
    expect(last(await log.untilEnd())).toMatchObject({ type: 'closed', reason: expect.stringContaining('1006') });
  });

  it.each([0, 1, 2, 3, 40])('by an end %i bytes into a frame', async (bytes) => {
    const { far, log } = await connected();
    far.connection.cutAfter(bytes);
    far.emit({ type: 'response.output_text.delta', response_id: 'r', delta: 'never whole' });
    expect(words(await log.untilEnd())).toEqual(['closed']);
  });
});

describe('a tool round that is cut behind each frame', () => {
  // How many frames the whole round has.
  const frames = { first: 14, second: 10 };

  const cuts = Array.from({ length: frames.first + frames.second + 1 }, (_, n) => n);
  it.each(cuts)('frame %i', async (frame) => {
    const pair = await connected({
      fake: {
        pace: 'stepwise',
        reply: ({ index }) => (index === 0 ? { text: 'One moment.', ...calls(1) } : { text: 'It is 7.' }),
      },
    });
    const { far, session, log } = pair;
    await say(session);
    await arrived(far, 'response.create');
    let left = frame - far.step(frame);
    let answer: Promise<unknown> = Promise.resolve();
    if (left > 0) {
      await log.untilType('tool_call');
      answer = session.sendToolResult('call_1', '7').catch((error: unknown) => error);
      await arrived(far, 'response.create', 2);
      left -= far.step(left);
    }
    far.connection.cut(frame % 2 === 0 ? 'end' : 'reset');
    const events = await log.untilEnd();
    await answer;
    await expect(session.sendToolResult('call_1', '7')).rejects.toThrow(SessionEndedError);
    await expect(session.interrupt?.({})).rejects.toThrow(SessionEndedError);
    expect(last(events)?.type).toBe('closed');
    expect(events.filter(({ type }) => type === 'closed')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'tool_call').length).toBeLessThanOrEqual(1);
    expect(events.filter(isTerminal)).toHaveLength(left > 0 ? 1 : events.some(isTerminal) ? 1 : 0);
    await session.close();
  });
});

describe('the host ends the session', () => {
  it('by close: no event after it, a close frame, and a second close does no harm', async () => {
    const { session, far, log } = await connected({ fake: { pace: 'stepwise' } });
    await say(session);
    await arrived(far, 'response.create');
    far.step(4);
    await session.close();
    far.finish();
    await session.close();
    expect(await far.connection.closed).toEqual({ code: 1000, reason: '' });
    expect((await log.untilEnd()).some(({ type }) => type === 'closed')).toBe(false);
  });

  it('by an abort of its signal, as by close', async () => {
    const controller = new AbortController();
    const { far, log, session } = await connected({ params: { signal: controller.signal } });
    controller.abort(new RangeError('enough'));
    expect(await far.connection.closed).toMatchObject({ code: 1000 });
    expect(await log.untilEnd()).toEqual([]);
    await session.close();
  });

  it('while the service is half open: close resolves in bounded time', async () => {
    const clock = new VirtualClock();
    const { session, far, log } = await connected({ driver: { clock, closeTimeoutMs: 300 } });
    far.connection.stall();
    let isClosed = false;
    const closed = session.close().then(() => {
      isClosed = true;
    });
    await log.untilEnd();
    await clock.advance(299, turnOfTheLoop);
    expect(isClosed).toBe(false);
    await clock.advance(1, turnOfTheLoop);
    await closed;
    expect(clock.pending).toBe(0);
  });

  it('in the loop over the events', async () => {
    const fake = await fakeOf();
    const session = await openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl, modalities: ['text'] }).connect({
      model: 'm',
    });
    await say(session);
    for await (const event of session.events()) if (event.type === 'text') await session.close();
    expect(fake.session.connection.isOpen).toBe(false);
  });

  it('leaves nothing behind: no timer, no listener of its signal', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const { session } = await connected({ fake: { clock }, driver: { clock }, params: { signal } });
    expect(clock.pending).toBe(1);
    await session.close();
    expect(clock.pending).toBe(0);
    expect(listeners).toBe(0);
  });
});

describe('frames', () => {
  it('in fragments, in small writes, many in one: the same events', async () => {
    const reply = () => ({ text: 'Grüße aus Köln — 7 ☂' });
    const expected = [
      'text:Grüße',
      'text: aus',
      'text: Köln',
      'text: —',
      'text: 7',
      'text: ☂',
      'usage',
      'turn_complete',
    ];
    for (const prepare of ['fragments', 'writes', 'binary', 'together'] as const) {
      const pair = await connected({ fake: { reply, pace: 'stepwise' } });
      const { connection } = pair.far;
      if (prepare === 'fragments') connection.fragment(7);
      if (prepare === 'writes') connection.splitWrites(5);
      if (prepare === 'binary') connection.sendBinary();
      await say(pair.session);
      await arrived(pair.far, 'response.create');
      if (prepare === 'together') connection.together(() => pair.far.finish());
      else pair.far.finish();
      await pair.log.untilType('turn_complete');
      expect(words(pair.log.events), prepare).toEqual(expected);
    }
  });

  it('that are no JSON, or audio that is no base64: told to nobody but diagnostics', async () => {
    const diagnostics: string[] = [];
    const pair = await connected({ driver: { onDiagnostic: ({ code }) => diagnostics.push(code) } });
    pair.far.connection.send('{"type":');
    pair.far.connection.send('[]');
    pair.far.emit({ type: 'response.output_audio.delta', response_id: 'r', item_id: 'i', delta: 'AAA' });
    expect(await settled(pair)).toEqual([]);
    expect(diagnostics).toEqual(['malformed_frame', 'malformed_frame', 'malformed_frame']);
  });

  it('longer than is taken: the session ends, and says so', async () => {
    const { far, log } = await connected({ driver: { maxFrameBytes: 100_000 } });
    far.emit({ type: 'response.output_text.delta', response_id: 'r', delta: 'x'.repeat(200_000) });
    const end = last(await log.untilEnd());
    expect(end?.type === 'closed' && end.reason).toMatch(/size|1009/);
  });

  it('of 12 MB are taken where they may be', async () => {
    const { far, log } = await connected();
    far.emit({ type: 'response.output_text.delta', response_id: 'r', delta: 'x'.repeat(12_000_000) });
    const [event] = await log.untilType('text');
    expect(event?.type === 'text' && event.text.length).toBe(12_000_000);
  });

  it('a reader that never comes ends the session before memory does', async () => {
    const fake = await fakeOf();
    const provider = openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl, maxUnreadEvents: 100 });
    const session = await provider.connect({ model: 'm' });
    for (let n = 0; n < 200; n++)
      fake.session.emit({ type: 'response.output_text.delta', response_id: 'r', delta: String(n) });
    await fake.session.connection.closed;
    const events = await new EventLog(session).untilEnd();
    expect(events.slice(98).map(({ type }) => type)).toEqual(['text', 'text', 'error', 'closed']);
    await session.close();
  });
});

describe('what is sent', () => {
  const audio = (data: string, mediaType = 'audio/pcm') => ({ type: 'audio', data, mediaType }) as const;

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['another kind', { type: 'video', data: '' }],
    ['text that is none', { type: 'text', text: 7 }],
    ['audio of another format', audio('AAAA', 'audio/webm')],
    ['audio at another rate', audio('AAAA', 'audio/pcm;rate=16000')],
    ['audio that is no base64', audio('AAA')],
    ['audio with a line break in it', audio('AAAA\nAAA')],
    ['no audio', audio('')],
    ['half a sample', audio('AA==')],
  ])('%s is refused, and nothing of it goes out', async (_, input) => {
    const pair = await connected();
    await expect(pair.session.send(input as never)).rejects.toThrow(InvalidInputError);
    expect(pair.far.received).toHaveLength(1);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('a time of %d is refused', async (ms) => {
    const { session } = await connected();
    expect(() => session.played?.({ ms })).toThrow(InvalidInputError);
    await expect(session.interrupt?.({ playedMs: ms })).rejects.toThrow(InvalidInputError);
  });

  it('in another format where it was set up so', async () => {
    const { session, far } = await connected({
      driver: { inputFormat: 'audio/pcmu', outputFormat: 'audio/pcmu', modalities: ['audio'] },
    });
    await session.send(audio('AAAA', 'audio/pcmu'));
    await arrived(far, 'input_audio_buffer.append');
    await expect(session.send(audio('AAAA'))).rejects.toThrow(InvalidInputError);
  });

  it('to a service that does not read: refused once too much waits, and taken again when it reads', async () => {
    const pair = await connected({ driver: { maxBufferedBytes: 200_000 } });
    pair.far.connection.pause();
    const piece = audio('AAAA'.repeat(50_000));
    let sent = 0;
    const error = await (async () => {
      for (; sent < 1000; sent++) {
        try {
          await pair.session.send(piece);
        } catch (reason) {
          return reason;
        }
        await turnOfTheLoop();
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(SocketFullError);
    pair.far.connection.resume();
    await arrived(pair.far, 'input_audio_buffer.append', sent);
    await pair.session.send(piece);
    await arrived(pair.far, 'input_audio_buffer.append', sent + 1);
  });
});
