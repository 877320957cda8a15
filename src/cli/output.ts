/** Where a command writes: results to standard output, all else to standard error. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Whether standard output is a terminal that wants colour (`NO_COLOR` says no). */
export function wantsColor(): boolean {
  return process.stdout.isTTY === true && !process.env['NO_COLOR'];
}

/** Columns to draw in: those of the terminal within reason, else 100. */
export function width(): number {
  return process.stdout.isTTY === true ? Math.max(80, Math.min(process.stdout.columns ?? 100, 160)) : 100;
}
