/** What is drawn by lot for one run: everything but the order in which it comes about, which the scheduler draws. */
import fc from 'fast-check';
import type { ScenarioHeader, Step } from '../../../src/scenario/scenario.js';
import { farSchedule, scenarioHeader } from '../../../src/testing/arbitraries/index.js';

/** How a driver or a journal answers. `value`: with no promise; `throws`: before there is one. */
export interface Answer {
  readonly how: 'value' | 'throws' | 'at once' | 'later' | 'never';
  readonly accepts: boolean;
}

/** How the code of a call ends. `at the spot`: with no promise; `heeds`: as soon as its signal fires, else later; `closes`: it closes its own session first. */
export interface Code {
  readonly how: 'at the spot' | 'at once' | 'later' | 'never' | 'heeds' | 'closes';
  readonly succeeds: boolean;
}

/** Something that the host does. `id`: of the call that was made as the so-manieth. */
export type Act =
  | { readonly act: 'send' | 'interrupt' | 'played' | 'close' | 'abort' }
  | { readonly act: 'approve' | 'deny'; readonly call: number };

/** Who reads: a loop over `events()`, a subscriber of `events$`, a subscriber that comes late, or a loop and a subscriber. */
export interface Readers {
  readonly who: 'loop' | 'subscriber' | 'late subscriber' | 'both';
  /** After how many events the loop is left each time, to be opened again later. */
  readonly leaves: readonly number[];
  /** Whether the loop takes its time with an event. */
  readonly dawdles: readonly boolean[];
  /** How many events the loop asks for at a time: a `for await`, where that is one. */
  readonly ahead: number;
}

/** Where a session calls the host, within its steps. */
export type Callback = 'event' | 'lifecycle' | 'code' | 'signal' | 'driver';

export interface Plan {
  readonly header: ScenarioHeader;
  readonly far: readonly Step[];
  readonly host: readonly Act[];
  /** Whether the host looks at none of the promises that its acts give. */
  readonly forgets: boolean;
  /** Milliseconds that the clock moves by, one after another. */
  readonly clock: readonly number[];
  readonly connect: Answer;
  readonly close: Answer;
  /** Taken in turn. */
  readonly publishes: readonly Answer[];
  readonly flushes: readonly Answer[];
  readonly sends: readonly Answer[];
  readonly code: readonly Code[];
  /** How the driver yields events: out of a queue, out of an async generator, or, where one is there, without a promise. */
  readonly yields: 'queued' | 'generated' | 'plain';
  /** Whether inputs are judged asynchronously. */
  readonly judgesLater: boolean;
  readonly approvals: readonly { readonly approve: boolean; readonly when: 'within the step' | 'later' | 'never' }[];
  readonly readers: Readers;
  /** What the host does in a callback of the session, the so-manieth of its kind: a subscriber, its code, a signal, its driver. */
  readonly within: readonly {
    readonly where: Callback;
    readonly at: number;
    readonly act: Act | { readonly act: 'throw' };
  }[];
  /** How many tasks are let go at once, and how many micro-tasks pass before the next ones (`quiet`: all that there are). */
  readonly rhythm: readonly { readonly burst: number; readonly wait: number | 'quiet' }[];
}

const answer = (...how: readonly Answer['how'][]): fc.Arbitrary<Answer> =>
  fc.record({ how: fc.constantFrom(...how), accepts: fc.constantFrom(true, true, true, false) });

const someAnswers = (...how: readonly Answer['how'][]) => fc.array(answer(...how), { minLength: 1, maxLength: 6 });

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<Act>({ act: 'send' }, { act: 'interrupt' }, { act: 'interrupt' }, { act: 'played' }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constantFrom('approve', 'approve', 'deny'), call: fc.nat({ max: 8 }) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Act>({ act: 'close' }, { act: 'abort' }) },
);

