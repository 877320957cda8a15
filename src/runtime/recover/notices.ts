/**
 * Tells `onLate` of code that nobody can say the end of.
 *
 * Invariants kept here:
 *
 * N1. A notice is given when its record is durable, and never again: at most
 *     once, over all recoveries of a journal.
 * N2. What the host's code throws, rejects with or never settles harms nobody,
 *     and is told.
 */
import type { Clock } from '../../contract/clock.js';
import type { JournalEntry } from '../../contract/journal.js';
import type { LateCall, Tool } from '../../contract/tool.js';
import { attempt } from '../attempt.js';
import type { Notice } from './recovery.js';
import type { RememberedCall } from './remembered-call.js';
import type { RememberedSession } from './remembered-session.js';

const unknown = Object.freeze({ status: 'unknown' } as const);

/** A notice that is due, and what becomes of it. */
export class DueNotice {
  readonly session: RememberedSession;
  readonly call: RememberedCall;
  readonly #tool: Tool;
  #notice: Notice = 'pending';
  #error: unknown;

  constructor(session: RememberedSession, call: RememberedCall, tool: Tool) {
    this.session = session;
    this.call = call;
    this.#tool = tool;
  }

  get notice(): Notice {
    return this.#notice;
  }

  /** What the host's code threw or rejected with. */
  get error(): unknown {
    return this.#error;
  }

  /** The record that has to be durable first. */
  entry(at: number): JournalEntry {
    const { id, state } = this.call;
    const actor = `${this.session.id}/${id}`;
    const did = [{ effect: 'tellLate' }];
    return { at, actor, kind: 'call', event: 'recovered', from: state, to: state, cause: 0, did };
  }

  /** Tells. Settles when the host's code has; never rejects. */
  give(): Promise<void> {
    this.#notice = 'unsettled';
    const { id: sessionId, began } = this.session;
    const about = { id: this.call.id, name: this.call.name, sessionId, turnId: began.turnId } as LateCall;
    return new Promise((resolve) => {
      attempt(
        () => this.#tool.onLate?.(unknown, about),
        () => {
          this.#notice = 'given';
          resolve();
        },
        (error) => {
          this.#notice = 'failed';
          this.#error = error;
          resolve();
        },
      );
    });
  }
}

/** Gives all of them, and waits until they have settled, `timeoutMs` at most (0: no limit). */
export function giveAll(notices: readonly DueNotice[], clock: Clock, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = timeoutMs === 0 ? undefined : clock.setTimeout(resolve, timeoutMs);
    Promise.all(notices.map((notice) => notice.give())).then(() => {
      if (timeoutMs !== 0) clock.clearTimeout(timer);
      resolve();
    });
  });
}
