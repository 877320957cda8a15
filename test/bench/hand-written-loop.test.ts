import { describe, expect, test } from 'vitest';
import type { BidiEvent, BidiTurnEvent, Tool, ToolContext, Verdict } from '../../src/index.js';
import { type PushedSession, pushedProvider } from './driver.mjs';
import { startHandWrittenSession } from './hand-written-loop.mjs';

// The baseline of the benches has to do what it claims, else a ratio to it says
// nothing. The numbers in the titles are those at the head of hand-written-loop.mjs.

/** Everything that can happen without new input has happened. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

/** A tool whose code settles when the test says so. */
function heldTool() {
  const calls: {
    input: unknown;
    context: ToolContext;
    resolve: (value: unknown) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const tool: Tool = {
    name: 'held',
    description: '',
    parameters: {},
    onInterruption: 'abandon',
    effect: 'read',
    timeoutMs: 0,
    needsApproval: false,
    onLate: undefined,
    validate: (value) => ({ ok: true, value }),
    execute: (input, context) => new Promise((resolve, reject) => calls.push({ input, context, resolve, reject })),
  };
  const nth = (at: number) => calls[at] as (typeof calls)[number];
  return { calls, nth, tool };
}

/** The first connection that a driver made. */
const first = (provider: { readonly sessions: readonly PushedSession[] }) => provider.sessions[0] as PushedSession;

async function open(inbox: boolean, tools: readonly Tool[] = []) {
  const provider = pushedProvider();
  const session = await startHandWrittenSession({ provider, tools, connect: { model: 'm' }, inbox });
  const driver = first(provider);
  const results: Parameters<PushedSession['sendToolResult']>[] = [];
  driver.sendToolResult = async (...result) => {
    results.push(result);
  };
  const seen: unknown[] = [];
  let ended = false;
  const reading = (async () => {
    for await (const { sessionId, turnId, ...event } of session.events()) seen.push(event);
    ended = true;
  })();
  return { session, driver, seen, results, reading, ended: () => ended };
}

const call = (id: string, text = '{"word":"w"}', name = 'held'): BidiEvent => ({
  type: 'tool_call',
  id,
  name,
  arguments: text,
});
const started = (id: string) => ({ type: 'tool_started', toolUseId: id, toolName: 'held' });
const completed = (id: string, output: string, isError = false) => ({
  type: 'tool_completed',
  toolUseId: id,
  toolName: 'held',
  output,
  isError,
});
const abandoned = (id: string) => ({ type: 'tool_abandoned', toolUseId: id, toolName: 'held' });

describe.each([
  ['with an inbox', true],
  ['without', false],
])('the hand-written loop, %s', (_, inbox) => {
  test('passes the conversation on in order, addressed to the session (1)', async () => {
    const provider = pushedProvider();
    const session = await startHandWrittenSession({ provider, connect: { model: 'm' }, inbox });
    const said: BidiEvent[] = [
      { type: 'text', text: 'a' },
      { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' },
      { type: 'turn_complete' },
      { type: 'error', message: 'odd' },
      { type: 'interrupted' },
      { type: 'closed', reason: 'done' },
    ];
    for (const event of said) first(provider).push(event);
    const heard: BidiTurnEvent[] = [];
    for await (const event of session.events()) heard.push(event);
    const { sessionId, turnId } = heard[0] as BidiTurnEvent;
    expect(sessionId).toMatch(/^ses_/);
    expect(turnId).toMatch(/^turn_/);
    expect(heard).toEqual(said.map((event) => ({ ...event, sessionId, turnId })));
  });

  test('runs a tool beside the conversation and publishes what it answers (2)', async () => {
    const held = heldTool();
    const { driver, seen, results } = await open(inbox, [held.tool]);
    driver.push(call('c1'));
    driver.push(call('c2', ''));
    driver.push({ type: 'text', text: 'meanwhile' });
    await idle();
    expect(held.calls.map(({ input }) => input)).toEqual([{ word: 'w' }, {}]);
    held.nth(1).resolve({ n: 1 });
    await idle();
    held.nth(0).reject(new Error('no luck'));
    await idle();
    expect(results).toEqual([
      ['c2', '{"n":1}', false],
      ['c1', 'no luck', true],
    ]);
    expect(seen).toEqual([
      started('c1'),
      started('c2'),
      { type: 'text', text: 'meanwhile' },
      completed('c2', '{"n":1}'),
      completed('c1', 'no luck', true),
    ]);
  });

  test('answers what cannot run with an error result (2)', async () => {
    const held = heldTool();
    const { driver, results } = await open(inbox, [
      { ...held.tool, validate: () => ({ ok: false, problem: 'word is missing' }) },
    ]);
    driver.push(call('c1', '{'));
    driver.push(call('c2', '{}', 'other'));
    driver.push(call('c3'));
    await idle();
    expect(results.map(([id, output, isError]) => [id, isError, /JSON|other|word is missing/.test(output)])).toEqual([
      ['c1', true, true],
      ['c2', true, true],
      ['c3', true, true],
    ]);
    expect(held.calls).toEqual([]);
  });

  test('abandons by generation what an interruption finds before its commit point (3)', async () => {
    const held = heldTool();
    const { driver, seen, results } = await open(inbox, [held.tool]);
    driver.push(call('c1'));
    await idle();
    driver.push({ type: 'interrupted' });
    driver.push(call('c2'));
    await idle();
    expect(held.nth(0).context.signal.aborted).toBe(false);
    held.nth(0).resolve('late');
    held.nth(1).resolve('in time');
    await idle();
    expect(results).toEqual([['c2', 'in time', false]]);
    expect(seen).toEqual([
      started('c1'),
      { type: 'interrupted' },
      abandoned('c1'),
      started('c2'),
      completed('c2', 'in time'),
    ]);
  });

  test('does not recall a result that is being published (4)', async () => {
    const held = heldTool();
    const { driver, seen } = await open(inbox, [held.tool]);
    let accept = () => {};
    driver.sendToolResult = () =>
      new Promise<void>((resolve) => {
        accept = resolve;
      });
    driver.push(call('c1'));
    await idle();
    held.nth(0).resolve('sent');
    await idle();
    driver.push({ type: 'interrupted' });
    await idle();
    accept();
    await idle();
    expect(seen).toEqual([started('c1'), { type: 'interrupted' }, completed('c1', 'sent')]);
  });

  test('tells the host when the far side refuses a result (4)', async () => {
    const held = heldTool();
    const { driver, seen } = await open(inbox, [held.tool]);
    driver.sendToolResult = () => Promise.reject(new Error('too late'));
    driver.push(call('c1'));
    await idle();
    held.nth(0).resolve('x');
    await idle();
    expect(seen).toEqual([started('c1'), { type: 'error', message: 'call c1: too late' }]);
  });

  test('lets nothing pass once it is closed (5)', async () => {
    const held = heldTool();
    const { session, driver, seen, results, reading } = await open(inbox, [held.tool]);
    driver.push(call('c1'));
    await idle();
    await session.close();
    driver.push({ type: 'text', text: 'late' });
    held.nth(0).resolve('late');
    await reading;
    await idle();
    expect(held.nth(0).context.signal.aborted).toBe(true);
    expect(results).toEqual([]);
    expect(seen).toEqual([started('c1')]);
    await expect(session.send({ type: 'text', text: 'x' })).rejects.toThrow('closed');
  });

  test('throws away what nobody has read when it is closed, and closes the driver once (5)', async () => {
    const provider = pushedProvider();
    const session = await startHandWrittenSession({ provider, connect: { model: 'm' }, inbox });
    const driver = first(provider);
    let closes = 0;
    driver.close = async () => {
      closes += 1;
    };
    driver.push({ type: 'text', text: 'unread' });
    await idle();
    await session.close();
    await session.close();
    const heard: BidiTurnEvent[] = [];
    for await (const event of session.events()) heard.push(event);
    expect(heard).toEqual([]);
    expect(closes).toBe(1);
  });

  test('starts no code that is still being checked when the session is closed (5)', async () => {
    const held = heldTool();
    let accept = () => {};
    const validate: Tool['validate'] = (value) =>
      new Promise<Verdict>((resolve) => {
        accept = () => resolve({ ok: true, value });
      });
    const { session, driver } = await open(inbox, [{ ...held.tool, validate }]);
    driver.push(call('c1'));
    await idle();
    await session.close();
    accept();
    await idle();
    expect(held.calls).toEqual([]);
  });

  test('ends the session at a repeated id and runs nothing twice (6)', async () => {
    const held = heldTool();
    const { driver, seen, reading } = await open(inbox, [held.tool]);
    driver.push(call('c1'));
    driver.push(call('c1'));
    await reading;
    expect(held.calls).toHaveLength(1);
    expect(seen.at(-1)).toEqual({ type: 'error', message: 'call c1 came twice' });
  });

  test('ends when the stream of the driver does', async () => {
    const { driver, seen, reading, ended } = await open(inbox);
    driver.push({ type: 'text', text: 'a' });
    await driver.close();
    await reading;
    expect(ended()).toBe(true);
    expect(seen).toEqual([
      { type: 'text', text: 'a' },
      { type: 'error', message: 'the event stream ended' },
    ]);
  });
});
