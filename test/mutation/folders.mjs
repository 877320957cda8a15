// @ts-check
// What is mutated, and which tests of the repository a mutant of it has to get past: those that kill most in a second, the
// quickest first. Together they take less than 5 s on a quiet machine, which is what makes some thousand runs of them bearable.

/**
 * @typedef {object} Folder
 * @property {readonly string[]} mutate patterns of source files; `!` leaves out
 * @property {'all' | 'reaching'} tries which tests a mutant has to get past: all, or those that were seen to reach it. Of steps that
 *   are computed once and kept, as those of the machines are, only the first test that needs one is seen to reach it.
 * @property {readonly string[]} tests files in the order in which they run: a mutant is dead with the first test that fails
 */

/** @type {Readonly<Record<string, Folder>>} */
export const folders = {
  machines: {
    mutate: ['machines/**/*.ts'],
    tries: 'all',
    tests: [
      'test/machines/grid.test.ts',
      'test/machines/conversation-grid.test.ts',
      'test/machines/stepping.test.ts',
      'test/machines/shared-steps.test.ts',
      'test/machines/moves.test.ts',
      'test/machines/session.test.ts',
      'test/machines/tool-invocation.test.ts',
      'test/machines/levels-details.test.ts',
      'test/machines/levels.test.ts',
      'test/machines/coordination.test.ts',
      'test/machines/coordination-details.test.ts',
      'test/scenarios.test.ts',
      'test/properties/composition.test.ts',
    ],
  },
  // The fold itself, its actions, masks and trees. What the rest of the folder comes to has not been tried.
  conversation: {
    mutate: ['src/conversation/{turn,fold,names,input,apply,finish,tree}.ts', 'src/conversation/{actions,mask}/*.ts'],
    tries: 'reaching',
    tests: [
      'test/conversation/words.test.ts',
      'test/conversation/fold-details.test.ts',
      'test/conversation/mask-details.test.ts',
      'test/conversation/scenarios.test.ts',
      'test/conversation/given-cases.test.ts',
      'test/conversation/ends.test.ts',
      'test/conversation/streams.test.ts',
      'test/conversation/derived.test.ts',
      'test/conversation/change.test.ts',
      'test/conversation/to-events.test.ts',
      'test/conversation/masks.test.ts',
      'test/conversation/restore.test.ts',
      'test/conversation/invariants.test.ts',
      'test/conversation/hostile.test.ts',
      'test/runtime/conversation/journal.test.ts',
    ],
  },
};

/** The folder of this run; it comes in the environment, since Stryker and Vitest are processes of their own. */
export function folderAtHand() {
  const name = process.env.COMMITPOINT_MUTATE ?? '';
  const folder = folders[name];
  if (folder === undefined)
    throw new RangeError(`COMMITPOINT_MUTATE: expected one of ${Object.keys(folders).join(', ')}`);
  return { name, ...folder };
}
