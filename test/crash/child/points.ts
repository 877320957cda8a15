/** Where the process can be told to stand still, so that it is killed there and nowhere else. */
import { writeSync } from 'node:fs';
import type { Intent, Place, Point } from '../points.js';

/** The pipe to the parent. */
const pipe = 3;

export class Points {
  readonly #stopAt: Point | undefined;
  #passed = 0;

  constructor(stopAt: Point | undefined) {
    this.#stopAt = stopAt;
  }

  /** Tells the parent something. */
  say(text: string): void {
    writeSync(pipe, `${text}\n`);
  }

  /** The process is at a place. Where the parent wants it to be killed there, this never returns. */
  at(intent: Intent, place: Place): void {
    const stop = this.#stopAt;
    if (stop === undefined || stop.intent !== intent || stop.place !== place || ++this.#passed < stop.nth) return;
    this.say('here');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}
