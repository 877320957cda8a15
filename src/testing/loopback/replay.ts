import { LoopbackServer } from './server.js';

/** One frame of a recording: what `parseRecording` of the command line gives. */
export type ReplayFrame =
  | { readonly dir: 's2c' | 'c2s'; readonly data: unknown }
  | { readonly dir: 's2c' | 'c2s'; readonly close: { readonly code: number; readonly reason: string } };

/** How a recording is played. */
export interface ReplayOptions {
  /**
   * Whether what the service said is sent all at once after the set-up, or only after the client has said as much as it had
   * when it was recorded: the greeting, and each message after the messages of the client before it. Default: at once.
   */
  readonly waits?: boolean;
  /** Called for each connection, before anything is sent: where a test makes it a bad one. */
  readonly prepare?: (connection: LoopbackServer['connections'][number]) => void;
}

/**
 * A service that says what it said when it was recorded, over a socket. It takes every client: what the client says is only
 * counted. At the end of the recording the connection is closed with 1000, unless the recording has a close of its own.
 */
export async function replayLoopback(
  frames: readonly ReplayFrame[],
  options: ReplayOptions = {},
): Promise<LoopbackServer> {
  return LoopbackServer.listen({
    upgrade: ({ protocols: [protocol] }) => (protocol === undefined ? { accept: true } : { accept: true, protocol }),
    connected: (connection) => {
      options.prepare?.(connection);
      let at = 0;
      let heard = 0;
      let over = false;
      const play = () => {
        for (; at < frames.length && !over; at++) {
          const frame = frames[at] as ReplayFrame;
          if (frame.dir === 'c2s') {
            // Beyond the set-up, which is the first message of every client, nothing need be waited for.
            if (options.waits !== true && at > firstMessage(frames)) continue;
            if (heard === 0) return;
            heard--;
          } else if ('close' in frame) {
            over = true;
            connection.close(frame.close.code, frame.close.reason);
          } else connection.sendJson(frame.data);
        }
        if (!over && at === frames.length) {
          over = true;
          connection.close(1000);
        }
      };
      connection.onMessage(() => {
        heard++;
        play();
      });
      play();
    },
  });
}

function firstMessage(frames: readonly ReplayFrame[]): number {
  return frames.findIndex(({ dir }) => dir === 'c2s');
}
