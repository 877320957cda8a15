/** How a command ends: 0 done, 1 a check failed or a session did not come to its end, 2 the input cannot be used. */
export type ExitStatus = 0 | 1 | 2;
