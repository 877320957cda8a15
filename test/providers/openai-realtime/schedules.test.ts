import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { messageOf } from '../../../src/contract/errors.js';
import type { BidiEvent } from '../../../src/contract/provider.js';
import type { OpenAiReplyRequest } from '../../../src/testing/loopback/openai/index.js';
import { Broken, property } from '../../properties/property.js';
import { isTerminal } from '../steps.js';
import { connected, say, settled, turnOfTheLoop } from './far.js';

// Whatever the user, the host, the tools and the service do, in whatever order it crosses on the socket: one terminal a
// turn, nothing of a turn after it, no call twice, no result that is pending after the end, and an answer to what was said.

type Act =
  | { readonly do: 'say' | 'speak' | 'fallSilent' | 'interrupt' | 'respond' | 'finish' }
  | { readonly do: 'answer'; readonly which: number; readonly isError: boolean }
  | { readonly do: 'step'; readonly frames: number }
  | { readonly do: 'played'; readonly ms: number };

interface Plan {
  /** An act, and how many turns of the loop pass after it. */
  readonly acts: readonly (readonly [Act, number])[];
  /** How many calls the model makes in each response, in turn. */
  readonly calls: readonly number[];
  readonly end: 'close' | 'abort' | 'far' | 'cut' | 'reset';
  /** Whether everything is let come to rest before the end. */
  readonly rests: boolean;
  readonly dialect: 'openai' | 'azure' | 'azure-voice-live' | 'xai';
  readonly audio: boolean;
  readonly habits: {
    readonly stragglers: number;
    readonly repeats: boolean;
    readonly unknownFrames: boolean;
    readonly sparse: boolean;
    readonly conflictNamesMessage: boolean;
    readonly acknowledge: 'now' | 'after_response';
  };
}

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'say' } as const) },
  { weight: 2, arbitrary: fc.constantFrom({ do: 'speak' } as const, { do: 'fallSilent' } as const) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'interrupt' } as const, { do: 'respond' } as const) },
  { weight: 3, arbitrary: fc.constant({ do: 'finish' } as const) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(9), isError: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('step' as const), frames: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('played' as const), ms: fc.nat(1500) }) },
);

const plan: fc.Arbitrary<Plan> = fc.record({
  acts: fc.array(fc.tuple(act, fc.nat(3)), { minLength: 1, maxLength: 24 }),
  calls: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
  end: fc.constantFrom('close', 'abort', 'far', 'cut', 'reset'),
  rests: fc.boolean(),
  dialect: fc.constantFrom('openai', 'openai', 'azure', 'azure-voice-live', 'xai'),
  audio: fc.boolean(),
  habits: fc.record({
    stragglers: fc.nat(3),
    repeats: fc.boolean(),
    unknownFrames: fc.boolean(),
    sparse: fc.boolean(),
    conflictNamesMessage: fc.boolean(),
    acknowledge: fc.constantFrom('now', 'after_response'),
  }),
});

const terminalsOf = (events: readonly BidiEvent[]) => events.filter(isTerminal).length;

