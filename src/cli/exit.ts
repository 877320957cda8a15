/** How a command ends: 0 done, 1 a check failed, 2 the input cannot be used. */
export type ExitStatus = 0 | 1 | 2;
