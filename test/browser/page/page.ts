/** The page: a session here, and one in a module worker. Both begin by themselves; the test picks up what they give. */
import { converse } from './converse.js';
import scenario from './scenario.jsonl?raw';

function inWorker(): Promise<unknown> {
  const worker = new Worker('/worker.js', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent) => resolve(data);
    worker.onerror = ({ message }) => reject(new TypeError(message));
    worker.postMessage(scenario);
  });
}

Object.assign(globalThis, { conversed: Promise.all([converse(scenario), inWorker()]) });
