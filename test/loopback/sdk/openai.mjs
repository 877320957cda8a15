// Proves the fake of OpenAI Realtime from outside: the vendor's own client completes a tool round against it, cuts a
// response, and knows every frame that the fake sends by its own schema. By hand, not a part of the tests:
//
//     node test/loopback/sdk/openai.mjs [prefix]
//
// It installs the client, and a Node that the client supports, into a scratch folder (or `prefix`, where they stay).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const versions = { '@openai/agents-realtime': '0.20.0', zod: '4' };
const root = fileURLToPath(new URL('../../..', import.meta.url));
const kept = process.argv[2];
const prefix = kept ?? mkdtempSync(join(tmpdir(), 'commitpoint-sdk-'));

/** What the client does; it prints one line a check. */
const client = `
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { z } from 'zod';

const [url, model] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const entry = require.resolve('@openai/agents-realtime');
const { parseRealtimeEvent } = await import(new URL('openaiRealtimeEvents.mjs', pathToFileURL(entry)));

const check = (name, ok, detail = '') => {
  console.log((ok ? 'ok      ' : 'FAILED  ') + name + (detail === '' ? '' : ': ' + detail));
  if (!ok) process.exitCode = 1;
};
const inputs = [];
const weather = tool({
  name: 'get_weather',
  description: 'Looks up the weather.',
  parameters: z.object({ city: z.string() }),
  execute: async (input) => {
    inputs.push(input);
    return 'foggy in ' + input.city;
  },
});
const agent = new RealtimeAgent({ name: 'probe', instructions: 'Be brief.', tools: [weather] });
const transport = new OpenAIRealtimeWebSocket({ url });
const session = new RealtimeSession(agent, { transport, model, config: { outputModalities: ['audio'] } });
const errors = [];
const unknown = new Set();
const types = new Map();
session.on('error', ({ error }) => errors.push(JSON.stringify(error)));
session.on('transport_event', (event) => {
  types.set(event.type, (types.get(event.type) ?? 0) + 1);
  if (event.event_id && parseRealtimeEvent({ data: JSON.stringify(event) }).isGeneric) unknown.add(event.type);
});
const until = async (holds) => {
  const end = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return true;
};
const done = () => types.get('response.done') ?? 0;

await session.connect({ apiKey: 'sk-probe' });
check('connects', await until(() => types.has('session.updated')));
session.sendMessage('What is the weather in London?');
check('a tool round: the tool is called', await until(() => inputs.length > 0), JSON.stringify(inputs));
check('a tool round: the answer comes', await until(() => done() >= 2), JSON.stringify(session.history.at(-1)?.content));
check('the result is part of the history', session.history.some((item) => item.type === 'function_call' && item.output === 'foggy in London'));
session.sendMessage('Tell me a long story.');
check('a long response begins', await until(() => (types.get('response.output_audio.delta') ?? 0) > 3));
session.interrupt();
check('an interruption ends it', await until(() => done() >= 3));
check('and it is truncated', await until(() => types.has('conversation.item.truncated')));
session.sendMessage('And now two things at once.');
check('two calls in one response', await until(() => inputs.length >= 3), String(inputs.length));
check('and their answer', await until(() => done() >= 5));
session.close();
check('no error', errors.length === 0, errors.join(' '));
check('every frame is one that the client knows', unknown.size === 0, [...unknown].join(' ') || [...types.keys()].length + ' types');
`;

const { module: loopback } = await runnerImport(join(root, 'src/testing/loopback/openai/index.ts'), {
  root,
  logLevel: 'error',
});
const story = Array.from({ length: 200 }, (_, n) => `word${n}`).join(' ');
const call = { name: 'get_weather', arguments: '{"city":"London"}' };
const fake = await loopback.openaiLoopback({
  pace: { ms: 2 },
  keys: ['sk-probe'],
  reply: ({ index }) =>
    [
      { text: 'One moment.', calls: [call] },
      { text: 'It is foggy in London.' },
      { text: story, audioMs: 60_000 },
      { calls: [call, call] },
      { text: 'Both foggy.' },
    ][index],
});
let failed = true;
try {
  const node = join(prefix, 'node_modules', nodePackage(), 'bin', 'node');
  if (!existsSync(node) || !existsSync(join(prefix, 'node_modules', '@openai/agents-realtime'))) install();
  const file = join(prefix, 'client.mjs');
  writeFileSync(file, client);
  const about = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`@openai/agents-realtime ${versions['@openai/agents-realtime']} on Node ${about}, against the fake`);
  const status = await new Promise((resolve) => {
    const child = spawn(node, [file, `${fake.baseUrl}/realtime?model=gpt-realtime`, 'gpt-realtime'], {
      stdio: 'inherit',
    });
    const timer = setTimeout(() => child.kill(), 60_000);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
  const { violations } = fake;
  console.log(`${violations.length === 0 ? 'ok      ' : 'FAILED  '}the fake had nothing against what the client sent`);
  for (const violation of violations) console.log(`          ${violation}`);
  failed = status !== 0 || violations.length > 0;
} finally {
  await fake.close();
  if (kept === undefined) rmSync(prefix, { recursive: true, force: true });
}
console.log(failed ? '\nFAILED' : '\npassed');
process.exitCode = failed ? 1 : 0;

function nodePackage() {
  return `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

function install() {
  const names = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const flags = ['--prefix', prefix, '--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel', 'error'];
  const { status } = spawnSync('npm', ['install', ...flags, ...names, `${nodePackage()}@22`], { stdio: 'inherit' });
  if (status !== 0) throw new RangeError('the client could not be installed');
}
