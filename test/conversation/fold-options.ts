import type { FoldOptions } from '../../src/cli/commands/fold.js';

/** The options in the `// args:` line of a file, as the command line has them. */
export function optionsIn(text: string): FoldOptions {
  const args = /^\/\/ args: (.*)$/m.exec(text)?.[1]?.split(' ').filter(Boolean) ?? [];
  const options = { format: 'jsonl', mode: 'tolerant', set: [] as string[] };
  for (let at = 0; at < args.length; at += 2) {
    const value = args[at + 1] ?? '';
    if (args[at] === '--mode') options.mode = value;
    else if (args[at] === '--set') options.set.push(value);
    else throw new TypeError(`no option of fold: ${args[at]}`);
  }
  return options;
}
