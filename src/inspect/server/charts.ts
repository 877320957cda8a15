/** The charts of all machines, laid out once in a process. */
import {
  responseStreamMachine,
  sessionMachine,
  supervisorMachine,
  toolInvocationMachine,
  transactionMachine,
} from '../../../machines/index.js';
import { type LayoutEngine, layOut } from '../charts/lay-out.js';
import type { Drawable } from '../diagram.js';
import type { Chart } from '../view/frames.js';

const machines: readonly (readonly [Chart['machine'], Drawable])[] = [
  ['session', sessionMachine],
  ['call', toolInvocationMachine],
  ['response-stream', responseStreamMachine],
  ['transaction', transactionMachine],
  ['supervisor', supervisorMachine],
];

let made: Promise<readonly Chart[]> | undefined;

/** Lays the machines out, as they run. Never rejects: what cannot be laid out is left out. */
export function chartsOfMachines(): Promise<readonly Chart[]> {
  made ??= layAllOut();
  return made;
}

async function layAllOut(): Promise<readonly Chart[]> {
  const charts: Chart[] = [];
  try {
    // loaded only where somebody looks: it is large
    const elk = await import('elkjs/lib/elk.bundled.js');
    const Engine = elk.default as unknown as { default?: new () => LayoutEngine } & (new () => LayoutEngine);
    const engine = new (Engine.default ?? Engine)();
    for (const [name, table] of machines) charts.push(await layOut(name, table, engine));
  } catch {
    // the page does without
  }
  return charts;
}
