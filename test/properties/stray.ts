/** What a run lets slip past everybody: rejections and throws that nobody catches, listeners that nobody takes away. */
import { getEventListeners } from 'node:events';
import { quiet } from '../../src/testing/quiet.js';

const kinds = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Runs `body` and gives what no one caught meanwhile, in words. The test
 * runner's own listeners are set aside, so that a finding belongs to the run
 * that made it.
 */
export async function strayFrom(body: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  const aside = kinds.map((kind) => ({ kind, listeners: process.listeners(kind as 'uncaughtException') }));
  const note = kinds.map((kind) => (thrown: unknown) => void found.push(`D14: ${kind}: ${String(thrown)}`));
  for (const [index, kind] of kinds.entries()) {
    process.removeAllListeners(kind);
    process.on(kind, note[index] as never);
  }
  try {
    await body();
    // a rejection is called unhandled once the reactions that were due have run
    await quiet();
    await quiet();
  } finally {
    for (const { kind, listeners } of aside) {
      process.removeAllListeners(kind);
      for (const listener of listeners) process.on(kind, listener as never);
    }
  }
  return found;
}

/** The signals that got an abort listener while `body` ran. */
export function signalsListenedTo<Result>(body: () => Result): {
  readonly result: Result;
  readonly signals: AbortSignal[];
} {
  const signals: AbortSignal[] = [];
  const { addEventListener } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof addEventListener>) {
    if (this instanceof AbortSignal && args[0] === 'abort') signals.push(this);
    return addEventListener.apply(this, args);
  };
  try {
    return { result: body(), signals };
  } finally {
    EventTarget.prototype.addEventListener = addEventListener;
  }
}

/** How many abort listeners a signal has. */
export function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}
