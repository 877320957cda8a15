import { explore } from 'commitpoint/verify';
import { Meter } from '../meter.mjs';

/** One tool of each policy, with all that makes states: code that may time out, and approvals. */
const tools = /** @type {const} */ ([
  { name: 'look', effect: 'read', timeoutMs: 1 },
  { name: 'search', onInterruption: 'cancel', needsApproval: true },
  { name: 'order', onInterruption: 'deliver', timeoutMs: 1 },
]);

/**
 * Everything that can happen to a session and its calls, until so many states were met; the rate is that of transitions: each of
 * them a step of the machines and the coordination, judged, and its state looked up. The first walk is measured too: nobody walks twice.
 * @param {{ calls: number, states: number, durable?: boolean }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function exploreSession({ calls, states, durable = false }) {
  const meter = new Meter();
  meter.start();
  const { transitions, violations, ...found } = explore({ tools, calls, durable, states });
  meter.stop(transitions);
  if (violations.length > 0) throw new Error(`an invariant is broken: ${violations[0]?.file}`);
  if (found.states < states) throw new Error(`expected ${states} states at least, found ${found.states}`);
  return meter.sample;
}
