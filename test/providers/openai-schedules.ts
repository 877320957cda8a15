import fc from 'fast-check';
import {
  audio,
  call,
  callOutput,
  cancelled,
  created,
  done,
  errorFrame,
  heard,
  session,
  speechStarted,
  text,
} from './openai-frames.js';

/** A legal run of the server, and the conversation that it has to come to (`words` of its events). */
export interface Schedule {
  readonly frames: readonly unknown[];
  readonly expected: readonly string[];
}

type Ending = 'completed' | 'cancelled' | 'cut' | 'incomplete' | 'failed';

interface Turn {
  /** How many calls each link asks for. */
  readonly links: readonly number[];
  readonly pieces: number;
  readonly ending: Ending;
  /** Pieces that still come of a response that was cut. */
  readonly stragglers: number;
  readonly metadata: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  links: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  pieces: fc.nat(3),
  ending: fc.constantFrom<Ending>('completed', 'cancelled', 'cut', 'incomplete', 'failed'),
  stragglers: fc.nat(2),
  metadata: fc.boolean(),
});

/** Frames that belong to no turn and may stand anywhere. */
const noise: fc.Arbitrary<unknown> = fc.constantFrom(
  { type: 'ping' },
  { type: 'rate_limits.updated', rate_limits: [] },
  { type: 'response.function_call_arguments.done', call_id: 'never', name: 'look', arguments: '{}' },
  { type: 'conversation.item.added', item: { type: 'function_call_output', call_id: 'c' } },
  { type: 'something.new' },
  { type: 'response.output_text.delta', delta: null },
  session('session.updated'),
  errorFrame({ code: 'response_cancel_not_active', message: 'Cancellation failed' }),
  heard('delta', 'u', 'x'),
  null,
);

/** Legal schedules, with noise between the frames and frames that the wire repeats at once, soon or late. */
export const openaiSchedule: fc.Arbitrary<Schedule> = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
    noise: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), frame: noise }), { maxLength: 10 }),
    repeats: fc.array(fc.record({ of: fc.double({ min: 0, max: 1, noNaN: true }), after: fc.nat(20) }), {
      maxLength: 6,
    }),
  })
  .map(({ turns, noise, repeats }) => {
    const { frames, expected } = unfold(turns);
    const placed: unknown[] = [...frames];
    // A repeat of speech_started would be a second one: it has no id of a response to know it by.
    const repeatable = frames.filter((frame) => frame.type !== 'input_audio_buffer.speech_started');
    for (const { of, after } of repeats) {
      const frame = repeatable[Math.floor(of * (repeatable.length - 1))];
      const at = placed.indexOf(frame);
      placed.splice(Math.min(at + 1 + after, placed.length), 0, frame);
    }
    for (const { at, frame } of noise) placed.splice(Math.floor(at * placed.length), 0, frame);
    return { frames: placed, expected };
  });

type Frame = { readonly type: string };

function unfold(turns: readonly Turn[]): { frames: Frame[]; expected: string[] } {
  const frames: Frame[] = [];
  const expected: string[] = [];
  turns.forEach((turn, t) => {
    turn.links.forEach((calls, l) => {
      const id = `r${t}.${l}`;
      const ids = Array.from({ length: calls }, (_, c) => `c${t}.${l}.${c}`);
      frames.push(created(id, turn.metadata ? { metadata: { key: id } } : {}), text(id, `${id} `));
      expected.push(`text:${id} `);
      for (const callId of ids) {
        frames.push(call(id, callId));
        expected.push(`call:${callId}:look:{"a":1}`);
      }
      frames.push(done(id, { output: ids.map(callOutput) }));
    });
    const id = `r${t}`;
    frames.push(created(id));
    for (let p = 0; p < turn.pieces; p++) {
      frames.push(p % 2 === 0 ? text(id, `${id}.${p}`) : audio(id, `${id}.${p}`));
      expected.push(`${p % 2 === 0 ? 'text' : 'audio'}:${id}.${p}`);
    }
    switch (turn.ending) {
      case 'completed':
        frames.push(done(id));
        expected.push('turn_complete');
        break;
      case 'cancelled':
        frames.push(cancelled(id, 'client_cancelled'));
        expected.push('interrupted');
        break;
      case 'cut':
        frames.push(speechStarted());
        expected.push('interrupted');
        for (let s = 0; s < turn.stragglers; s++) frames.push(text(id, `stale ${id}.${s}`));
        if (turn.stragglers > 1) frames.push(call(id, `stale ${id}`));
        frames.push(cancelled(id));
        break;
      default:
        frames.push(done(id, { status: turn.ending, status_details: { reason: 'max_output_tokens' } }));
        expected.push('turn_complete');
    }
  });
  return { frames, expected };
}
