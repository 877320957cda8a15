import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { WireMapping } from '../../src/contract/wire-mapping.js';
import { geminiLiveMapping } from '../../src/providers/gemini-live/index.js';
import { openaiRealtimeMapping } from '../../src/providers/openai-realtime/index.js';
import { geminiSchedule, release } from './gemini-schedules.js';
import { openaiSchedule } from './openai-schedules.js';
import { conversation, feed, isTerminal, propertyRuns, words } from './steps.js';

const runs = { numRuns: propertyRuns };

/** As a driver would: a hold is released where the schedule says that time passed, and at the end. */
function drive(mapping: WireMapping, frames: readonly unknown[]): BidiEvent[] {
  const events: BidiEvent[] = [];
  let hold: number | undefined;
  for (const frame of frames) {
    const step = frame === release ? mapping.release(hold) : mapping.frame(frame);
    if (step.hold) hold = step.hold.id;
    events.push(...step.events);
  }
  events.push(...mapping.release().events);
  return events;
}

describe('legal schedules come to exactly the conversation that they tell', () => {
  it('OpenAI Realtime (W1–W3)', () => {
    fc.assert(
      fc.property(openaiSchedule, ({ frames, expected }) => {
        expect(words(conversation(drive(openaiRealtimeMapping(), frames)))).toEqual(expected);
      }),
      runs,
    );
  });

  it('Gemini Live (W1–W3)', () => {
    fc.assert(
      fc.property(geminiSchedule, ({ frames, expected }) => {
        expect(words(conversation(drive(geminiLiveMapping(), frames)))).toEqual(expected);
      }),
      runs,
    );
  });
});

/** Any JSON, with the names and values that the wire uses made likely. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -1, 1e308, '', 'r1', 'c1', 'completed', 'cancelled', 'function_call'),
    fc.string(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...['type', 'response', 'item', 'id', 'status', 'output', 'call_id', 'delta', 'error', 'usage', 'session'],
        ...['serverContent', 'modelTurn', 'parts', 'text', 'toolCall', 'functionCalls', 'turnComplete', 'goAway'],
        ...['__proto__', 'constructor', 'tool_call_cancellation', 'ids', 'timeLeft'],
      ),
      tie('json'),
      { maxKeys: 4 },
    ),
  ),
}));

/** One value somewhere in a frame is replaced, or a key taken out. */
function mutated(frame: unknown): fc.Arbitrary<unknown> {
  if (typeof frame !== 'object' || frame === null) return json;
  const keys = Object.keys(frame);
  if (keys.length === 0) return json;
  return fc.constantFrom(...keys).chain((key) => {
    const value = (frame as Record<string, unknown>)[key];
    const put = (replaced: unknown) =>
      Array.isArray(frame)
        ? frame.map((entry, index) => (String(index) === key ? replaced : entry))
        : Object.fromEntries(Object.entries(frame).map(([name, entry]) => [name, name === key ? replaced : entry]));
    return fc.oneof(json.map(put), fc.constant(put(undefined)), mutated(value).map(put));
  });
}

/** Frames of legal runs, out of order, repeated, mixed with junk, some of them damaged. */
const chaos = (schedule: typeof openaiSchedule) =>
  schedule.chain(({ frames }) => {
    const real = frames.filter((frame) => frame !== release);
    const frame = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...real) },
      { weight: 2, arbitrary: fc.constantFrom(...real).chain(mutated) },
      { weight: 1, arbitrary: json },
    );
    return fc.array(frame, { maxLength: 60 });
  });

