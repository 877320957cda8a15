import { describe, expect, it } from 'vitest';
import type { JsonRecord } from '../../../src/contract/wire-reading.js';
import { pcm } from '../../../src/testing/loopback/openai/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { words } from '../steps.js';
import { arrived, calls, connected, type Pair, type PairOptions, say, settled } from './far.js';

// Z3, R5, P1–P3 and the rule that a turn has one terminal, over a socket.

/** A pair that speaks, step by step, with time that stands still. */
async function speaking(options: PairOptions = {}): Promise<Pair & { clock: VirtualClock }> {
  const clock = new VirtualClock();
  const pair = await connected({
    ...options,
    fake: { pace: 'stepwise', reply: () => ({ text: 'a b c d', audioMs: 1000 }), ...options.fake },
    driver: { modalities: ['audio'], turnDetection: { type: 'server_vad' }, clock, ...options.driver },
  });
  return { ...pair, clock };
}

const spoken = (words: string[]) => words.filter((word) => !/^(audio|usage)/.test(word));
const truncations = ({ far }: Pair) =>
  far.of('conversation.item.truncate').map((message) => [message.item_id, message.audio_end_ms]);

describe('the user speaks while the model does', () => {
  it('is one interrupted; what was not heard is truncated; stragglers are dropped; no cancel is sent', async () => {
    const pair = await speaking({
      fake: { pace: 'stepwise', habits: { stragglers: 3 }, reply: () => ({ text: 'a b c d e f', audioMs: 2000 }) },
    });
    const { far, log, session } = pair;
    await say(session);
    await arrived(far, 'response.create');
    far.stepPast('response.output_audio.delta');
    far.step(1);
    await log.untilType('audio', 1);
    await session.played?.({ ms: 120 });
    far.speechStarts();
    await log.untilType('interrupted');
    far.speechStops();
    far.finish();
    await log.untilType('turn_complete');
    await settled(pair);
    expect(spoken(words(log.events)).slice(0, 6)).toEqual([
      'text:a',
      'text: b',
      'text: c',
      'text: d',
      'text: e',
      'interrupted',
    ]);
    expect(log.events.filter(({ type }) => type === 'interrupted')).toHaveLength(1);
    expect(truncations(pair)).toEqual([['item_1', 120]]);
    expect(far.of('response.cancel')).toEqual([]);
  });

  it('heard by the service itself in loud audio', async () => {
    const pair = await speaking();
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.step(6);
    await pair.session.send({ type: 'audio', data: pcm(40, 'speech'), mediaType: 'audio/pcm' });
    await pair.log.untilType('interrupted');
    await pair.session.send({ type: 'audio', data: pcm(600, 'silence'), mediaType: 'audio/pcm;rate=24000' });
    await arrived(pair.far, 'input_audio_buffer.append', 2);
    expect(pair.far.activeResponse).toBeDefined();
  });

  it('before any audio came: nothing is truncated', async () => {
    const pair = await speaking();
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.stepPast('response.content_part.added');
    pair.far.speechStarts();
    await pair.log.untilType('interrupted');
    await settled(pair);
    expect(truncations(pair)).toEqual([]);
  });

  it('with two items on their way: the one that plays is cut, the other is taken out whole', async () => {
    const pair = await speaking();
    const { far, session, log } = pair;
    await say(session);
    await arrived(far, 'response.create');
    far.stepPast('response.output_audio.delta');
    const delta = { type: 'response.output_audio.delta', response_id: 'resp_1', content_index: 0 };
    for (let n = 0; n < 4; n++) far.emit({ ...delta, item_id: 'item_other', delta: pcm(100, 'silence') });
    await log.untilType('audio', 5);
    await session.played?.({ ms: 250 + 150 });
    far.speechStarts();
    await log.untilType('interrupted');
    await arrived(far, 'conversation.item.truncate');
    // The fake has no such item: it answers with an error, which is advice that was refused and no event.
    await settled(pair);
    expect(truncations(pair)).toEqual([['item_other', 150]]);
    far.violations.length = 0;
  });

  it('with `interruptResponse: false` nothing is cut until the host says so', async () => {
    const pair = await speaking({ driver: { turnDetection: { type: 'server_vad', interruptResponse: false } } });
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.step(8);
    pair.far.speechStarts();
    expect(spoken(words(await settled(pair)))).not.toContain('interrupted');
    await pair.session.interrupt?.({});
    await arrived(pair.far, 'response.cancel');
    expect(spoken(words(await settled(pair))).at(-1)).toBe('interrupted');
  });
});

