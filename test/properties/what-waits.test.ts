/**
 * A driver may offer what waits without a promise (`takeWaiting`). What comes of
 * a session is the same as by promises alone, for any bursts, whatever the host
 * does meanwhile, and whatever stands in the place of that method.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { BidiEvent, BidiEventIterator, BidiProvider } from '../../src/contract/provider.js';
import { EventQueue as GeminiQueue } from '../../src/providers/gemini-live/event-queue.js';
import { EventQueue as OpenAIQueue } from '../../src/providers/openai-realtime/event-queue.js';
import { EventQueue as ScriptedQueue } from '../../src/providers/scripted/event-queue.js';
import { startSession } from '../../src/runtime/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';
import { echo, word } from '../runtime/reading.js';
import { property } from './property.js';

// ── the queues of the drivers ──

interface Queue extends BidiEventIterator {
  push(event: BidiEvent): unknown;
  takeWaiting(): BidiEvent | undefined;
}

const queues: Record<string, () => Queue> = {
  scripted: () => new ScriptedQueue<BidiEvent>(),
  'openai-realtime': () => new OpenAIQueue(4),
  'gemini-live': () => new GeminiQueue({ events: 4, characters: 100 }),
};

const deed = fc.record({
  do: fc.constantFrom('push' as const, 'next' as const, 'takeWaiting' as const),
  times: fc.integer({ min: 1, max: 1_500 }),
});

describe.each(Object.entries(queues))('the queue of %s', (_, make) => {
  property(
    'gives the same whichever way it is asked',
    fc.array(deed, { maxLength: 12, size: 'max' }),
    async (deeds) => {
      const queue = make();
      let said = 0;
      let heard = 0;
      for (const one of deeds) {
        for (let i = 0; i < one.times; i++) {
          if (one.do === 'push') queue.push({ type: 'text', text: String(said++) });
          else if (one.do === 'next' && heard === said) break;
          else {
            const event = one.do === 'next' ? (await queue.next()).value : queue.takeWaiting();
            const due = heard === said ? undefined : String(heard++);
            // an `expect` for each of so many would be most of the time
            if (event?.text !== due) expect(event).toEqual({ type: 'text', text: due });
          }
        }
      }
    },
    0.1,
  );
});

// ── a session ──

type Hostile = 'throws' | 'is no function' | 'throws when it is looked at' | 'gives nothing';
type Way = 'what waits' | 'promises alone' | Hostile;

/** How many events were taken without a promise. */
let taken = 0;

class Far {
  readonly queue = new ScriptedQueue<BidiEvent>();
  readonly provider: BidiProvider;

  constructor(way: Way) {
    const { queue } = this;
    const iterator: BidiEventIterator = { next: () => queue.next(), return: () => queue.return() };
    if (way === 'what waits') {
      iterator.takeWaiting = () => {
        const event = queue.takeWaiting();
        if (event !== undefined) taken++;
        return event;
      };
    } else if (way === 'gives nothing') iterator.takeWaiting = () => undefined;
    else if (way === 'is no function') iterator.takeWaiting = 'no function' as never;
    else if (way === 'throws') {
      iterator.takeWaiting = () => {
        throw new TypeError('takes nothing');
      };
    } else if (way === 'throws when it is looked at') {
      Object.defineProperty(iterator, 'takeWaiting', {
        get: () => {
          throw new TypeError('not to be looked at');
        },
      });
    }
    this.provider = {
      id: 'far',
      connect: async () => ({
        send: async () => {},
        sendToolResult: async () => {},
        events: () => ({ [Symbol.asyncIterator]: () => iterator }),
        close: async () => queue.end(),
      }),
    };
  }
}

const output: fc.Arbitrary<BidiEvent> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.constantFrom('a', 'b', '') }),
  fc.record({ type: fc.constant('audio' as const), data: fc.constant('AA=='), mediaType: fc.constant('audio/pcm') }),
);
const control: fc.Arbitrary<unknown> = fc.constantFrom(
  { type: 'turn_complete' },
  { type: 'interrupted' },
  { type: 'usage', inputTokens: 1 },
  { type: 'error', message: 'oh' },
);
const end: fc.Arbitrary<unknown> = fc.constantFrom(
  { type: 'closed' },
  { type: 'text', text: 5 },
  { type: 'unheard of' },
  null,
);
const call: fc.Arbitrary<unknown> = fc.record({
  type: fc.constant('tool_call'),
  id: fc.uuid(),
  name: fc.constantFrom('echo', 'nobody'),
  arguments: fc.constant('{}'),
});
const withoutCalls = fc.oneof(
  { weight: 20, arbitrary: output },
  { weight: 4, arbitrary: control },
  { weight: 1, arbitrary: end },
);
const withCalls = fc.oneof(
  { weight: 20, arbitrary: output },
  { weight: 4, arbitrary: control },
  { weight: 4, arbitrary: call },
);

interface Story {
  readonly bursts: readonly (readonly unknown[])[];
  readonly reads: 'from the start' | 'at the end';
  readonly maxBufferedEvents: number;
  readonly ends: 'host' | 'stream' | 'failure';
  /** The host closes when it has read so many. */
  readonly closesAt: number;
}

