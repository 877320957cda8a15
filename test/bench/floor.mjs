/**
 * The floor: no session at all. The reader's `for await` runs over the driver's
 * own queue, so this is what one asynchronous hop costs and nothing else. No
 * state, no tools, events not addressed to the host.
 */

/** @typedef {import('./contestants.mjs').Start} Start */

/** @type {Start} */
export async function startFloor({ provider, connect }) {
  const connection = await provider.connect(connect);
  return { events: () => connection.events(), close: () => connection.close() };
}
