import type { Clock } from '../../contract/clock.js';

/** Audio of one item of the conversation, as far as it has come. */
interface HeardItem {
  readonly itemId: string;
  readonly contentIndex: number;
  ms: number;
}

/** Audio of one stretch. */
interface Run {
  readonly items: HeardItem[];
  ms: number;
  /** The last that is known of the place in it that plays, and when that was known. */
  playedMs: number;
  at: number;
  /** A terminal was given after it. */
  over: boolean;
}

/** What the far side has to forget of an item: everything behind `audioEndMs`. */
export interface Truncation {
  readonly itemId: string;
  readonly contentIndex: number;
  readonly audioEndMs: number;
}

/**
 * What of the far side's audio the user has heard. The service sends audio faster than it plays and does not know where the
 * player is; the host says so by `played`. Between its words, and for a host that says nothing, playback is taken to go on
 * at the speed of time from the first audio of a stretch.
 *
 * - P1 a truncation is never behind what arrived of the item, and never asked for an item of which no audio arrived
 * - P2 an item that was heard to its end is not truncated
 * - P3 a cut forgets everything: no item is truncated twice
 * - P4 memory is bounded: what was heard is forgotten, and of the rest at most 256 items are kept
 */
export class Playback {
  readonly #clock: Clock;
  #runs: Run[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Audio of an item has come; it plays after all that came before. */
  arrived(itemId: string, contentIndex: number, ms: number): void {
    this.#forgetHeard();
    let run = this.#runs.at(-1);
    if (run === undefined || run.over) {
      const now = this.#clock.now();
      const end = run === undefined ? now : run.at + (run.ms - run.playedMs);
      run = { items: [], ms: 0, playedMs: 0, at: Math.max(now, end), over: false };
      this.#runs.push(run);
    }
    run.ms += ms;
    const last = run.items.at(-1);
    if (last?.itemId === itemId && last.contentIndex === contentIndex) last.ms += ms;
    else if (this.#size() < 256) run.items.push({ itemId, contentIndex, ms });
  }

  /** The stretch is finished: what comes next plays after it, and is counted anew. */
  stretchEnded(): void {
    const run = this.#runs.at(-1);
    if (run !== undefined) run.over = true;
  }

  /** The player is `ms` milliseconds behind the first audio of the stretch that it plays. A lower number than before is of the next stretch. */
  reported(ms: number): void {
    let run = this.#runs[0];
    if (run === undefined) return;
    if (this.#runs.length > 1 && (ms < run.playedMs || ms > run.ms)) {
      this.#runs.shift();
      run = this.#runs[0] as Run;
    }
    run.playedMs = Math.min(ms, run.ms);
    run.at = this.#clock.now();
  }

  /** Whether there is audio that the user has not heard. */
  get isUnfinished(): boolean {
    const last = this.#runs.at(-1);
    return last !== undefined && this.#position(last) < last.ms;
  }

  /** The player is stopped where it is, or at `playedMs` if that is known: what the far side has to forget. */
  cut(playedMs?: number): readonly Truncation[] {
    if (playedMs !== undefined) this.reported(playedMs);
    const truncations: Truncation[] = [];
    for (const [index, run] of this.#runs.entries()) {
      // what the host has just said is exact; what it said before has moved on since
      let heard = playedMs !== undefined && index === 0 ? run.playedMs : this.#position(run);
      for (const { itemId, contentIndex, ms } of run.items) {
        if (heard < ms) truncations.push({ itemId, contentIndex, audioEndMs: Math.floor(heard) });
        heard = Math.max(0, heard - ms);
      }
    }
    this.#runs = [];
    return truncations;
  }

  #position(run: Run): number {
    return Math.min(run.ms, run.playedMs + Math.max(0, this.#clock.now() - run.at));
  }

  #forgetHeard(): void {
    for (let run = this.#runs[0]; run?.over && this.#position(run) >= run.ms; run = this.#runs[0]) this.#runs.shift();
  }

  #size(): number {
    return this.#runs.reduce((sum, run) => sum + run.items.length, 0);
  }
}

/** How long audio of so many bytes plays, by its media type; 0 where that is not known. */
export function durationMs(bytes: number, mediaType: string): number {
  if (mediaType === 'audio/pcmu' || mediaType === 'audio/pcma') return bytes / 8;
  const rate = /^audio\/pcm;rate=(\d{4,6})$/.exec(mediaType)?.[1];
  return rate === undefined ? 0 : bytes / ((Number(rate) * 2) / 1000);
}
