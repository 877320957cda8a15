import fc from 'fast-check';
import {
  audio,
  content,
  generationComplete,
  interrupted,
  text,
  thought,
  toolCall,
  transcript,
  turnComplete,
  usage,
} from './gemini-frames.js';
import type { Schedule } from './openai-schedules.js';

type Ending =
  | 'normal'
  | 'cut while it generates'
  | 'cut while it plays'
  | 'cut after turnComplete'
  | 'failed'
  | 'silent after its calls';

interface Turn {
  /** An `interrupted` before any output. */
  readonly phantom: boolean;
  readonly calls: number;
  /** The turn is completed once at its calls, and the answer is a second one (Vertex). */
  readonly halves: boolean;
  readonly pieces: number;
  readonly ending: Ending;
  readonly stragglers: number;
  readonly snake: boolean;
  readonly joined: boolean;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  phantom: fc.boolean(),
  calls: fc.nat(2),
  halves: fc.boolean(),
  pieces: fc.integer({ min: 1, max: 3 }),
  ending: fc.constantFrom<Ending>(
    'normal',
    'cut while it generates',
    'cut while it plays',
    'cut after turnComplete',
    'failed',
    'silent after its calls',
  ),
  stragglers: fc.nat(2),
  snake: fc.boolean(),
  joined: fc.boolean(),
});

/** Frames that belong to no turn and may stand anywhere. */
const noise: fc.Arbitrary<unknown> = fc.constantFrom(
  content({}),
  usage,
  { sessionResumptionUpdate: { resumable: false } },
  { voiceActivity: {} },
  { somethingNew: 1 },
  { serverContent: 7 },
  null,
);

/** Legal schedules of either service, with noise between the frames. The turns' own words are in `expected`. */
export const geminiSchedule: fc.Arbitrary<Schedule> = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
    noise: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), frame: noise }), { maxLength: 10 }),
  })
  .map(({ turns, noise }) => {
    const { frames, expected } = unfold(turns);
    for (const { at, frame } of noise) frames.splice(Math.floor(at * frames.length), 0, frame);
    return { frames, expected };
  });

function unfold(turns: readonly Turn[]): { frames: unknown[]; expected: string[] } {
  const frames: unknown[] = [];
  const expected: string[] = [];
  let last = '';
  turns.forEach((turn, t) => {
    if (turn.phantom) {
      frames.push(interrupted);
      // One that repeats the last is told once.
      if (last !== 'interrupted') expected.push('interrupted');
    }
    const ids = Array.from({ length: turn.calls }, (_, c) => `c${t}.${c}`);
    if (ids.length > 0) {
      frames.push(toolCall(...ids));
      expected.push(...ids.map((id) => `call:${id}:look:{"a":1}`));
      if (turn.halves) frames.push(generationComplete, turnComplete);
    }
    if (turn.ending === 'silent after its calls' && ids.length > 0) {
      // The driver's two seconds pass: `release` marks where.
      if (!turn.halves) frames.push(generationComplete, turnComplete);
      frames.push(release);
      expected.push('turn_complete');
      last = 'turn_complete';
      return;
    }
    for (let p = 0; p < turn.pieces; p++) {
      const said = `${t}.${p}`;
      const form = [text(said), transcript(said), audio(btoa(said))][p % 3];
      if (p === 0) frames.push(thought(`stale ${said}`));
      frames.push(form);
      expected.push(p % 3 === 2 ? `audio:${btoa(said)}` : `text:${said}`);
    }
    last = turn.ending.startsWith('cut') ? 'interrupted' : 'turn_complete';
    switch (turn.ending) {
      case 'cut while it generates':
        frames.push(...join(turn.joined, interrupted, ...stragglers(t, turn.stragglers), turnComplete));
        expected.push('interrupted');
        break;
      case 'cut while it plays':
        frames.push(generationComplete, ...join(turn.joined, interrupted, turnComplete));
        expected.push('interrupted');
        break;
      case 'cut after turnComplete':
        frames.push(generationComplete, turnComplete, interrupted);
        expected.push('turn_complete', 'interrupted');
        break;
      case 'failed':
        frames.push(content({ turnComplete: true, turnCompleteReason: 'RESPONSE_REJECTED' }));
        expected.push('turn_complete');
        break;
      default:
        frames.push(generationComplete, turn.snake ? { server_content: { turn_complete: true } } : turnComplete);
        expected.push('turn_complete');
    }
  });
  return { frames, expected };
}

/** Not a frame: at this point the driver's timer runs out. */
export const release = Symbol('release');

function stragglers(t: number, count: number): unknown[] {
  return [text(`stale ${t}`), toolCall(`stale ${t}`)].slice(0, count);
}

/** Puts `interrupted` and the `turnComplete` right after it into one frame, where nothing stands between. */
function join(joined: boolean, ...frames: readonly unknown[]): readonly unknown[] {
  return joined && frames.length === 2 ? [content({ interrupted: true, turnComplete: true })] : frames;
}
