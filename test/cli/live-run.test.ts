/** `commitpoint run` with a live service, as a process, against the fakes (V1 to V5 of `src/cli/live-conversation.ts`). */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readJournalFile } from '../../src/journals/file/index.js';
import { verify } from '../../src/verify/index.js';
import { bundledCommand, Child } from './live-child.js';
import { dialects, type Far, gemini, key, type LiveServiceCase, type Manners, openai } from './live-services.js';

let folder: string;
beforeAll(async () => {
  folder = await bundledCommand();
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const children: Child[] = [];
const fars: Far[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    await child.kill();
    // in whatever was printed, whatever went wrong
    expect(child.out + child.err).not.toContain(key);
  }
  for (const far of fars.splice(0)) {
    await far.close();
    expect(far.violations, 'what the command sent').toEqual([]);
  }
});

/** The command with a good key in its environment, against a fake. */
async function against(service: LiveServiceCase, args: readonly string[], manners: Manners = {}) {
  const far = await service.serve({ key, ...manners });
  fars.push(far);
  return { far, child: started(service, [...args, '--base-url', far.baseUrl], { [service.keyVariable]: key }) };
}

function started(service: LiveServiceCase, args: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = new Child(folder, [...service.args, ...args], env);
  children.push(child);
  return child;
}

const connected = /write, a line at a time/;

describe.each([openai, gemini])('$name', (service) => {
  test('--text says one thing, lets a tool run, and ends after the answer', async () => {
    const { child } = await against(service, ['--text', 'time']);
    expect(await child.ended).toBe(0);
    expect(child.out).toMatch(/^It says: \d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
    expect(child.err).toMatch(/^\[current_time\]\n\[current_time\] \d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  });

  test('--text is the end of what is said: nobody can approve a call', async () => {
    const { child } = await against(service, ['--text', 'note']);
    expect(await child.ended).toBe(0);
    expect(child.out).toMatch(/^It says: .*there is nobody to approve it.*\n$/);
    expect(child.err).toContain('[keep_note] denied: there is nobody to approve it');
  });

  test('lines of a pipe are said one after another, each when the one before was answered', async () => {
    const { child } = await against(service, []);
    child.write('hello', '', 'time', 'bye');
    child.end();
    expect(await child.ended).toBe(0);
    expect(child.out).toMatch(/^You said: hello\nIt says: \S+Z\nYou said: bye\n$/);
  });

  test('the end of the lines ends a session in which nothing was said', async () => {
    const { child } = await against(service, []);
    child.end();
    expect(await child.ended).toBe(0);
    expect(child.out).toBe('');
  });

  test('a call that has to be approved waits for a line that says so', async () => {
    const { child } = await against(service, []);
    child.write('note');
    await child.prints('err', /\[keep_note\] \{"note":"milk"\}: may it\? y or n/);
    child.write('y');
    await child.prints('out', /It says: \{"notes":\["milk"\]\}\n/);
    child.write('note', 'no', 'y');
    child.end();
    expect(await child.ended).toBe(0);
    // a yes that nobody asked for is said
    expect(child.out).toMatch(/It says: .*the call was denied.*\nYou said: y\n$/);
  });

  test('--json prints the events of the session, a line each, and nothing else', async () => {
    const { child } = await against(service, ['--text', 'time', '--json']);
    expect(await child.ended).toBe(0);
    const events = child.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; sessionId: string; toolName?: string });
    const types = events.map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['tool_started', 'turn_complete']);
    // Gemini acknowledges a result by going on
    expect(new Set(types.filter((type) => type !== 'audio'))).toEqual(
      new Set(['tool_started', 'tool_completed', 'text', 'turn_complete']),
    );
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(child.err).toBe('');
  });

  test('Ctrl-C interrupts, the session goes on, and two of them end it', async () => {
    const { child } = await against(service, []);
    child.write('long');
    await child.prints('out', /Once/);
    child.ctrlC();
    await child.prints('err', /interrupts; Ctrl-C again ends\n\[interrupted\]/);
    child.write('hello');
    await child.prints('out', /You said: hello\n/);
    child.ctrlC();
    await child.prints('err', /\[interrupted\]\nCtrl-C again ends/);
    child.ctrlC();
    expect(await child.ended).toBe(0);
    expect(child.err).toMatch(/ends\n$/);
  });

  test('--text that is interrupted was not answered: 1', async () => {
    const { child } = await against(service, ['--text', 'long']);
    await child.prints('out', /Once/);
    child.ctrlC();
    expect(await child.ended).toBe(1);
    expect(child.err).toContain('[interrupted]');
  });

  test('Ctrl-C while it connects ends it: 1', async () => {
    const { far, child } = await against(service, ['--text', 'hello'], { hangs: true });
    await far.asksNow;
    child.ctrlC();
    expect(await child.ended).toBe(1);
    expect([child.out, child.err]).toEqual(['', 'session closed while connecting\n']);
  });

  test('without a key it says what to set, and connects to nothing: 2', async () => {
    const child = started(service, ['--text', 'hello'], { [service.keyVariable]: '' });
    expect(await child.ended).toBe(2);
    expect(child.out).toBe('');
    expect(child.err).toContain(`set ${service.keyVariable}`);
  });

  test('a refused key: the reason of the service, without the key: 2', async () => {
    const { far, child } = await against(service, ['--text', 'hello'], { key: 'another-key' });
    expect(await child.ended).toBe(2);
    expect(far.asked()).toBe(1);
    expect(child.out).toBe('');
    expect(child.err).toMatch(/API key/);
  });

  test.each(['', 'sk-with a blank', 'sk-\u00e4'])('a key that cannot be one (%j) is not shown: 2', async (bad) => {
    const child = started(service, ['--text', 'hello'], { [service.keyVariable]: bad });
    expect(await child.ended).toBe(2);
    if (bad !== '') expect(child.err).not.toContain(bad);
  });

  test('a server that is gone: 1 in the midst of a session, 2 where there never was one', async () => {
    const { far, child } = await against(service, []);
    child.write('long');
    await child.prints('out', /Once/);
    far.cut();
    expect(await child.ended).toBe(1);
    expect(child.err).toMatch(/the session ended: far_side/);
    await far.close();
    const second = started(service, ['--text', 'hello', '--base-url', far.baseUrl], { [service.keyVariable]: key });
    expect(await second.ended).toBe(2);
    expect(second.err).toMatch(/^connect to .* failed: /);
  });

  test('--journal records a session that verifies', async () => {
    const path = join(folder, `${service.name}.journal`);
    const { child } = await against(service, ['--text', 'time', '--journal', path]);
    expect(await child.ended).toBe(0);
    expect(await verify(readJournalFile(path))).toMatchObject({
      findings: [],
      sessions: 1,
      calls: 1,
      unfinished: { sessions: 0, calls: 0 },
    });
    expect(await readFile(path, 'latin1')).not.toContain(key);
  });

  test('tells that it is connected, and what a session needs to be told', async () => {
    const { child } = await against(service, ['--model', 'some-model']);
    await child.prints('err', connected);
    expect(child.err).toMatch(/^(openai-realtime|gemini-live), some-model: /);
  });
});

