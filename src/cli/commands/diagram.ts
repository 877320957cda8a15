import {
  responseStreamMachine,
  sessionMachine,
  supervisorMachine,
  toolInvocationMachine,
  transactionMachine,
} from '../../../machines/index.js';
import { InvalidInputError } from '../../contract/errors.js';
import { type Drawable, jsonOf, mermaidOf } from '../../inspect/diagram.js';
import type { ExitStatus } from '../exit.js';
import { print } from '../output.js';

export interface DiagramOptions {
  readonly format: string;
  /** As `--format json`. */
  readonly json?: boolean;
}

const machines: ReadonlyMap<string, Drawable> = new Map<string, Drawable>([
  ['session', sessionMachine],
  ['tool-invocation', toolInvocationMachine],
  ['response-stream', responseStreamMachine],
  ['transaction', transactionMachine],
  ['supervisor', supervisorMachine],
]);

/** `commitpoint diagram [MACHINE]`: the machines as they run; all of them where none is named. */
export function diagram(name: string | undefined, options: DiagramOptions): ExitStatus {
  const format = options.json ? 'json' : options.format;
  if (format !== 'mermaid' && format !== 'json') throw new InvalidInputError('--format', 'mermaid or json', format);
  const names = name === undefined ? [...machines.keys()] : [name];
  const drawn = names.map((wanted) => {
    const machine = machines.get(wanted);
    if (machine === undefined) throw new InvalidInputError('machine', [...machines.keys()].join(', '), wanted);
    return machine;
  });
  print(
    drawn
      .map((machine) => (format === 'json' ? JSON.stringify(jsonOf(machine)) : mermaidOf(machine).trimEnd()))
      .join('\n'),
  );
  return 0;
}
