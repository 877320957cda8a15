/**
 * The behaviour of the machines, numbered. A journal says which version wrote
 * it; a replay by another version says so, since what it finds divergent may be
 * no fault of the run.
 *
 * Every change of a table, of the coordination or of the levels that a replay
 * can tell (another state, another effect, another order) adds a version, with
 * what changed; the journals under `test/journals/golden` hold this to it.
 */

/** What each version does differently from the one before. */
export const versions = [
  'The first that a journal can hold: sessions, calls, response streams, transactions. The outcome of a call that waits in `committing` is told of when the call is decided without it.',
] as const;

/** The version of the machines that are here. */
export const machinesVersion: number = versions.length;
