#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { isCommitpointError, messageOf } from '../contract/errors.js';
import { farAlphabet } from '../verify/explore/index.js';
import { type DemoOptions, demo } from './commands/demo.js';
import { type DiagramOptions, diagram } from './commands/diagram.js';
import { type ExploreOptions, exploreAll } from './commands/explore.js';
import { type FoldOptions, foldFiles } from './commands/fold.js';
import { type InspectOptions, inspect } from './commands/inspect.js';
import { type ReplayCommandOptions, replayJournal } from './commands/replay.js';
import { type RunOptions, run } from './commands/run.js';
import { type SimulateOptions, simulateFile } from './commands/simulate.js';
import { type VerifyCommandOptions, verifyJournals } from './commands/verify.js';
import type { ExitStatus } from './exit.js';
import { environmentHelp } from './live-service.js';
import { complain } from './output.js';

/** The command line: the one place that chooses. */
function commandLine(done: (status: ExitStatus) => void): Command {
  const program = new Command('commitpoint')
    .description('Duplex sessions and conversations of AI agents as state machines that can be checked.')
    .version(version())
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });

  program
    .command('demo')
    .description('a duplex session with tools and an interruption, and a conversation with a rollback, drawn')
    .option('--json', 'print the trace of the session as JSON lines')
    .action(async (options: DemoOptions) => done(await demo(options)));

  program
    .command('simulate')
    .description('a duplex session against a scripted far side, in virtual time')
    .argument('<file>', 'scenario file, JSON lines (- for standard input)')
    .option('--json', 'print the trace as JSON lines')
    .option('--check', 'compare with the expectations of the file, and check the invariants')
    .action(async (file: string, options: SimulateOptions) => done(await simulateFile(file, options)));

  program
    .command('fold')
    .description('response streams, each folded into the conversation that it makes')
    .argument('<file...>', 'files of response events (- for standard input)')
    .option('--format <format>', 'jsonl (one event a line, ends and expectations among them), sse or binary', 'jsonl')
    .option('--mode <mode>', 'tolerant, strict or warp', 'tolerant')
    .option('--set <policy=value>', 'one policy: nested, onDoomedCommit, onFailure or onCancel', collect, [])
    .option('--json', 'print the results as JSON lines')
    .action(async (files: string[], options: FoldOptions) => done(await foldFiles(files, options)));

  program
    .command('run')
    .description('a text session with a live service and two example tools, or a recorded one with stub tools')
    .requiredOption('--provider <name>', 'openai or gemini')
    .option('--dialect <name>', 'openai only: openai, azure, azure-voice-live or xai')
    .option('--model <name>', 'the model; a common one when absent')
    .option('--text <text>', 'what to say; ends after the answer. Lines of standard input when absent')
    .option('--base-url <url>', 'where the service is, if not at its common address')
    .option('--journal <file>', 'record every step of the session in a file')
    .option('--recording <file>', 'no live service: a wire log, JSON lines {"dir":"s2c"|"c2s","data":…}')
    .option('--json', 'print the events as JSON lines')
    .addHelpText('after', `\n${environmentHelp}`)
    .action(async (options: RunOptions) => done(await run(options)));

  program
    .command('explore')
    .description('every interleaving of a session and its calls, or of a response stream, up to a bound')
    .option(
      '--tools <n>',
      'how many calls the far side makes at most, each of a tool of one of the three policies',
      '2',
    )
    .option('--depth <n>', 'how many things may happen one after another; any number when absent')
    .option('--states <n>', 'how many different states are met at most', '2000000')
    .option('--far <events>', `what the far side does, with commas between: some of ${farAlphabet.join(', ')}`)
    .option('--durable', 'with a durable journal')
    .option('--stream', 'a response stream and its transactions instead')
    .option('--mode <mode>', 'with --stream: tolerant, strict or warp', 'tolerant')
    .option('--set <policy=value>', 'with --stream: one policy, as of fold', collect, [])
    .option('--json', 'print the violations and the counts as JSON lines')
    .action((options: ExploreOptions) => done(exploreAll(options)));

  program
    .command('verify')
    .description('journals, each checked against every invariant and against the machines')
    .argument('<journal...>', 'files that a journal was written to; names that end with .jsonl, and -, are JSON lines')
    .option('--json', 'print the findings and the verdicts as JSON lines')
    .action(async (paths: string[], options: VerifyCommandOptions) => done(await verifyJournals(paths, options)));

  program
    .command('replay')
    .description('where everything stood at a record, rebuilt from a journal alone')
    .argument('<journal>', 'a file that a journal was written to; a name that ends with .jsonl, and -, is JSON lines')
    .option('--at <n>', 'the number of the last record to take; all of them when absent')
    .option('--json', 'print sessions and conversations as JSON lines')
    .action(async (path: string, options: ReplayCommandOptions) => done(await replayJournal(path, options)));

  program
    .command('inspect')
    .description(
      'a local page on a run: a scenario, a counterexample of explore, response events, a journal, or a process',
    )
    .argument('[file]', 'a scenario, response events, or a journal (JSON lines, or as a journal writes it)')
    .option('--connect <url>', 'instead: what createInspectorServer of another process gave as its url')
    .option('--port <n>', 'where the page is, on 127.0.0.1', '0')
    .option('--no-open', 'open no browser')
    .option('--json', 'print what the page is told as JSON lines, and end')
    .action(async (file: string | undefined, options: InspectOptions) => done(await inspect(file, options)));

  program
    .command('diagram')
    .description('the machines as they run')
    .argument(
      '[machine]',
      'session, tool-invocation, response-stream, transaction or supervisor; all of them when absent',
    )
    .option('--format <format>', 'mermaid or json', 'mermaid')
    .option('--json', 'as --format json')
    .action((machine: string | undefined, options: DiagramOptions) => done(diagram(machine, options)));

  return program;
}

/** An option that may come more than once. */
function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function main(args: readonly string[]): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  try {
    await commandLine((ended) => {
      status = ended;
    }).parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    // commander has said already what is wrong with the arguments
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(isCommitpointError(error) ? error.message : `commitpoint: ${messageOf(error)}`);
    return 2;
  }
}

// a reader that stops reading (`| head`) is no failure
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  complain(`standard output: ${error.message}`);
  process.exit(2);
});

process.exitCode = await main(process.argv.slice(2));