describe.each(dialects)('dialect $name', (service) => {
  test('--text with a tool', async () => {
    const { child } = await against(service, ['--text', 'time']);
    expect(await child.ended).toBe(0);
    expect(child.out).toMatch(/^It says: \S+Z\n$/);
  });

  test('without a key it says what to set: 2', async () => {
    const child = started(service, [], {});
    expect(await child.ended).toBe(2);
    expect(child.err).toContain(`set ${service.keyVariable}`);
  });
});

describe('other ways to say it', () => {
  test('Gemini takes the key of GOOGLE_API_KEY, too', async () => {
    const far = await gemini.serve({ key });
    fars.push(far);
    const child = started(gemini, ['--text', 'hello', '--base-url', far.baseUrl], { GOOGLE_API_KEY: key });
    expect(await child.ended).toBe(0);
  });

  test.each([
    [openai, ['--dialect', 'azure']],
    [openai, ['--dialect', 'azure-voice-live']],
  ])('a service that is at another address for everybody asks for it: 2', async (service, args) => {
    const child = started(service, args, { AZURE_OPENAI_API_KEY: key, AZURE_VOICELIVE_API_KEY: key });
    expect(await child.ended).toBe(2);
    expect(child.err).toMatch(/set AZURE_\w+_ENDPOINT/);
  });

  test.each([
    [openai, ['--dialect', 'other']],
    [openai, ['--text', ' ']],
    [openai, ['--recording', 'x', '--text', 'hello']],
    [openai, ['--base-url', 'nowhere']],
    [gemini, ['--dialect', 'azure']],
    [gemini, ['--model', 'no model']],
  ])('what it cannot use ends with 2: $name %j', async (service, args) => {
    const child = started(service, args, { [service.keyVariable]: key });
    expect(await child.ended).toBe(2);
    expect(child.out).toBe('');
    expect(child.err).not.toBe('');
  });
});
