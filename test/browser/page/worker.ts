/** A module worker with a session in it. */
import { converse } from './converse.js';

globalThis.onmessage = async ({ data }: MessageEvent<string>) => {
  globalThis.postMessage(await converse(data));
};