describe('whatever comes', () => {
  it.each([
    ['OpenAI Realtime', openaiSchedule, () => openaiRealtimeMapping()],
    ['Gemini Live', geminiSchedule, () => geminiLiveMapping()],
  ])('%s: nothing throws, no call comes twice, the same frames give the same steps (W3–W5)', (_, schedule, mapping) => {
    fc.assert(
      fc.property(chaos(schedule), (frames) => {
        const one = mapping();
        const steps = frames.map((frame) => one.frame(frame));
        const calls = steps.flatMap(({ events }) =>
          events.flatMap((event) => (event.type === 'tool_call' ? [event.id] : [])),
        );
        expect(new Set(calls).size).toBe(calls.length);
        const another = mapping();
        expect(frames.map((frame) => another.frame(frame))).toEqual(steps);
      }),
      runs,
    );
  });

  it('OpenAI Realtime: between two terminals a response began or something was said (W1)', () => {
    fc.assert(
      fc.property(chaos(openaiSchedule), (frames) => {
        const mapping = openaiRealtimeMapping();
        let open = false;
        for (const frame of frames) {
          const { events, facts } = mapping.frame(frame);
          if (facts.some((fact) => fact.type === 'response_opened')) open = true;
          for (const event of conversation(events)) {
            if (isTerminal(event)) expect(open, `a second ${event.type}`).toBe(true);
            open = !isTerminal(event);
          }
        }
      }),
      runs,
    );
  });

  it('OpenAI Realtime: nothing of a turn comes after its end (W2)', () => {
    fc.assert(
      fc.property(chaos(openaiSchedule), (frames) => {
        const mapping = openaiRealtimeMapping();
        const ended = new Set<string>();
        for (const frame of frames) {
          const { events, facts } = mapping.frame(frame);
          const [event] = conversation(events);
          const response = responseOf(frame);
          if (event && !isTerminal(event) && response !== undefined) {
            expect(ended.has(response), `${event.type} of ${response}, which was done`).toBe(false);
          }
          for (const fact of facts) if (fact.type === 'response_closed') ended.add(fact.id);
        }
      }),
      runs,
    );
  });

  it('Gemini Live: an interruption is not told twice in a row, nor a completion without any sign of a turn (W1)', () => {
    fc.assert(
      fc.property(chaos(geminiSchedule), (frames) => {
        const mapping = geminiLiveMapping();
        let last = '';
        let sign = true;
        for (const frame of frames) {
          const { events } = mapping.frame(frame);
          if (
            /modelTurn|ranscription|oolCall|tool_call|eneration|Reason|waitingFor|reason/.test(
              JSON.stringify(frame) ?? '',
            )
          ) {
            sign = true;
          }
          for (const event of conversation(events)) {
            if (isTerminal(event)) {
              expect(event.type === 'interrupted' && last === 'interrupted' && !sign, 'interrupted twice').toBe(false);
              expect(event.type === 'turn_complete' && last !== '' && !sign, 'completed twice').toBe(false);
              last = event.type;
              sign = false;
            } else sign = true;
          }
        }
      }),
      runs,
    );
  });

  it('Gemini Live: after an interruption of output nothing is said until the turnComplete that is owed (W2, G1)', () => {
    fc.assert(
      fc.property(chaos(geminiSchedule), (frames) => {
        const mapping = geminiLiveMapping();
        // From an `interrupted` that follows audio or text of the model's own turn.
        let spoke = false;
        let fenced = false;
        for (const frame of frames) {
          const { events } = mapping.frame(frame);
          const completes = hasTrue(frame, 'turnComplete');
          for (const event of conversation(events)) {
            expect(fenced, `${event.type} of a turn that was cut`).toBe(false);
            if (event.type === 'audio') spoke = true;
            if (event.type === 'interrupted') fenced = spoke;
          }
          if (completes) {
            spoke = false;
            fenced = false;
          }
        }
      }),
      runs,
    );
  });
});

function responseOf(frame: unknown): string | undefined {
  const id = (frame as { response_id?: unknown } | null)?.response_id;
  return typeof id === 'string' ? id : undefined;
}

function hasTrue(frame: unknown, key: string): boolean {
  const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const content = (frame as Record<string, Record<string, unknown>> | null) ?? {};
  const inner = content.serverContent ?? content.server_content;
  return inner?.[key] === true || inner?.[snake] === true;
}

it('a mapping that is fed nothing says nothing', () => {
  expect(feed(geminiLiveMapping(), []).events).toEqual([]);
  expect(geminiLiveMapping().release()).toEqual({ events: [], facts: [] });
});
