/** A process looked at as it runs: S2 and S3 of `inspector-server.ts`, H1–H3, L1, L2, T1, I1, I2, P2. Real sessions, real sockets. */
import { afterEach, expect, test } from 'vitest';
import type { Journal, JournalEntry } from '../../../src/contract/journal.js';
import { createInspectorServer, type InspectorServer } from '../../../src/inspect/server/index.js';
import { stallMs } from '../../../src/inspect/server/listeners.js';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { createConversation, createSupervisor, defineTool } from '../../../src/runtime/index.js';
import { scriptedProvider, VirtualClock } from '../../../src/testing/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { decodeJsonLine } from '../../../src/wire/index.js';
import { expectNoHarm } from '../../runtime/no-harm.js';
import { stage } from '../../runtime/stage.js';
import { conversationOf, findingsOf, problemsOf, statesOf, stepsOf } from '../view/frames.js';
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

test('a session that writes to the journal of the server is shown as it runs, with what is said, and judged', async () => {
  const { server, told } = await inspector();
  const page = new PageReader(server.url);
  const { session, emit } = await stage({ tools: [never], journal: server.journal() });
  server.watch(session);
  await session.send({ type: 'text', text: 'A room for nine, please.' });
  await emit({ type: 'text', text: 'Let me ' }, { type: 'text', text: 'look.' });
  await emit({ type: 'tool_call', id: 'c1', name: 'find_rooms', arguments: '{"seats":9}' });
  await told();
  await page.until((frames) => statesOf(frames).get(`${session.sessionId}/c1`) === 'executing');
  expect(ended(page.frames)).toBe(false);
  await emit({ type: 'interrupted' });
  await told();
  await page.until((frames) => statesOf(frames).get(`${session.sessionId}/c1`) === 'abandoned.draining');
  await session.close();
  await told();
  await server.close();
  await page.until(ended);

  expect(problemsOf(page.frames)).toEqual([]);
  expect(findingsOf(page.frames)).toEqual([]);
  const judged = page.frames.findLast((frame) => frame.type === 'judged');
  expect(judged).toMatchObject({ isJudged: true, upTo: stepsOf(page.frames).length });
  expect(statesOf(page.frames).get(session.sessionId)).toBe('closed');
  const abandoned = stepsOf(page.frames).find(({ to }) => to === 'abandoned.draining');
  expect(abandoned?.why).toBe(
    'interrupted by the user before its commit point; its policy is abandon: its code runs on, unheard, and what it gives is sent to nobody',
  );
  expect(conversationOf(page.frames).map(({ who, text, how }) => [who, text, how])).toEqual([
    ['user', 'A room for nine, please.', 'stands'],
    ['agent', 'Let me look.', 'stands'],
    ['call', 'find_rooms({"seats":9})', 'withdrawn'],
    ['note', 'the user spoke over it', 'stands'],
    ['note', 'the session ends: the host closed it', 'stands'],
  ]);
});

test('a session that nobody records is shown from where it stood, and it is said that nobody judges it', async () => {
  const { server, told } = await inspector();
  const { session, emit } = await stage({ tools: [never] });
  await emit({ type: 'tool_call', id: 'c1', name: 'find_rooms', arguments: '{}' });
  server.watch(session);
  await emit({ type: 'tool_call', id: 'c2', name: 'find_rooms', arguments: '{"seats":2}' });
  await emit({ type: 'text', text: 'Wait.' });
  await emit({ type: 'interrupted' });
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  const [first, second] = stepsOf(frames);
  expect([first, second]).toMatchObject([
    { actor: session.sessionId, from: '', to: 'open.responding', why: 'it was there before it was watched' },
    { actor: `${session.sessionId}/c1`, from: '', to: 'executing', parent: session.sessionId },
  ]);
  expect(stepsOf(frames).find(({ actor, from }) => actor.endsWith('/c2') && from === '')?.label).toBe('find_rooms');
  expect(statesOf(frames).get(`${session.sessionId}/c2`)).toBe('abandoned.draining');
  // the policy is known from the machine
  expect(stepsOf(frames).find(({ actor, to }) => actor.endsWith('/c2') && to.startsWith('abandoned'))?.why).toContain(
    'its policy is abandon',
  );
  expect(conversationOf(frames).map(({ who, text }) => [who, text])).toContainEqual(['agent', 'Wait.']);
  const judged = frames.findLast((frame) => frame.type === 'judged');
  expect(judged).toMatchObject({ isJudged: false, why: expect.stringContaining('server.journal()') });
  await session.close();
});

