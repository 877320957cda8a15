/** What may be watched more than once, or too long: S2, W3, I4, P2, P4, E1 and F3 where much happens. Real sessions, real sockets. */
import { afterEach, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/contract/journal.js';
import { createInspectorServer, type InspectorServer } from '../../../src/inspect/server/index.js';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { createConversation, createSupervisor, defineTool } from '../../../src/runtime/index.js';
import { scriptedProvider, VirtualClock } from '../../../src/testing/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { decodeJsonLine } from '../../../src/wire/index.js';
import { expectNoHarm } from '../../runtime/no-harm.js';
import { stage } from '../../runtime/stage.js';
import { conversationOf, findingsOf, problemsOf, stepsOf } from '../view/frames.js';
import { PageReader } from './page-reader.js';

expectNoHarm();

const servers: InspectorServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function inspector(options: Parameters<typeof createInspectorServer>[0] = {}) {
  const clock = new VirtualClock();
  const server = await createInspectorServer({ clock, ...options });
  servers.push(server);
  return { server, clock, told: () => clock.advance(100, quiet) };
}

const never = defineTool({
  name: 'find_rooms',
  description: 'Looks for rooms.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => new Promise<string>(() => {}),
});

const ended = (frames: readonly Frame[]) => frames.some(({ type }) => type === 'ended');

/** All that a page was told when the server was closed. */
async function allFrom(server: InspectorServer, told: () => Promise<void>): Promise<readonly Frame[]> {
  await told();
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  await server.close();
  await page.until(ended);
  return page.frames;
}

/** The runs that a page was told of, each from its opening on. */
function runsOf(frames: readonly Frame[]): (readonly Frame[])[] {
  const runs: Frame[][] = [];
  for (const frame of frames) {
    if (frame.type === 'opening') runs.push([]);
    runs.at(-1)?.push(frame);
  }
  for (const run of runs) if (run.at(-1)?.type !== 'ended') run.push({ type: 'ended', why: '' });
  return runs;
}

test('what was watched, and detached from, can be watched again, with what is said', async () => {
  const { server, told } = await inspector();
  const { session, emit } = await stage({ journal: server.journal() });
  server.watch(session)();
  await emit({ type: 'text', text: 'unseen' });
  server.watch(session);
  await emit({ type: 'text', text: 'seen' });
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  expect(conversationOf(frames).map(({ text }) => text)).toContain('seen');
  await session.close();
});

test.each([true, false])(
  'who is watched by a supervisor and for itself is told of once, recorded: %j',
  async (isRecorded) => {
    const { server, clock, told } = await inspector();
    const supervisor = createSupervisor({ clock, ...(isRecorded ? { journal: server.journal() } : {}) });
    const far = scriptedProvider();
    const session = await supervisor.startSession({ provider: far, connect: { model: 'scripted' }, tools: [never] });
    const ends = [server.watch(supervisor), server.watch(session), server.watch(session)];
    far.emit({ type: 'text', text: 'Hello.' });
    far.emit({ type: 'tool_call', id: 'c1', name: 'find_rooms', arguments: '{}' });
    await quiet();
    // one that goes takes nothing from the others
    ends[0]?.();
    ends[2]?.();
    far.emit({ type: 'interrupted' });
    far.emit({ type: 'text', text: 'Pardon?' });
    await quiet();
    const frames = await allFrom(server, told);
    expect(problemsOf(frames)).toEqual([]);
    expect(stepsOf(frames).filter(({ event }) => event === 'interrupted').length).toBe(2);
    expect(conversationOf(frames).map(({ text }) => text)).toEqual([
      'Hello.',
      'find_rooms({})',
      'the user spoke over it',
      'Pardon?',
    ]);
    const stopped = supervisor.shutdown({ deadlineMs: 0 });
    await clock.advance(10_000, quiet);
    await stopped;
  },
);

test('text that goes by without a record is counted among the steps, too', async () => {
  const { server, told } = await inspector({ maxSteps: 30 });
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  const one = await stage({ journal: server.journal() });
  const other = await stage({ journal: server.journal() });
  server.watch(one.session);
  server.watch(other.session);
  for (let at = 0; at < 100; at++) {
    await one.emit({ type: 'text', text: `${at} ` });
    await other.emit({ type: 'text', text: `${at} ` });
  }
  await told();
  await server.close();
  await page.until(ended);
  const runs = runsOf(page.frames);
  expect(runs.length).toBeGreaterThan(1);
  for (const run of runs) {
    expect(problemsOf(run)).toEqual([]);
    expect(stepsOf(run).length).toBeLessThanOrEqual(30);
  }
  await one.session.close();
  await other.session.close();
});

test('what comes in one moment is many steps, not one without a bound, and what is kept stays within the bytes', async () => {
  const { server, told } = await inspector({ maxBytes: 100_000 });
  const { session, emit } = await stage({ journal: server.journal() });
  server.watch(session);
  // no timer runs meanwhile
  for (let at = 0; at < 400; at++) {
    await emit(...Array.from({ length: 20 }, () => ({ type: 'text', text: 'x'.repeat(1500) }) as const));
  }
  await told();
  const page = new PageReader(server.url);
  await page.until((frames) => stepsOf(frames).some(({ event }) => event === 'text'));
  await server.close();
  await page.until(ended);
  for (const { edits } of stepsOf(page.frames)) expect(edits.length).toBeLessThanOrEqual(20);
  // of 12 MB: what came since it began anew, and the steps that waited then
  expect(JSON.stringify(page.frames).length).toBeLessThan(12_000_000 * 0.75);
  await session.close();
});

test('another run is shown instead of the process, and nothing of that', async () => {
  const { server, told } = await inspector();
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  const { session, emit } = await stage({ journal: server.journal() });
  server.watch(session);
  const [first] = memoryJournalOf('cnv');
  await server.open({
    title: 'another',
    source: 'journal',
    run: async (presentation) => {
      presentation.record(first as JournalRecord);
      await emit({ type: 'text', text: 'meanwhile' });
      return 'it is over';
    },
  });
  await emit({ type: 'text', text: 'afterwards' }, { type: 'turn_complete' });
  await session.close();
  await told();
  await page.until(ended);
  await server.close();
  await page.until(() => false);
  const shown = runsOf(page.frames).at(-1) ?? [];
  expect(problemsOf(shown)).toEqual([]);
  expect(stepsOf(shown).map(({ actor }) => actor)).toEqual(['cnv']);
  expect(shown.at(-1)).toEqual({ type: 'ended', why: 'it is over' });
});

function memoryJournalOf(id: string): readonly JournalRecord[] {
  const journal = memoryJournal({ payloads: 'keep' });
  createConversation({ journal, id, clock: new VirtualClock() });
  return journal.records;
}

test('a life that began before its journal was shown breaks nothing; one that never began does', async () => {
  const { server, told } = await inspector();
  const whole = memoryJournal({ payloads: 'keep' });
  const { session, emit } = await stage({ journal: whole, tools: [never] });
  await emit({ type: 'tool_call', id: 'c1', name: 'find_rooms', arguments: '{}' });
  const before = whole.records.length;
  await emit({ type: 'interrupted' });
  await session.close();
  const inner = memoryJournal({ payloads: 'keep' });
  const append = (journal: { append: typeof inner.append }, records: readonly JournalRecord[]) => {
    for (const { seq: _, ...entry } of records) journal.append(entry);
  };
  append(inner, whole.records.slice(0, before));
  append(server.journal(inner), whole.records.slice(before));
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  expect(findingsOf(frames)).toEqual([]);

  const strict = await inspector();
  append(strict.server.journal(), whole.records.slice(before));
  expect(findingsOf(await allFrom(strict.server, strict.told)).map(({ invariant }) => invariant)).toContain('D9');
});

test('ids that a far side has made long are shown short, each still its own', async () => {
  const { server, told } = await inspector();
  const { session, emit } = await stage({ journal: server.journal(), tools: [never] });
  server.watch(session);
  for (const last of ['a', 'b']) {
    const id = `${'i'.repeat(100_000)}${last}`;
    await emit({ type: 'tool_call', id, name: 'find_rooms', arguments: '{}' });
  }
  await emit({ type: 'interrupted' });
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  expect(new Set(stepsOf(frames).map(({ actor }) => actor)).size).toBe(3);
  expect(conversationOf(frames).filter(({ who, how }) => who === 'call' && how === 'withdrawn').length).toBe(2);
  for (const step of stepsOf(frames)) expect(JSON.stringify(step).length).toBeLessThan(10_000);
  await session.close();
});

test('where a conversation begins anew on the page, what changes of its old messages is told as new', async () => {
  const { server, clock, told } = await inspector({ maxSteps: 220 });
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  const conversation = createConversation({ journal: server.journal(), clock, id: 'notes' });
  conversation.apply(decodeJsonLine('{"init":{"conversationId":"c","requestId":"r"}}'));
  const act = async (action: object) => {
    conversation.apply(decodeJsonLine(JSON.stringify({ clientActions: { actions: [action] } })));
    await told();
  };
  await act({ createTask: { task: { id: 't' } } });
  for (let at = 0; at < 225; at++) {
    const messages = [{ id: `m${at}`, agentOutput: { text: `text ${at}` } }];
    await act({ addMessagesToTask: { taskId: 't', messages } });
  }
  const message = { id: 'm0', agentOutput: { text: 'changed' } };
  await act({ updateTaskMessage: { taskId: 't', message, mask: 'agentOutput.text' } });
  await server.close();
  await page.until(ended);
  const runs = runsOf(page.frames);
  expect(runs.length).toBeGreaterThan(1);
  for (const run of runs) expect(problemsOf(run)).toEqual([]);
  expect(conversationOf(runs.at(-1) ?? []).map(({ text }) => text)).toContain('changed');
  conversation.close();
});

test('where actors are not kept, those that others stand under are', async () => {
  const { server, clock, told } = await inspector({ maxSteps: 60 });
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  const supervisor = createSupervisor({ clock, journal: server.journal() });
  server.watch(supervisor);
  const fars = [];
  for (let at = 0; at < 35; at++) {
    const far = scriptedProvider();
    fars.push(far);
    await supervisor.startSession({ provider: far, connect: { model: 'scripted' } });
    await told();
  }
  await server.close();
  await page.until(ended);
  const [, ...runs] = runsOf(page.frames);
  expect(runs.length).toBeGreaterThan(0);
  for (const run of runs) {
    expect(problemsOf(run)).toEqual([]);
    expect(stepsOf(run)[0]?.actor).toBe(supervisor.id);
  }
  const stopped = supervisor.shutdown({ deadlineMs: 0 });
  await clock.advance(10_000, quiet);
  await stopped;
});

test('a text of any kind comes through as text, cut where it is long', async () => {
  const { server, told } = await inspector();
  const { session, emit } = await stage({ journal: server.journal() });
  server.watch(session);
  const texts = [
    '</script><script>alert(1)</script>',
    '\u0000\u0007\u001b[31m\r\ndata: {"type":"ended"}\n\n',
    '\u202egnirts a\u2066',
    'alone \ud83d and \udc00',
    '\u2028\u2029',
    'x'.repeat(10_000_000),
  ];
  for (const text of texts) await emit({ type: 'text', text }, { type: 'turn_complete' });
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  const cutTexts = texts.map((text) => (text.length > 2000 ? `${text.slice(0, 1999)}…` : text));
  expect(conversationOf(frames).map(({ text }) => text)).toEqual(cutTexts);
  await session.close();
});
