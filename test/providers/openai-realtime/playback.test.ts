import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, isBase64 } from '../../../src/providers/openai-realtime/base64.js';
import { durationMs, Playback } from '../../../src/providers/openai-realtime/playback.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { property } from '../../properties/property.js';

// P1–P4.

function playing() {
  const clock = new VirtualClock();
  const playback = new Playback(clock);
  const pass = (ms: number) => clock.advance(ms, async () => {});
  const cut = (playedMs?: number) => playback.cut(playedMs).map(({ itemId, audioEndMs }) => [itemId, audioEndMs]);
  return { playback, pass, cut };
}

describe('what was not heard', () => {
  it('of one item, by the clock', async () => {
    const { playback, pass, cut } = playing();
    playback.arrived('a', 0, 1000);
    await pass(400);
    expect(playback.isUnfinished).toBe(true);
    expect(cut()).toEqual([['a', 400]]);
    expect(playback.isUnfinished).toBe(false);
    expect(cut()).toEqual([]);
  });

  it('of an item that was heard to its end is nothing', async () => {
    const { playback, pass, cut } = playing();
    playback.arrived('a', 0, 1000);
    await pass(1000);
    expect(playback.isUnfinished).toBe(false);
    expect(cut()).toEqual([]);
  });

  it('of two items in one stretch: the first is over, the second is cut where it is', () => {
    const { playback, cut } = playing();
    playback.arrived('a', 0, 300);
    playback.arrived('b', 0, 700);
    expect(cut(450.9)).toEqual([['b', 150]]);
  });

  it('of two stretches: what is said of the next one is counted from its own beginning', async () => {
    const { playback, cut } = playing();
    playback.arrived('a', 0, 500);
    playback.stretchEnded();
    playback.arrived('b', 0, 500);
    playback.reported(490);
    playback.reported(20);
    expect(cut()).toEqual([['b', 20]]);
  });

  it('of a stretch that never began to play: all of it', () => {
    const { playback, cut } = playing();
    playback.arrived('a', 0, 500);
    playback.stretchEnded();
    playback.arrived('b', 0, 500);
    expect(cut(100)).toEqual([
      ['a', 100],
      ['b', 0],
    ]);
  });

  it('goes on from what the host said last', async () => {
    const { playback, pass, cut } = playing();
    playback.arrived('a', 0, 2000);
    await pass(500);
    playback.reported(100);
    await pass(50);
    expect(cut()).toEqual([['a', 150]]);
  });

  it('is never more than arrived, whatever the host says', () => {
    const { playback, cut } = playing();
    playback.arrived('a', 0, 500);
    expect(cut(60_000)).toEqual([]);
  });

  const step = fc.oneof(
    fc.record({ arrived: fc.constantFrom('a', 'b', 'c', 'd'), ms: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ reported: fc.double({ min: 0, max: 3000, noNaN: true }) }),
    fc.record({ pass: fc.nat(1500) }),
    fc.constant({ ends: true } as const),
    fc.record({ cut: fc.option(fc.double({ min: 0, max: 3000, noNaN: true }), { nil: undefined }) }),
  );
  property(
    'is whole milliseconds within what arrived of the item since the last cut',
    fc.array(step, { maxLength: 40 }),
    async (steps) => {
      const { playback, pass } = playing();
      let total = new Map<string, number>();
      for (const step of steps) {
        if ('arrived' in step) {
          playback.arrived(step.arrived, 0, step.ms);
          total.set(step.arrived, (total.get(step.arrived) ?? 0) + step.ms);
        } else if ('reported' in step) playback.reported(step.reported);
        else if ('pass' in step) await pass(step.pass);
        else if ('ends' in step) playback.stretchEnded();
        else {
          const wasUnfinished = playback.isUnfinished;
          const truncations = playback.cut(step.cut);
          for (const { itemId, audioEndMs } of truncations) {
            expect(Number.isInteger(audioEndMs)).toBe(true);
            expect(audioEndMs).toBeGreaterThanOrEqual(0);
            expect(audioEndMs).toBeLessThan(total.get(itemId) ?? 0);
          }
          if (!wasUnfinished && step.cut === undefined) expect(truncations).toEqual([]);
          expect(playback.isUnfinished).toBe(false);
          total = new Map();
        }
      }
    },
  );
});

describe('audio', () => {
  it.each([
    [48, 'audio/pcm;rate=24000', 1],
    [32, 'audio/pcm;rate=16000', 1],
    [8, 'audio/pcmu', 1],
    [8, 'audio/pcma', 1],
    [100, 'audio/pcm', 0],
    [100, 'audio/opus', 0],
  ])('%i bytes of %s are %i ms', (bytes, mediaType, ms) => {
    expect(durationMs(bytes, mediaType)).toBe(ms);
  });

  property('base64 is known as such, and its length counted', fc.uint8Array({ maxLength: 50 }), (bytes) => {
    const text = Buffer.from(bytes).toString('base64');
    expect(isBase64(text)).toBe(true);
    expect(byteLength(text)).toBe(bytes.length);
    for (const wrong of [`${text}A`, `${text}\n`, `=${text}AAA`, `${text} AAA`])
      expect(isBase64(wrong), wrong).toBe(false);
  });
});
