import type { ReplayFrame } from '../replay.js';

/**
 * A recorded far side: it says what it said, in order, and where the recorded client spoke it waits for one message of
 * this client of the same kind. At the end of the recording it closes, with the recorded close frame if there is one.
 */
export class Replay {
  #next = 0;

  constructor(
    readonly frames: readonly ReplayFrame[],
    readonly line: { send(frame: unknown): void; close(code: number, reason: string): void },
    /** Told when a message is not the one that the recorded client sent. */
    readonly mismatch: (problem: string) => void,
  ) {}

  /** Takes a message of the client, and goes on to the next place where the recorded one spoke. */
  message(kind: string): void {
    const frame = this.frames[this.#next];
    const expected = frame?.dir === 'c2s' && 'data' in frame ? kindIn(frame.data) : 'nothing';
    if (kind !== expected) {
      this.mismatch(`expected ${expected} as in the recording, found ${kind}`);
      return;
    }
    this.#next++;
    this.play();
  }

  /** Plays what the far side said before the client spoke. */
  play(): void {
    for (;;) {
      const frame = this.frames[this.#next];
      if (frame?.dir === 'c2s' && 'data' in frame) return;
      this.#next++;
      if (frame === undefined) {
        this.line.close(1000, '');
        return;
      }
      if (frame.dir === 'c2s') continue;
      if ('close' in frame) {
        this.line.close(frame.close.code, frame.close.reason);
        return;
      }
      this.line.send(frame.data);
    }
  }
}

/** The kind of a client's message, in camelCase. */
function kindIn(data: unknown): string {
  const [key = 'nothing'] = Object.keys((data ?? {}) as object);
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
