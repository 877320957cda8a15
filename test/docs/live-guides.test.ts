/** The hosts that the guides of the live drivers begin with: each runs as it stands, but for the address of the service. */
import { rmSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { geminiLoopback, geminiScript, openaiLoopback } from '../../src/testing/loopback/index.js';
import { snippetsOf, writeSnippets } from './snippets.js';

const call = { name: 'get_weather', city: 'London' };
const key = 'sk-of-no-use-0123456789';
const folders: string[] = [];

afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs the first block of a guide against a service at `baseUrl`, and gives what it printed. */
async function printedBy(page: string, driver: string, baseUrl: string): Promise<string> {
  const [snippet] = snippetsOf(page);
  if (snippet === undefined) throw new TypeError(`${page} has no block`);
  expect(snippet.code.split('\n').length, 'lines of the host').toBeLessThanOrEqual(32);
  const options = `${driver}({ apiKey`;
  expect(snippet.code.split(options)).toHaveLength(2);
  const code = snippet.code.replace(options, `${options}, baseUrl: '${baseUrl}'`);
  const { folder, files } = writeSnippets([{ ...snippet, code }]);
  folders.push(folder);
  let printed = '';
  const take = (text: unknown) => {
    printed += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(take),
    vi.spyOn(console, 'log').mockImplementation((text) => void take(`${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text) => void take(`error: ${text}\n`)),
  ];
  try {
    await import(/* @vite-ignore */ [...files.keys()][0] ?? '');
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return printed;
}

test('OpenAI Realtime', async () => {
  vi.stubEnv('OPENAI_API_KEY', key);
  await using fake = await openaiLoopback({
    keys: [key],
    reply: ({ items }) => {
      const last = items.at(-1);
      if (last?.type === 'function_call_output') return { text: `The service says: ${String(last.output)}` };
      return { calls: [{ name: call.name, arguments: JSON.stringify({ city: call.city }) }] };
    },
  });
  const printed = await printedBy('docs/guides/openai-realtime.md', 'openaiRealtime', fake.baseUrl);
  expect(printed).toBe('[get_weather]\nThe service says: It is foggy in London.');
  expect(fake.violations).toEqual([]);
});

test('Gemini Live', async () => {
  vi.stubEnv('GEMINI_API_KEY', key);
  await using fake = await geminiLoopback({
    keys: [key],
    model: function* () {
      const [answer] = yield geminiScript.call({ name: call.name, args: { city: call.city } });
      yield geminiScript.say(`The service says: ${String(answer?.response.output)}`);
    },
  });
  const printed = await printedBy('docs/guides/gemini-live.md', 'geminiLive', fake.url);
  expect(printed).toBe('[get_weather]\nThe service says: It is foggy in London.');
  expect(fake.violations).toEqual([]);
});