async function run({ acts, calls, end, rests, dialect, audio, habits }: Plan): Promise<void> {
  const requests: OpenAiReplyRequest[] = [];
  const controller = new AbortController();
  const pair = await connected({
    fake: {
      dialect,
      habits,
      pace: 'stepwise',
      hearing: false,
      reply: (request) => {
        requests.push(request);
        const count = calls[request.index % calls.length] ?? 0;
        // After so many links the model has enough, lest it calls for ever.
        const list = Array.from({ length: request.index < 20 ? count : 0 }, () => ({ name: 'look' }));
        return { text: `r${request.index} r${request.index} r${request.index}`, calls: list };
      },
    },
    driver: {
      turnDetection: { type: 'server_vad' },
      modalities: audio || dialect === 'xai' ? ['audio'] : ['text'],
    },
    params: { signal: controller.signal },
  });
  const { far, session, log } = pair;
  const answers: Promise<string>[] = [];
  const answered = new Set<string>();
  const open = () =>
    log.events.flatMap((event) => (event.type === 'tool_call' && !answered.has(event.id) ? [event.id] : []));
  const answer = (id: string, isError: boolean) => {
    answered.add(id);
    answers.push(
      session.sendToolResult(id, 'x', isError).then(
        () => 'taken',
        (error: Error) => error.name,
      ),
    );
  };

  let said = 0;
  let isDropped = false;
  for (const [act, turns] of acts) {
    switch (act.do) {
      case 'say':
        await say(session, `said ${++said}`);
        isDropped = false;
        break;
      case 'speak':
        far.speechStarts();
        break;
      case 'fallSilent':
        far.speechStops();
        break;
      case 'interrupt':
        await session.interrupt?.({});
        // What was asked before is not answered any more: the host wanted silence.
        isDropped = true;
        break;
      case 'respond':
        if (far.activeResponse === undefined) far.respond();
        break;
      case 'finish':
        far.finish();
        break;
      case 'step':
        far.step(act.frames);
        break;
      case 'played':
        await session.played?.({ ms: act.ms });
        break;
      case 'answer': {
        const ids = open();
        const id = ids[act.which % Math.max(1, ids.length)];
        if (id !== undefined) answer(id, act.isError);
      }
    }
    for (let turn = 0; turn < turns; turn++) await turnOfTheLoop();
  }

  if (rests) {
    for (let rest = 0, quiet = 0; quiet < 2; rest++) {
      expect(rest, 'rounds until it rests').toBeLessThan(200);
      const before = far.received.length;
      await settled(pair);
      far.finish();
      for (const id of open()) answer(id, false);
      await settled(pair);
      quiet = far.activeResponse === undefined && far.received.length === before + 2 ? quiet + 1 : 0;
    }
    expect(await Promise.all(answers)).toEqual(answers.map(() => 'taken'));
    const last =
      requests
        .at(-1)
        ?.items.map((item) => JSON.stringify(item))
        .join() ?? '';
    if (said > 0 && !isDropped) expect(last, 'the items of the last response').toContain(`said ${said}"`);
  }

  if (end === 'close') await session.close();
  else if (end === 'abort') controller.abort();
  else if (end === 'far') far.connection.close(1011, 'enough');
  else far.connection.cut(end === 'cut' ? 'end' : 'reset');
  const events = (await log.untilEnd()).filter((event) => event.type !== 'error');
  await Promise.all(answers);
  const late = await session.sendToolResult('call_1', 'x').catch((error: Error) => error.name);
  expect(late).toBe('SessionEndedError');

  // No call twice.
  const ids = events.flatMap((event) => (event.type === 'tool_call' ? [event.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  // Nothing of a response after a terminal that came after the first of it.
  const over = new Set<string>();
  const here = new Set<string>();
  for (const event of events) {
    if (isTerminal(event)) for (const name of here) over.add(name);
    if (event.type !== 'text') continue;
    const name = event.text.trim();
    expect(over, `text of ${name} after its turn`).not.toContain(name);
    here.add(name);
  }
  // A completed turn has had a response of its own: never two terminals for one.
  expect(events.filter(({ type }) => type === 'turn_complete').length).toBeLessThanOrEqual(requests.length);
  const asked = acts.filter(([{ do: what }]) => what === 'interrupt' || what === 'speak').length;
  expect(terminalsOf(events)).toBeLessThanOrEqual(requests.length + asked);
  let isOpen = false;
  for (const event of events) {
    if (event.type === 'text' || event.type === 'audio' || event.type === 'tool_call') isOpen = true;
    if (event.type === 'turn_complete')
      expect(isOpen, 'a turn_complete ends a turn in which something was said').toBe(true);
    if (isTerminal(event)) isOpen = false;
  }
  if (end === 'far' || end === 'cut' || end === 'reset') expect(events.at(-1)?.type).toBe('closed');
  expect(pair.fake.violations).toEqual([]);
  await pair.fake.close();
}

describe('random schedules over a socket', () => {
  property(
    'keep the rules of turns, calls and results',
    plan,
    async (plan) => {
      try {
        await run(plan);
      } catch (error) {
        throw new Broken([messageOf(error)], JSON.stringify(plan));
      }
    },
    0.4,
  );
});