const burstsOf = (event: fc.Arbitrary<unknown>) =>
  fc.array(fc.array(event, { maxLength: 60, size: 'max' }), { maxLength: 4 });

/** Where more waits than is taken in one go, a host that closes meanwhile may be before or behind what follows. */
const storyWithoutCalls: fc.Arbitrary<Story> = fc
  .record({
    bursts: burstsOf(withoutCalls),
    reads: fc.constantFrom<Story['reads'][]>('from the start', 'at the end'),
    maxBufferedEvents: fc.constantFrom(1, 2, 20, 1024),
    ends: fc.constantFrom<Story['ends'][]>('host', 'stream', 'failure'),
    closesAt: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 40 })),
  })
  .map((story) => (story.closesAt === Infinity ? story : { ...story, maxBufferedEvents: 1024 }));

const storyWithCalls: fc.Arbitrary<Story> = fc.record({
  bursts: burstsOf(withCalls),
  reads: fc.constantFrom('from the start', 'at the end'),
  maxBufferedEvents: fc.constant(1024),
  ends: fc.constantFrom('host', 'stream', 'failure'),
  closesAt: fc.constant(Infinity),
});

interface Told {
  readonly read: readonly string[];
  /** Those of calls, which come when their code answers: output does not wait for them. */
  readonly ofCalls: readonly string[];
  readonly lifecycle: readonly string[];
  readonly end: unknown;
}

async function tell({ bursts, reads, maxBufferedEvents, ends, closesAt }: Story, way: Way): Promise<Told> {
  const far = new Far(way);
  const session = await startSession({
    provider: far.provider,
    clock: new VirtualClock(),
    connect: { model: 'm' },
    tools: [echo],
    maxBufferedEvents,
  });
  const lifecycle: string[] = [];
  session.lifecycle$.subscribe((event) => {
    lifecycle.push(JSON.stringify(event));
  });
  const read: string[] = [];
  const ofCalls: string[] = [];
  const readAll = async () => {
    for await (const event of session.events()) {
      if ('toolUseId' in event) ofCalls.push(`${event.type} ${event.toolUseId}`);
      else read.push(word(event));
      if (read.length === closesAt) void session.close();
    }
  };
  let reading: Promise<void> | undefined;
  if (reads === 'from the start') reading = readAll();
  for (const burst of bursts) {
    for (const event of burst) far.queue.push(event as BidiEvent);
    await quiet();
  }
  if (ends === 'stream') far.queue.end();
  else if (ends === 'failure') far.queue.fail(new Error('cut'));
  await quiet();
  // what the host closes over is thrown away: a late reader reads first
  if (reading === undefined) {
    reading = readAll();
    await quiet();
  }
  await session.close();
  await reading;
  return { read, ofCalls, lifecycle, end: await session.closed };
}

describe('a session', () => {
  const holds = async (story: Story) => {
    const waiting = await tell(story, 'what waits');
    const promised = await tell(story, 'promises alone');
    if (isDeepStrictEqual(waiting, promised)) return;
    const show = (value: unknown) => JSON.stringify(value);
    throw new Error(`${show(story)}\nwhat waits: ${show(waiting)}\npromises: ${show(promised)}`);
  };

  property('tells the same of a far side that offers what waits', storyWithoutCalls, holds);
  property('moves its calls as it would, and keeps the order of the far side', storyWithCalls, holds, 0.5);

  afterAll(() => {
    // what waited was taken, or nothing was shown
    expect(taken).toBeGreaterThan(0);
  });

  const burst: BidiEvent[] = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const told = (way: Way) =>
    tell({ bursts: [burst], reads: 'from the start', maxBufferedEvents: 9, ends: 'host', closesAt: Infinity }, way);

  it.each(['is no function', 'gives nothing'] as const)('goes by promises where it %s', async (way) => {
    expect(await told(way)).toEqual(await told('promises alone'));
  });

  it.each(['throws', 'throws when it is looked at'] as const)('ends where it %s', async (way) => {
    expect((await told(way)).end).toMatchObject({ reason: 'stream_failed' });
  });

  it('leaves others their turn, however much a far side has', async () => {
    const far = new Far('promises alone');
    let given = 0;
    const iterator: BidiEventIterator = {
      next: async () => ({ done: false, value: { type: 'text', text: String(given++) } }),
      takeWaiting: () => ({ type: 'text', text: String(given++) }),
    };
    const connection = await far.provider.connect({ model: 'm' });
    const session = await startSession({
      provider: {
        id: 'endless',
        connect: async () => ({ ...connection, events: () => ({ [Symbol.asyncIterator]: () => iterator }) }),
      },
      connect: { model: 'm' },
    });
    let seen = 0;
    session.events$.subscribe(() => {
      seen++;
    });
    await Promise.resolve();
    await session.close();
    expect(given).toBeLessThan(2_000);
    expect(seen).toBeLessThan(2_000);
  });
});
