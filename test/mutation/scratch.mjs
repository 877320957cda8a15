// @ts-check

/** Where mutated copies of the repository and reports lie, from the root of the repository. */
export const scratch = '.scratch/mutation';
