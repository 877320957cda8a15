import { messageOf } from '../../contract/errors.js';
import { quiet } from '../quiet.js';

interface Emitter {
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
}

/** Watches for rejections that nobody handles, where the platform tells of them in this way (Node, Bun, Deno). */
export function watchRejections(): { found(): Promise<string[]>; stop(): void } {
  const { process } = globalThis as { process?: Partial<Emitter> };
  const left: string[] = [];
  const listener = (reason: unknown) => void left.push(messageOf(reason));
  process?.on?.('unhandledRejection', listener);
  return {
    async found() {
      // They are told of when all that was ready has run.
      for (let turn = 0; turn < 3; turn++) await quiet();
      return left;
    },
    stop: () => void process?.off?.('unhandledRejection', listener),
  };
}