describe('the user speaks when all was said and not all was heard', () => {
  it('is an interrupted, and a truncation where the player says it is', async () => {
    const pair = await speaking({ fake: { pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) } });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    await pair.session.played?.({ ms: 400 });
    pair.far.speechStarts();
    await pair.log.untilType('interrupted');
    await arrived(pair.far, 'conversation.item.truncate');
    expect(truncations(pair)).toEqual([['item_1', 400]]);
  });

  it('goes by the clock where the player says nothing', async () => {
    const pair = await speaking({ fake: { pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) } });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    await pair.clock.advance(700, async () => {});
    pair.far.speechStarts();
    await pair.log.untilType('interrupted');
    await arrived(pair.far, 'conversation.item.truncate');
    expect(truncations(pair)).toEqual([['item_1', 700]]);
  });

  it('and is an ordinary turn once all was heard', async () => {
    const pair = await speaking({ fake: { pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) } });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    await pair.clock.advance(1000, async () => {});
    pair.far.speechStarts();
    pair.far.speechStops();
    await pair.log.untilType('turn_complete', 2);
    expect(words(await settled(pair))).not.toContain('interrupted');
    expect(truncations(pair)).toEqual([]);
  });

  it('in the second stretch: what the player says is of that one', async () => {
    const pair = await speaking({ fake: { pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) } });
    for (let turn = 1; turn <= 2; turn++) {
      await say(pair.session);
      await pair.log.untilType('turn_complete', turn);
    }
    await pair.session.played?.({ ms: 900 });
    await pair.session.played?.({ ms: 100 });
    pair.far.speechStarts();
    await pair.log.untilType('interrupted');
    await settled(pair);
    // The items of the model are the second and the fourth of the conversation.
    expect(truncations(pair)).toEqual([['item_2', 100]]);
  });

  it('with `interruptResponse: false` it is nothing', async () => {
    const pair = await speaking({
      fake: { pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) },
      driver: { turnDetection: { type: 'server_vad', interruptResponse: false } },
    });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    pair.far.speechStarts();
    expect(words(await settled(pair))).not.toContain('interrupted');
  });

  it('between a call and its answer: the turn is over, and has no second terminal', async () => {
    const pair = await speaking({
      fake: {
        pace: 'burst',
        reply: ({ index }) => (index === 0 ? { text: 'a', audioMs: 1000, ...calls(1) } : { text: 'b' }),
      },
      driver: { turnDetection: { type: 'server_vad', createResponse: false } },
    });
    const { far, session, log } = pair;
    await say(session);
    await log.untilType('tool_call');
    await settled(pair);
    far.speechStarts();
    await log.untilType('interrupted');
    far.speechStops();
    await settled(pair);
    far.intercept = (message) => message.type === 'response.create' && far.of('response.create').length === 2;
    await say(session, 'one');
    // The first request is still on its way: nothing is said that could be interrupted.
    await say(session, 'two');
    await arrived(far, 'conversation.item.create', 3);
    expect(words(await settled(pair)).filter((word) => word === 'interrupted')).toHaveLength(1);
  });

  it('xai: there is no truncation', async () => {
    const pair = await speaking({
      fake: { dialect: 'xai', pace: 'burst', reply: () => ({ text: 'a b c d', audioMs: 1000 }) },
    });
    await say(pair.session);
    await pair.log.untilType('turn_complete');
    pair.far.speechStarts();
    await pair.log.untilType('interrupted');
    await settled(pair);
    expect(truncations(pair)).toEqual([]);
  });
});

