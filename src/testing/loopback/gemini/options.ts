import type { Clock } from '../../../contract/clock.js';
import type { ReplayFrame } from '../replay.js';
import type { Model } from './script.js';

/** What the far side of a loopback server of Gemini Live is told to be. */
export interface GeminiFarSide {
  /** Which of the two services it plays. Default `developer`. */
  readonly service?: 'developer' | 'vertex';
  /** What the model does. Default: it says back what it was told. */
  readonly model?: Model;
  /** Keys and tokens that are taken; any other is refused as the service does: by a close frame. Default: all. */
  readonly keys?: readonly string[];
  /** Names of the models there are, without a path. Default: all. */
  readonly models?: readonly string[];
  /** Time that passes, for pauses, playback, going away. Default: a clock of its own that nobody moves. */
  readonly clock?: Clock;
  /** Whether frames go out as binary messages, as the service sends them. Default: yes. */
  readonly binary?: boolean;
  /** Whether JSON goes out on several lines. Default: no. */
  readonly pretty?: boolean;
  /** Whether empty frames stand between the others. Default: no. */
  readonly noise?: boolean;
  /** How long what was said is taken to play, in milliseconds: `turnComplete` waits for that. Default 0. */
  readonly playbackMs?: number;
  /** Frames that still come of a turn that is cut, between `interrupted` and the `turnComplete` that it owes. Default: none. */
  readonly stragglers?: readonly unknown[];
  /** How an interruption takes back the calls that the model waits for: told before it, after it, or not at all. Default `before`. */
  readonly withdrawal?: 'before' | 'after' | 'none';
  /** What an answer to a call that was withdrawn does. Default `ignore`; `refuse` ends the connection with 1008. */
  readonly lateAnswers?: 'ignore' | 'refuse';
  /** Whether the model waits for the answers of all calls of a frame. Default: yes; else it goes on at the first. */
  readonly waitsForAll?: boolean;
  /** What becomes of a good `setup`. Default `complete`. */
  readonly setup?: 'complete' | 'silence' | { readonly code: number; readonly reason: string };
  /** Plays a recording instead of a conversation, from its beginning on each connection. */
  readonly recording?: readonly ReplayFrame[];
}
