/** What a far side emits, one event after another. */
import fc from 'fast-check';
import type { Step } from '../../../scenario/scenario.js';
import { back, type Draft, type Ids, plain, stepsOf } from './drafts.js';
import { toolNames } from './headers.js';

const word = fc.constantFrom('a', 'b', 'two words', 'é', '"quoted"', '');

/** Arguments that the schema of a tool takes, whichever tool it is. */
const soundArguments = fc.constantFrom('{"word":"a"}', '{"word":"b","count":3}', ' {"word": "é"} ');
const anyArguments = fc.constantFrom(
  '',
  '{}',
  '{"word":1}',
  '{"word":"a","count":-1}',
  '{"word":"a","other":true}',
  '{"word":"a"',
  'null',
  '[]',
  '"text"',
  '7',
  '{"__proto__":{"word":"a"},"word":"b"}',
);
const anyTool = fc.constantFrom(...toolNames, 'delta', 'constructor', '');

const far = (event: unknown): Step => ({ far: event });

/** What a far side calls: the name of a tool, and the arguments as they came. */
export interface FarCall {
  readonly name: string;
  readonly arguments: string;
}

/** Calls of the tools that a scenario may have and of others, with arguments that are sound and others. */
const farCall: fc.Arbitrary<FarCall> = fc.oneof(
  { weight: 14, arbitrary: fc.record({ name: fc.constantFrom(...toolNames), arguments: soundArguments }) },
  { weight: 5, arbitrary: fc.record({ name: anyTool, arguments: anyArguments }) },
);

/** Something that a far side says when it keeps to the contract and does not end. */
const legalWords = (calls: fc.Arbitrary<FarCall>): fc.Arbitrary<Draft> =>
  fc.oneof(
    { weight: 8, arbitrary: word.map((text) => () => far({ type: 'text', text })) },
    { weight: 4, arbitrary: word.map((data) => () => far({ type: 'audio', data, mediaType: 'audio/pcm' })) },
    {
      weight: 19,
      arbitrary: calls.map((call) => (ids: Ids) => far({ type: 'tool_call', id: ids.fresh(), ...call })),
    },
    { weight: 3, arbitrary: plain(far({ type: 'turn_complete' })) },
    { weight: 6, arbitrary: plain(far({ type: 'interrupted' })) },
    { weight: 1, arbitrary: plain(far({ type: 'error', message: 'far away' })) },
    {
      weight: 4,
      arbitrary: fc.tuple(fc.array(back, { maxLength: 3 }), fc.boolean()).map(([steps, unknown]) => (ids: Ids) => {
        const named = steps.flatMap((step) => ids.recent(step) ?? []);
        return far({ type: 'tool_call_cancelled', ids: unknown ? [...named, 'nobody'] : named });
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom<unknown>(
          { type: 'usage', inputTokens: 3 },
          { type: 'usage', inputTokens: 'three' },
          { type: 'input_text', text: 'hm', final: true },
          { type: 'input_text', text: 'hm' },
          { type: 'expiring', inMs: 1000 },
          { type: 'expiring', inMs: -1 },
          { type: 'something_new', text: 'x' },
          { type: '' },
          { type: 'toString' },
        )
        .map((event) => () => far(event)),
    },
  );

/** The same, with calls of the tools that a scenario may have. */
export const legalWord = legalWords(farCall);

/** Something that no far side may say: it ends the session. */
const breach: fc.Arbitrary<Draft> = fc.oneof(
  fc
    .constantFrom<unknown>(
      null,
      'text',
      7,
      [],
      {},
      { type: 3 },
      { type: 'text' },
      { type: 'audio', data: 'x' },
      { type: 'error' },
      { type: 'closed', reason: 4 },
      { type: 'tool_call', id: '', name: 'alpha', arguments: '{}' },
      { type: 'tool_call', id: 'bad', name: 'alpha', arguments: {} },
      { type: 'tool_call', id: 'bad', arguments: '{}' },
      { type: 'tool_call_cancelled' },
      { type: 'tool_call_cancelled', ids: ['t00', ''] },
    )
    .map((event) => () => far(event)),
  fc.tuple(fc.constantFrom(...toolNames), soundArguments, back).map(([name, text, steps]) => (ids: Ids) => {
    const id = ids.recent(steps);
    return id === undefined ? undefined : far({ type: 'tool_call', id, name, arguments: text });
  }),
);

/** How a far side ends its session. */
const lastWord: fc.Arbitrary<Draft> = fc.oneof(
  plain(far({ type: 'closed' })),
  plain(far({ type: 'closed', reason: 'bye' })),
  plain({ far_stream: 'end' }),
  plain({ far_stream: 'fail', message: 'socket gone' }),
);

/** What ends a session, from the far side. */
export const farEnd: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 1, arbitrary: breach },
  { weight: 2, arbitrary: lastWord },
);

/** What a schedule of the far side may be. */
export interface FarSchedule {
  /** Whether it keeps to the contract; else it may break it, now and then. Default `false`. */
  readonly legal?: boolean;
  /** What it calls. Default: the tools of a random scenario, and now and then what no tool takes. */
  readonly calls?: fc.Arbitrary<FarCall>;
  /** Default 24. */
  readonly maxEvents?: number;
}

/**
 * What a far side emits, in order, its end included where it comes to one. A legal one says nothing after its end; an
 * illegal one may send what is malformed, repeat the id of a call, and go on after its end.
 */
export function farSchedule({ legal = false, calls, maxEvents = 24 }: FarSchedule = {}): fc.Arbitrary<Step[]> {
  const said = calls === undefined ? legalWord : legalWords(calls);
  if (!legal) {
    const word = fc.oneof({ weight: 24, arbitrary: said }, { weight: 1, arbitrary: farEnd });
    return fc.array(word, { maxLength: maxEvents, size: 'max' }).map((drafts) => stepsOf(drafts));
  }
  const words = fc.array(said, { maxLength: Math.max(0, maxEvents - 1), size: 'max' });
  return fc
    .tuple(words, fc.option(lastWord, { nil: undefined }))
    .map(([drafts, last]) => stepsOf(last === undefined || maxEvents === 0 ? drafts : [...drafts, last]));
}