describe('the host interrupts', () => {
  it('a response: interrupted at once, a cancel by id, one terminal', async () => {
    const pair = await speaking();
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.stepPast('response.output_audio.delta');
    await pair.log.untilType('audio');
    await pair.session.interrupt?.({ playedMs: 33.7 });
    await arrived(pair.far, 'conversation.item.truncate');
    const events = spoken(words(await settled(pair)));
    expect(events.filter((word) => word === 'interrupted')).toHaveLength(1);
    expect(events.at(-1)).toBe('interrupted');
    expect(pair.far.of('response.cancel').map((message) => message.response_id)).toEqual(['resp_1']);
    expect(truncations(pair)).toEqual([['item_1', 33]]);
  });

  it('a response that has not begun: it is cancelled when it begins, and nothing of it is given', async () => {
    const pair = await speaking();
    let held: (() => void) | undefined;
    pair.far.intercept = (message) => {
      if (message.type !== 'response.create' || held !== undefined) return false;
      held = () => pair.far.respond('client');
      return true;
    };
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    await pair.session.interrupt?.({});
    expect(pair.far.of('response.cancel')).toEqual([]);
    held?.();
    pair.far.step(8);
    await arrived(pair.far, 'response.cancel');
    expect(spoken(words(await settled(pair)))).toEqual(['interrupted']);
    expect(pair.far.activeResponse).toBeUndefined();
  });

  it('a response that is just done: the refused cancel is no event, and the terminal stands', async () => {
    const pair = await speaking();
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.step(6);
    await pair.log.untilType('text');
    // The cancel crosses the end of the response.
    pair.far.intercept = (message, far) => {
      if (message.type === 'response.cancel') far.finish();
      return false;
    };
    await pair.session.interrupt?.({});
    await arrived(pair.far, 'response.cancel');
    const events = spoken(words(await settled(pair)));
    expect(events.filter((word) => word === 'interrupted' || word === 'turn_complete')).toEqual(['interrupted']);
    expect(events.some((word) => word.startsWith('error'))).toBe(false);
  });

  it('twice: one cancel', async () => {
    const pair = await speaking();
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    pair.far.step(6);
    await pair.log.untilType('text');
    pair.far.intercept = (message) => message.type === 'response.cancel';
    await pair.session.interrupt?.({});
    await pair.session.interrupt?.({});
    await settled(pair);
    pair.far.finish();
    await settled(pair);
    expect(pair.far.of('response.cancel')).toHaveLength(1);
  });

  it('a request that is refused because the service has begun one: it is not made again', async () => {
    const pair = await speaking();
    let held: string | undefined;
    pair.far.intercept = (message) => {
      if (message.type !== 'response.create') return false;
      held = String(message.event_id);
      return true;
    };
    await say(pair.session);
    await arrived(pair.far, 'response.create');
    await pair.session.interrupt?.({});
    pair.far.error({ code: 'conversation_already_has_active_response', message: 'busy' }, held);
    await settled(pair);
    await pair.clock.advance(10_000, async () => {});
    await settled(pair);
    expect(pair.far.of('response.create')).toHaveLength(1);
  });

  it('a response of the service, and ours that is on its way behind it: neither is heard', async () => {
    const pair = await speaking();
    const { far, session, log } = pair;
    // The first round shows that the service gives metadata back.
    await say(session);
    await arrived(far, 'response.create');
    far.finish();
    await log.untilType('turn_complete');
    const held: JsonRecord[] = [];
    far.intercept = (message) => message.type === 'response.create' && held.push(message) > 0;
    await say(session);
    await arrived(far, 'response.create', 2);
    far.intercept = undefined;
    far.respond();
    far.step(6);
    await log.untilType('text', 5);
    const before = (await settled(pair)).length;
    await session.interrupt?.({});
    await arrived(far, 'response.cancel');
    far.respond('client', held[0]);
    far.step(8);
    await arrived(far, 'response.cancel', 2);
    const rest = spoken(words((await settled(pair)).slice(before)));
    expect(rest).toEqual(['interrupted']);
  });

  it('between a call and its answer: the turn ends, and the result that comes later makes nobody speak', async () => {
    const pair = await speaking({
      fake: { pace: 'burst', reply: ({ index }) => (index === 0 ? calls(1) : { text: 'no' }) },
    });
    await say(pair.session);
    await pair.log.untilType('tool_call');
    await pair.session.interrupt?.({});
    await pair.session.sendToolResult('call_1', 'late');
    expect(spoken(words(await settled(pair)))).toEqual(['call:call_1:look:{"n":0}', 'interrupted']);
    expect(pair.far.of('response.create')).toHaveLength(1);
    // The next thing that is said is answered with the result in sight.
    await say(pair.session, 'so?');
    await pair.log.untilType('turn_complete');
    expect(pair.far.items.some(({ output }) => output === 'late')).toBe(true);
  });

  it('where there is nothing to interrupt, it is acknowledged all the same', async () => {
    const pair = await speaking();
    await pair.session.interrupt?.({});
    expect(words(await settled(pair))).toEqual(['interrupted']);
    expect(pair.far.of('response.cancel')).toEqual([]);
  });
});

describe('text while the model responds', () => {
  it('interrupts it; the answer to both comes after the old response is over', async () => {
    const pair = await speaking();
    await say(pair.session, 'one');
    await arrived(pair.far, 'response.create');
    pair.far.step(7);
    await pair.log.untilType('text');
    await say(pair.session, 'two');
    await arrived(pair.far, 'response.create', 2);
    pair.far.finish();
    await pair.log.untilType('turn_complete');
    const terminals = spoken(words(await settled(pair))).filter((word) => !word.startsWith('text'));
    expect(terminals).toEqual(['interrupted', 'turn_complete']);
    expect(pair.far.of('response.cancel')).toHaveLength(1);
  });

  it('before the first response has begun: one answer', async () => {
    const pair = await speaking({ fake: { pace: 'burst', reply: ({ items }) => ({ text: `to ${items.length}` }) } });
    await Promise.all([say(pair.session, 'one'), say(pair.session, 'two')]);
    await pair.log.untilType('turn_complete');
    const events = spoken(words(await settled(pair)));
    expect(events.filter((word) => word === 'turn_complete')).toHaveLength(1);
    expect(events.filter((word) => word === 'interrupted')).toEqual([]);
  });
});
