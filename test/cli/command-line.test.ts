/** The command line as a process: statuses, what is printed where, and what it says of input that it cannot use. */
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = '{"far":{"type":"text","text":"hello"}}';

let scratch: string;

// bundled from the sources, so that no stale `dist/` is tried; its place below the manifest is that of `dist/`
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'command-line-'));
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
  await mkdir(join(scratch, 'folder'));
}, 60_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in the scratch folder. `read`: how many chunks of its output are read before the pipe is closed. */
function commitpoint(args: readonly string[], { input = '', read = Number.POSITIVE_INFINITY } = {}): Promise<Ran> {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', ...args], { cwd: scratch });
  let [out, err, chunks] = ['', '', 0];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
    if (++chunks === read) child.stdout.destroy();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, out, err }));
  });
}

const file = async (name: string, ...lines: readonly string[]) => {
  await writeFile(join(scratch, name), `${lines.join('\n')}\n`);
  return name;
};

const lines = (out: string) => out.trimEnd().split('\n');

describe('every command', () => {
  test.each([['demo'], ['simulate'], ['run'], ['explore'], ['diagram']])('%s has --help', async (command) => {
    expect(await commitpoint([command, '--help'])).toMatchObject({ status: 0, err: '' });
  });

  test('--version prints the version and nothing else', async () => {
    const { status, out, err } = await commitpoint(['--version']);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    [['nope']],
    [['simulate']],
    [['simulate', 'a', 'b']],
    [['run']],
    [['run', '--provider', 'nobody', '--recording', 'x']],
    [['explore', '--tools', 'many']],
    [['explore', '--tools', '7']],
    [['explore', '--depth', '0']],
    [['explore', '--far', 'text,thunder']],
    [['explore', '--stream', '--mode', 'lax']],
    [['diagram', 'nothing']],
    [['diagram', '--format', 'svg']],
  ])('%j ends with 2, says why, and prints nothing', async (args) => {
    const { status, out, err } = await commitpoint(args);
    expect([status, out]).toEqual([2, '']);
    expect(err).not.toBe('');
  });

  test.each([
    [['demo', '--json']],
    [['simulate', '-', '--json', '--check']],
    [['run', '--provider', 'openai', '--recording', '-', '--json']],
    [['explore', '--tools', '1', '--json']],
    [['explore', '--stream', '--depth', '4', '--json']],
    [['diagram', '--format', 'json']],
    [['diagram', 'session', '--json']],
  ])('%j prints JSON lines and nothing else', async (args) => {
    const { status, out, err } = await commitpoint(args);
    expect([status, err]).toEqual([0, '']);
    for (const line of lines(out)) expect(JSON.parse(line)).toBeTypeOf('object');
  });
});

describe('simulate', () => {
  test('--check: 0 where the trace is as expected, 1 and a diff where it is not', async () => {
    const right = '{"expect":[{"provider":"connect"},{"event":{"type":"text","text":"h…"}}]}';
    const wrong = '{"expect":[{"provider":"connect"}]}';
    expect(
      await commitpoint(['simulate', await file('right', '{}', text, right, '{"clock":0}'), '--check']),
    ).toMatchObject({ status: 0, err: '' });
    const { status, err } = await commitpoint([
      'simulate',
      await file('wrong', '{}', text, wrong, '{"clock":0}'),
      '--check',
    ]);
    expect(status).toBe(1);
    expect(err).toMatch(/^wrong:3: /);
  });

  test.each([
    ['unknown key', ['{"scenario":"x"}', '{"nobody":1}'], 2],
    ['unknown key of the header', ['{"scenery":"x"}'], 1],
    ['no JSON', ['{}', '', '// a comment', '{"far":'], 4],
    ['no object', ['{}', '[]'], 2],
    ['impossible step', ['{}', text, '{"tool":"t1","resolve":"x"}'], 3],
    ['no place for any call', ['// first', '{"options":{"maxConcurrentTools":0}}'], 2],
    ['a tool without a name', ['{"tools":{"":{}}}'], 1],
  ])('%s: 2, with the file and the line', async (_what, content, line) => {
    const { status, out, err } = await commitpoint(['simulate', await file('bad', ...content), '--json']);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(new RegExp(`^bad:${line}: .+\n$`));
  });

  test.each([['not-there'], ['folder']])('a file that cannot be read (%s): 2, with its name', async (name) => {
    const { status, out, err } = await commitpoint(['simulate', name]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(new RegExp(`^${name}: cannot be read`));
  });

  test('takes a byte order mark and CR LF, and an empty file for a session that is only started', async () => {
    const { status, out } = await commitpoint(['simulate', '-', '--json'], { input: `\uFEFF{}\r\n\r\n${text}\r\n` });
    expect(status).toBe(0);
    expect(lines(out)[1]).toBe('{"event":{"type":"text","text":"hello"}}');
    expect(lines((await commitpoint(['simulate', '-', '--json'])).out)).toHaveLength(2);
  });

  test('nothing that a file holds reaches the terminal as a control character', async () => {
    const said = '{"far":{"type":"text","text":"\\u001b[2J"}}';
    const { out } = await commitpoint(['simulate', await file('escapes', '{"scenario":"\\u001b[31mred"}', said)]);
    const { err } = await commitpoint(['simulate', await file('raw', '{}', '\u001b[31mred')]);
    expect(out).toContain('red');
    expect(err).toContain('red');
    expect(out + err).not.toContain('\u001b');
  });

  test('a reader that goes away is no failure', async () => {
    const many = ['{}', ...Array.from({ length: 20_000 }, () => text)];
    const name = await file('long', ...many);
    expect(await commitpoint(['simulate', name, '--json'], { read: 1 })).toMatchObject({ status: 0, err: '' });
  });
});

describe('run', () => {
  test('a line that is no frame: 2, with the file and the line', async () => {
    const bad = await file('frames', '{"dir":"s2c","data":{"setupComplete":{}}}', '{"dir":"up","data":{}}');
    const { status, out, err } = await commitpoint(['run', '--provider', 'gemini', '--recording', bad]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^frames:2: /);
  });

  test('a recording that stops early ends with stream_ended, and says nothing to the terminal but text', async () => {
    const error = '{"dir":"s2c","data":{"type":"error","error":{"message":"a\\u001b[2Jb\\nc"}}}';
    const { status, out } = await commitpoint([
      'run',
      '--provider',
      'openai',
      '--recording',
      await file('early', error),
    ]);
    expect(status).toBe(0);
    expect(lines(out).at(-1)).toBe('ended: stream_ended');
    expect(lines(out)).toHaveLength(3);
    expect(out).not.toContain('\u001b');
  });
});