test('a supervisor is shown with its sessions and conversations, parents first', async () => {
  const { server, clock, told } = await inspector();
  const supervisor = createSupervisor({ journal: server.journal(), clock });
  server.watch(supervisor);
  const far = scriptedProvider();
  const session = await supervisor.startSession({ provider: far, connect: { model: 'scripted' }, id: 'desk' });
  await session.send({ type: 'text', text: 'Good day.' });
  far.emit({ type: 'text', text: 'Hello.' });
  await quiet();
  const conversation = supervisor.createConversation({ id: 'notes' });
  conversation.apply({ end: 'cancel' });
  const frames = await allFrom(server, told);
  expect(problemsOf(frames)).toEqual([]);
  expect(findingsOf(frames)).toEqual([]);
  const firsts = stepsOf(frames).filter(({ from }) => from === '');
  expect(firsts.map(({ actor, parent, label }) => [actor, parent, label])).toEqual([
    [supervisor.id, undefined, undefined],
    [session.current?.sessionId, supervisor.id, 'desk · scripted'],
    ['notes', supervisor.id, undefined],
  ]);
  expect(conversationOf(frames).map(({ who, text }) => [who, text])).toEqual(
    expect.arrayContaining([
      ['user', 'Good day.'],
      ['agent', 'Hello.'],
    ]),
  );
  expect(conversationOf(frames).map(({ text }) => text)).not.toContain('(what was said is not kept)');
  const stopped = supervisor.shutdown({ deadlineMs: 0 });
  await clock.advance(10_000, quiet);
  await stopped;
});

test('what breaks an invariant is found while the run goes on', async () => {
  const { server, told } = await inspector();
  const page = new PageReader(server.url);
  const journal = server.journal();
  const entry = (event: string, from: string, to: string): JournalEntry => ({
    at: 0,
    actor: 'ses_x',
    kind: 'session',
    event,
    from,
    to,
    cause: 0,
    did: [],
  });
  const good = memoryJournal();
  const { session } = await stage({ journal: good });
  for (const { seq: _, ...record } of good.records) journal.append({ ...record, actor: 'ses_x' });
  journal.append(entry('interrupted', 'open.waiting', 'closed'));
  journal.append(entry('host_act', 'closed', 'closed'));
  await told();
  await page.until((frames) => findingsOf(frames).length > 0 || ended(frames));
  expect(ended(page.frames)).toBe(false);
  expect(findingsOf(page.frames)[0]).toMatchObject({ actor: 'ses_x', n: 3 });
  page.close();
  await session.close();
});

test('a page that comes again gets what came behind the last that it had', async () => {
  const { server, told } = await inspector();
  const journal = server.journal();
  const first = await stage({ journal });
  await told();
  const page = new PageReader(server.url);
  await page.until((frames) => stepsOf(frames).length >= 2);
  page.close();
  const before = stepsOf(page.frames).length;
  await first.session.close();
  await told();
  const again = new PageReader(server.url, page.lastId);
  await again.until((frames) => frames.length > 0);
  await server.close();
  await again.until(ended);
  expect(again.frames[0]?.type).not.toBe('opening');
  expect(stepsOf(again.frames)[0]?.n).toBe(before + 1);
  expect(problemsOf([...page.frames, ...again.frames])).toEqual([]);
});

test.each(['no id', '0.999999', '99.1', '-1.5', '1e3.2'])('with %j for its last id it gets all', async (id) => {
  const { server } = await inspector();
  const page = new PageReader(server.url, id);
  await page.until((frames) => frames.length > 0);
  expect(page.frames[0]?.type).toBe('opening');
  page.close();
});