/** Texts that differ, so that none can stand in for another. */
function numbered(step: Step, index: number): Step {
  if (!('far' in step) || typeof step.far !== 'object' || step.far === null) return step;
  const event = step.far as Readonly<Record<string, unknown>>;
  if (event.type === 'text' && typeof event.text === 'string')
    return { far: { ...event, text: `${event.text}#${index}` } };
  if (event.type === 'audio' && 'mediaType' in event) return { far: { ...event, data: `${event.data}#${index}` } };
  if (event.type === 'error' && 'message' in event) return { far: { ...event, message: `far away #${index}` } };
  return step;
}

export const plan: fc.Arbitrary<Plan> = fc
  .record({
    header: scenarioHeader,
    far: farSchedule().map((steps) => steps.map(numbered)),
    host: fc.array(act, { maxLength: 8, size: 'max' }),
    forgets: fc.constantFrom(false, false, true),
    clock: fc.array(fc.constantFrom(1, 4, 5, 10, 25), { maxLength: 5 }),
    connect: fc.oneof(
      { weight: 6, arbitrary: fc.record({ how: fc.constantFrom('at once', 'later'), accepts: fc.constant(true) }) },
      { weight: 1, arbitrary: answer('at once', 'later', 'throws', 'never') },
    ) as fc.Arbitrary<Answer>,
    close: answer('value', 'throws', 'at once', 'later', 'later', 'never'),
    publishes: someAnswers('value', 'throws', 'at once', 'later', 'later', 'later', 'never'),
    flushes: someAnswers('at once', 'later', 'later').map((all) =>
      // one refusal ends the session: a rare thing among several
      all.map((one, index) => (index === 0 || index === 3 ? one : { ...one, accepts: true })),
    ),
    sends: someAnswers('value', 'throws', 'at once', 'later', 'never'),
    code: fc.array(
      fc.record({
        how: fc.oneof(
          {
            weight: 12,
            arbitrary: fc.constantFrom<Code['how']>(
              'at the spot',
              'at the spot',
              'at once',
              'later',
              'later',
              'later',
              'never',
              'heeds',
            ),
          },
          { weight: 1, arbitrary: fc.constant<Code['how']>('closes') },
        ),
        succeeds: fc.constantFrom(true, true, false),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    yields: fc.constantFrom('queued', 'generated', 'plain'),
    judgesLater: fc.boolean(),
    approvals: fc.array(
      fc.record({
        approve: fc.constantFrom(true, true, false),
        when: fc.constantFrom('within the step', 'later', 'later', 'never'),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    readers: fc.record({
      who: fc.constantFrom('loop', 'subscriber', 'late subscriber', 'both', 'both'),
      leaves: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
      dawdles: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
      ahead: fc.constantFrom(1, 1, 2, 3),
    }),
    within: fc.array(
      fc.record({
        where: fc.constantFrom('event', 'event', 'lifecycle', 'code', 'signal', 'driver'),
        at: fc.nat({ max: 10 }),
        act: fc.oneof({ weight: 5, arbitrary: act }, { weight: 1, arbitrary: fc.constant({ act: 'throw' } as const) }),
      }),
      { maxLength: 3 },
    ),
    rhythm: fc.array(
      fc.record({
        burst: fc.integer({ min: 1, max: 4 }),
        wait: fc.oneof<fc.Arbitrary<number | 'quiet'>[]>(fc.nat({ max: 9 }), fc.constant('quiet' as const)),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })
  .map(possible);

/** An end has to be possible: what is bounded by no limit of time is answered some day. */
function possible(plan: Plan): Plan {
  const { closeTimeoutMs = 5_000 } = plan.header.options ?? {};
  if (closeTimeoutMs > 0) return plan;
  const someDay = (answer: Answer): Answer => (answer.how === 'never' ? { ...answer, how: 'later' } : answer);
  return { ...plan, connect: someDay(plan.connect), close: someDay(plan.close) };
}

/** The id of the call that a far side made as the so-manieth. */
export const idOf = (call: number) => `t${String(call).padStart(2, '0')}`;
