/**
 * What the agent said in its last stretches, and how much of it the user has heard, so that what nobody heard can be taken
 * out of the record when the user interrupts.
 *
 * H1. Nothing is cut where it is not known how much was heard: the host said nothing, or the media type does not tell how
 *     long the audio is, or there was none.
 * H2. A stretch is cut once at most.
 * H3. Of at most {@link mostStretches} stretches something is remembered.
 */
import { wordsWithin } from './texts.js';

/** One message of the agent, as far as it has come. */
export interface SpokenText {
  readonly messageId: string;
  text: string;
  /** How much of it a rollback leaves; `undefined` as long as that would take away the message itself. */
  kept: number | undefined;
}

/** What is left of a message. */
export interface Cut {
  readonly messageId: string;
  readonly text: string;
  readonly playedMs: number;
  readonly receivedMs: number;
}

interface Stretch {
  texts: SpokenText[];
  /** How many of them a commit has seen: all but the last of these are as long as they will ever be. */
  seen: number;
  /** Of its audio; `undefined` where some of it does not tell. */
  receivedMs: number | undefined;
  playedMs: number | undefined;
}

const mostStretches = 16;

export class Heard {
  /** The one that plays first; the last is the newest. */
  #stretches: Stretch[] = [];
  #isOver = true;

  /** Output has come: it belongs to the stretch at hand, or begins one. */
  begin(): void {
    if (!this.#isOver) return;
    this.#isOver = false;
    const [first] = this.#stretches;
    // a host that said nothing of a stretch has played it; one that has told of its beginning still plays it, and then the others
    if (first === undefined || !isPlaying(first)) this.#stretches = [];
    this.#stretches.push({ texts: [], seen: 0, receivedMs: 0, playedMs: undefined });
    // the first is the one of which the host tells
    if (this.#stretches.length > mostStretches) this.#stretches.splice(1, 1);
  }

  /** The stretch is finished; it may still be playing. */
  over(): void {
    this.#isOver = true;
  }

  said(text: SpokenText): void {
    this.#newest?.texts.push(text);
  }

  /** Audio has come. `ms`: `undefined` where its length is not known. */
  received(ms: number | undefined): void {
    const stretch = this.#newest;
    if (stretch === undefined) return;
    stretch.receivedMs = ms === undefined || stretch.receivedMs === undefined ? undefined : stretch.receivedMs + ms;
  }

  /** The player is so far behind the first audio of the stretch that it plays. A lower number than before is of the next one. */
  played(ms: number): void {
    let first = this.#stretches[0];
    if (first === undefined) return;
    if (this.#stretches.length > 1 && (ms < (first.playedMs ?? 0) || ms > (first.receivedMs ?? 0))) {
      this.#stretches.shift();
      first = this.#stretches[0] as Stretch;
    }
    first.playedMs = ms;
  }

  /** What stands is committed: no rollback takes it away. */
  committed(): void {
    const stretch = this.#newest;
    if (stretch === undefined) return;
    const { texts, seen } = stretch;
    for (let at = Math.max(0, seen - 1); at < texts.length; at++) {
      const text = texts[at] as SpokenText;
      text.kept = text.text.length;
    }
    stretch.seen = texts.length;
  }

  rolledBack(): void {
    const stretch = this.#newest;
    if (stretch === undefined) return;
    stretch.texts = stretch.texts.filter(({ kept }) => kept !== undefined);
    for (const text of stretch.texts) text.text = text.text.slice(0, text.kept);
    stretch.seen = stretch.texts.length;
  }

  /** The user interrupts: what of the texts that stand was not heard. `saidLength` of the newest counts what was rolled back, too. */
  cut(saidLength: number): Cut[] {
    const [first] = this.#stretches;
    const cuts: Cut[] = [];
    if (first?.playedMs !== undefined) {
      for (const stretch of this.#stretches) {
        const length = stretch === this.#newest ? saidLength : lengthOf(stretch);
        cuts.push(...cutsOf(stretch, length, stretch === first ? first.playedMs : 0));
      }
    }
    this.#stretches = [];
    this.#isOver = true;
    return cuts;
  }

  /** How long the texts of the newest stretch are. */
  get saidLength(): number {
    const stretch = this.#newest;
    return stretch === undefined ? 0 : lengthOf(stretch);
  }

  get #newest(): Stretch | undefined {
    return this.#stretches.at(-1);
  }
}

function isPlaying({ playedMs, receivedMs }: Stretch): boolean {
  return playedMs !== undefined && receivedMs !== undefined && playedMs < receivedMs;
}

function lengthOf({ texts }: Stretch): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}

function cutsOf({ texts, receivedMs }: Stretch, length: number, playedMs: number): Cut[] {
  if (receivedMs === undefined || receivedMs === 0 || playedMs >= receivedMs) return [];
  let left = Math.floor((length * playedMs) / receivedMs);
  const cuts: Cut[] = [];
  for (const { messageId, text } of texts) {
    const heard = wordsWithin(text, left);
    if (heard !== text) cuts.push({ messageId, text: heard, playedMs, receivedMs });
    left = Math.max(0, left - text.length);
  }
  return cuts;
}
