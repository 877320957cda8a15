/** `commitpoint inspect` as a process: what it prints, how it ends, and what its page tells. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { demoScenario } from '../../../src/cli/demo-scenario.js';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { PageReader } from '../server/page-reader.js';
import { problemsOf, statesOf } from '../view/frames.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let scratch: string;
let scenario: string;

// bundled from the sources, so that no stale `dist/` is tried
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'inspect-command-'));
  scenario = join(scratch, 'demo.jsonl');
  await writeFile(scenario, demoScenario);
  await copyFile(join(root, 'package.json'), join(scratch, 'package.json'));
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: join(root, 'src/cli/main.ts'),
      outDir: join(scratch, 'dist/src/cli'),
      minify: false,
      target: 'es2022',
    },
  });
}, 60_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

interface Command {
  readonly child: ChildProcess;
  readonly firstLine: Promise<string>;
  readonly ended: Promise<{ readonly status: number | null; readonly out: string; readonly err: string }>;
}

function run(...args: string[]): Command {
  const child = spawn(process.execPath, [join(scratch, 'dist/src/cli/main.js'), 'inspect', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  child.stderr?.on('data', (piece: Buffer) => {
    err += piece;
  });
  let told: (line: string) => void = () => {};
  const firstLine = new Promise<string>((resolve) => {
    told = resolve;
  });
  child.stdout?.on('data', (piece: Buffer) => {
    out += piece;
    const end = out.indexOf('\n');
    if (end >= 0) told(out.slice(0, end));
  });
  const ended = new Promise<{ status: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (status) => {
      running.delete(child);
      told(out);
      resolve({ status, out, err });
    });
  });
  return { child, firstLine, ended };
}

const framesIn = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame);

test('--json prints what the page is told, and ends', async () => {
  const { status, out, err } = await run(scenario, '--json').ended;
  expect([status, err]).toEqual([0, '']);
  const frames = framesIn(out);
  expect(problemsOf(frames)).toEqual([]);
  expect(frames[0]).toMatchObject({ title: 'A booking assistant is spoken over', source: 'scenario', isLive: false });
  expect(statesOf(frames).get('ses_simulated/c2')).toBe('abandoned.settled');
});

test('the address comes first; the page tells the run until the command is interrupted; --connect gets the same', async () => {
  const command = run(scenario);
  const url = await command.firstLine;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
  const page = new PageReader(url);
  await page.until((frames) => frames.some(({ type }) => type === 'ended'));
  page.close();
  const relayed = await run('--connect', url, '--json').ended;
  expect(relayed.status).toBe(0);
  expect(framesIn(relayed.out)).toEqual(page.frames);
  expect(await run('--connect', url).ended).toMatchObject({ status: 0, out: `${url}\n` });
  command.child.kill('SIGINT');
  expect(await command.ended).toMatchObject({ status: 0, out: `${url}\n`, err: '' });
}, 20_000);

test.each<[string, string[], RegExp]>([
  ['no file', [], /invalid arguments: expected a file, or --connect URL/],
  ['both', ['x.jsonl', '--connect', 'http://127.0.0.1:1/?token=x'], /expected a file, or --connect URL/],
  ['a file that is not there', ['nowhere.jsonl'], /nowhere\.jsonl: cannot be read/],
  ['an address elsewhere', ['--connect', 'http://example.org/?token=x'], /invalid --connect/],
  ['an address without a token', ['--connect', 'http://127.0.0.1:1/'], /invalid --connect/],
  [
    'an address with more than a token',
    ['--connect', 'http://127.0.0.1:1/?token=0123456789abcdef|calc'],
    /invalid --connect/,
  ],
  [
    'nobody there',
    ['--connect', 'http://127.0.0.1:2/?token=0123456789abcdef'],
    /127\.0\.0\.1:2: cannot be read: .*ECONNREFUSED/,
  ],
])('%s: status 2, and why', async (_, args, why) => {
  const { status, out, err } = await run(...args).ended;
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(why);
});

test.skipIf(process.platform === 'win32')('a pipe is read once, from its beginning', async () => {
  const pipe = join(scratch, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const command = run(pipe, '--json');
  await writeFile(pipe, demoScenario);
  const { status, out, err } = await command.ended;
  expect([status, err]).toEqual([0, '']);
  expect(problemsOf(framesIn(out))).toEqual([]);
});

test('an empty file is no run', async () => {
  const file = join(scratch, 'empty.jsonl');
  await writeFile(file, '\n');
  const { status, out, err } = await run(file).ended;
  expect([status, out]).toEqual([2, '']);
  expect(err).toContain('expected a journal, a scenario or response events, found an empty file');
});

test('a scenario with a step that is impossible ends with status 2 where that step stands', async () => {
  const file = join(scratch, 'impossible.jsonl');
  await writeFile(file, '{"scenario":"impossible"}\n{"tool":"c1","resolve":"x"}\n');
  const { status, err } = await run(file, '--json').ended;
  expect(status).toBe(2);
  expect(err).toContain(`${file}:2: impossible step`);
});

test('a port that is none ends with status 2', async () => {
  const { status, out, err } = await run(scenario, '--port', 'x').ended;
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(/invalid --port: expected a port/);
});

test('a counterexample of the explorer says that it is one', async () => {
  const file = join(scratch, 'counterexample.jsonl');
  await writeFile(file, '{"scenario":"D3: a call went on after the interruption"}\n{"far":{"type":"interrupted"}}\n');
  const { out } = await run(file, '--json').ended;
  expect(framesIn(out)[0]).toMatchObject({
    source: 'counterexample',
    title: 'D3: a call went on after the interruption',
  });
});
