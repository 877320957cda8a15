/** The order checkers, for whoever has recorded events of either kind. */

import type { ResponseEvent } from '../../proto/index.js';
import { type BidiTurnEvent, IllegalOrderError, messageOf } from '../contract/index.js';
import { ResponseOrder } from './expect-legal-response.js';
import { TurnOrder } from './expect-legal-turn.js';

/** What is expected of a recording. */
export interface LegalOptions {
  /**
   * It holds all there was: a session was closed, the last request of a response stream has finished. Else it may stop anywhere.
   * Default `false`.
   */
  readonly complete?: boolean;
}

/**
 * Checks events that were recorded, all from the first on and in order: those that a host was given by one session, or those of
 * a response stream, one request or several. A list is of the kind of its first event.
 *
 * - Of a session: one start for each call and one end at most, the same ids throughout, nothing after `closed`.
 * - Of a response stream: an init first and once a request, transactions that are begun, ended and not nested, no finish while
 *   one is open, nothing after the finish but another request; tasks, messages and paths that there are. Whatever a fold in
 *   any mode would tell of is illegal.
 *
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { expectLegal } from 'commitpoint/testing';
 * import { decodeSse } from 'commitpoint/wire';
 *
 * const events = [];
 * for await (const event of decodeSse([readFileSync('answer.sse')])) events.push(event);
 * expectLegal(events, { complete: true });
 * ```
 *
 * @throws {IllegalOrderError} that lists everything that no session does, or no server sends, and what was expected in its place
 */
export function expectLegal(
  events: readonly (BidiTurnEvent | ResponseEvent)[],
  { complete = false }: LegalOptions = {},
): void {
  const order = isResponseEvent(events[0]) ? new ResponseOrder() : new TurnOrder();
  for (const [index, event] of events.entries()) {
    try {
      // what is no event of the kind is told of by the checker
      order.take(event as never, index);
    } catch (error) {
      // a getter that throws, a proxy that was revoked
      order.problems.push(`event ${index}: expected an event, found what throws when it is read: ${messageOf(error)}`);
    }
  }
  if (complete) order.finish();
  if (order.problems.length > 0) throw new IllegalOrderError(order.problems);
}

/** The type of a ResponseEvent is a oneof, an object; that of a BidiTurnEvent is a word. */
function isResponseEvent(event: unknown): boolean {
  try {
    if (typeof event !== 'object' || event === null) return false;
    return '$typeName' in event || ('type' in event && typeof event.type === 'object');
  } catch {
    return false;
  }
}
