// @ts-check
// The machines, drawn from what was compiled: one page a machine under docs/design/diagrams/, with its diagram, the grid of
// its states against its events, and its transitions. Writes the pages; with --check a page that does not say what the
// machine does is a failure. Build first.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as machines from '../dist/machines/index.js';
import { mermaidOf } from '../dist/src/inspect/diagram.js';
import { gridOf, ignored, transitionsOf } from '../dist/src/inspect/grid.js';
import { root } from './package.mjs';

const pages = [
  {
    file: 'session.md',
    title: 'Session',
    about:
      'The life of a duplex session, from `connect` to `closed`, as `machines/session/session.machine.ts` runs it.',
    machine: machines.sessionMachine,
    events: machines.sessionEvents,
  },
  {
    file: 'tool-invocation.md',
    title: 'Tool invocation',
    about:
      'The life of one call, from `tool_call` to its outcome, as `machines/tool-invocation/tool-invocation.machine.ts` runs it.',
    machine: machines.toolInvocationMachine,
    events: machines.callEvents,
  },
  {
    file: 'response-stream.md',
    title: 'Response stream',
    about:
      'The life of a response stream, one request after another on one conversation, as `machines/response-stream/response-stream.machine.ts` runs it.',
    machine: machines.responseStreamMachine,
    events: machines.responseStreamEvents,
  },
  {
    file: 'transaction.md',
    title: 'Transaction',
    about:
      'The life of one transaction, from its Begin to its commit or rollback, as `machines/transaction/transaction.machine.ts` runs it.',
    machine: machines.transactionMachine,
    events: machines.transactionEvents,
  },
  {
    file: 'supervisor.md',
    title: 'Supervisor',
    about:
      'The life of a supervisor, from its first child to the end of its last, as `machines/supervisor/supervisor.machine.ts` runs it.',
    machine: machines.supervisorMachine,
    events: machines.supervisorEvents,
  },
];

const folder = join(root, 'docs', 'design', 'diagrams');
const check = process.argv.includes('--check');
/** @type {string[]} */
const problems = [];

mkdirSync(folder, { recursive: true });
for (const page of pages) {
  const path = join(folder, page.file);
  const text = pageOf(page);
  if (!check) writeFileSync(path, text);
  else if (!existsSync(path)) problems.push(`docs/design/diagrams/${page.file} is missing`);
  else if (readFileSync(path, 'utf8') !== text) problems.push(`docs/design/diagrams/${page.file} is stale`);
}
for (const file of readdirSync(folder)) {
  if (pages.some((page) => page.file === file)) continue;
  if (check) problems.push(`docs/design/diagrams/${file} belongs to no machine`);
  else rmSync(join(folder, file));
}

if (problems.length > 0) {
  console.log(
    `${problems.join('\n')}\nIf a machine was meant to change: node .ci/diagrams.mjs, and commit docs/design/diagrams/.`,
  );
  process.exitCode = 1;
} else {
  console.log(`${pages.length} diagrams ${check ? 'are up to date' : 'written'}`);
}

/** @param {typeof pages[number]} page */
function pageOf({ title, about, machine, events }) {
  return `# ${title}

${about} Written by \`.ci/diagrams.mjs\` from the machine itself.

## Diagram

\`\`\`mermaid
${mermaidOf(machine)}\`\`\`

## Every state against every event

\`${ignored}\` means that the state ignores the event; *stays*, that it takes it without being left.

${gridOf(machine, events)}
## Transitions

${transitionsOf(machine)}`;
}