test('a run that is longer than what is kept begins anew, with all that lives, and says how much is not shown', async () => {
  const { server, told } = await inspector({ maxSteps: 30 });
  const page = new PageReader(server.url);
  const { session, emit } = await stage({ tools: [never], journal: server.journal() });
  server.watch(session);
  await emit({ type: 'tool_call', id: 'c1', name: 'find_rooms', arguments: '{}' });
  for (let at = 0; at < 40; at++) {
    await emit({ type: 'text', text: `${at} ` }, { type: 'turn_complete' });
    await told();
  }
  await server.close();
  await page.until(ended);
  const openings = page.frames.flatMap(({ type }, index) => (type === 'opening' ? [index] : []));
  expect(openings.length).toBeGreaterThan(2);
  for (const [index, start] of openings.entries()) {
    const part = page.frames.slice(start, openings[index + 1]);
    const whole = part.at(-1)?.type === 'ended' ? part : [...part, { type: 'ended', why: '' } as const];
    expect(problemsOf(whole)).toEqual([]);
    if (index === 0) continue;
    expect(part[1]).toMatchObject({ type: 'dropped' });
    expect(stepsOf(part)[0]).toMatchObject({ n: 1, actor: session.sessionId, from: '' });
    expect(stepsOf(part)[1]).toMatchObject({ actor: `${session.sessionId}/c1`, from: '', to: 'executing' });
  }
  expect(findingsOf(page.frames)).toEqual([]);
  // whoever comes late gets the last part alone
  expect(page.frames.length - (openings.at(-1) ?? 0)).toBeLessThan(80);
  await session.close();
});

test('a page that does not read is dropped, holds nobody up, and may come again', async () => {
  const { server, clock, told } = await inspector({ maxText: 100_000 });
  const slow = new PageReader(server.url);
  await slow.until((frames) => frames.length > 0);
  slow.pause();
  const quick = new PageReader(server.url);
  await quick.until((frames) => frames.length > 0);
  const conversation = createConversation({ journal: server.journal(), clock, id: 'notes' });
  conversation.apply(decodeJsonLine('{"init":{"conversationId":"c","requestId":"r"}}'));
  conversation.apply(decodeJsonLine('{"clientActions":{"actions":[{"createTask":{"task":{"id":"t"}}}]}}'));
  // more than the buffers of two sockets take
  const text = 'x'.repeat(90_000);
  for (let at = 0; at < 200; at++) {
    const message = { id: `m${at}`, agentOutput: { text } };
    const action = { addMessagesToTask: { taskId: 't', messages: [message] } };
    conversation.apply(decodeJsonLine(JSON.stringify({ clientActions: { actions: [action] } })));
    await told();
  }
  conversation.close();
  await told();
  await quick.until((frames) => statesOf(frames).get('notes') === 'cancelled');
  // time stood still but for what was told: the page has not read for so long
  await clock.advance(stallMs, quiet);
  slow.resume();
  await slow.until(ended);
  expect(slow.isOver).toBe(true);
  expect(statesOf(slow.frames).get('notes')).not.toBe('cancelled');
  const again = new PageReader(server.url, slow.lastId);
  await again.until((frames) => statesOf(frames).get('notes') === 'cancelled');
  await server.close();
  await again.until(ended);
  expect(problemsOf([...slow.frames, ...again.frames], 100_000)).toEqual([]);
  expect(again.frames[0]?.type).toBe('steps');
});

test('whoever writes meets the journal behind, whatever becomes of it', async () => {
  const { server } = await inspector();
  const inner: Journal = {
    durable: true,
    payloads: 'omit',
    append: () => 7,
    flush: () => Promise.reject(new RangeError('flush')),
    read: () => memoryJournal().read(),
  };
  const journal = server.journal(inner);
  expect([journal.durable, journal.payloads]).toEqual([true, 'omit']);
  // a record that nobody can show
  expect(journal.append({ kind: 'session' } as never)).toBe(7);
  await expect(journal.flush()).rejects.toThrow('flush');
  const full = server.journal({
    ...inner,
    append: () => {
      throw new RangeError('full');
    },
  });
  expect(() => full.append({} as never)).toThrow('full');
});

test('a closed server leaves nothing: no page, no timer, no observer', async () => {
  const { server, clock } = await inspector();
  const { session, emit } = await stage();
  server.watch(session);
  const page = new PageReader(server.url);
  await page.until((frames) => frames.length > 0);
  await emit({ type: 'text', text: 'a' });
  await Promise.all([server.close(), server.close()]);
  await page.until(ended);
  expect(page.frames.at(-1)).toEqual({ type: 'ended', why: 'the inspector was closed' });
  expect(clock.pending).toBe(0);
  await emit({ type: 'turn_complete' });
  expect(clock.pending).toBe(0);
  const refused = new PageReader(server.url);
  await refused.until(() => false);
  expect(refused.status).toBe(0);
  expect(() => server.watch(session)()).not.toThrow();
  await session.close();
});

test('what cannot be inspected is refused', async () => {
  const { server } = await inspector();
  for (const target of [undefined, null, {}, 'a session']) {
    expect(() => server.watch(target as never)).toThrow(/expected a session, a supervisor or a conversation/);
  }
});
