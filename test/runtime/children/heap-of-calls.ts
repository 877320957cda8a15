/**
 * Ten thousand calls in one session, in a heap of its own (`--expose-gc`). Prints how often their ids, arguments and
 * outputs stand in the heap: while the session lives, and when it is gone.
 */
import { getHeapSnapshot } from 'node:v8';
import { defineTool, type Session, startSession } from '../../../src/runtime/index.js';
import { scriptedProvider } from '../../../src/testing/index.js';
import { quiet } from '../../../src/testing/quiet.js';

const many = 10_000;
const few = 1_000;
const { gc } = globalThis as unknown as { gc(): void };

// in no literal of this program, so that whatever is found was made at run time
const marks = { id: word('di'), args: word('sgra'), output: word('tuptuo') };
function word(backwards: string): string {
  return [...backwards, 'kram'].reverse().join('');
}
/** One flat string, as it would come off a wire. */
function mark(what: keyof typeof marks, i: number, length: number): string {
  return Buffer.from(`${marks[what]}${i}.${'x'.repeat(length)}`).toString();
}

async function settledHeap(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await quiet();
    gc();
  }
  return process.memoryUsage().heapUsed;
}

/** How many different strings of the heap hold a mark. */
async function inHeap(): Promise<Record<keyof typeof marks | 'events', number>> {
  await settledHeap();
  let text = '';
  const found = {
    id: new Set<string>(),
    args: new Set<string>(),
    output: new Set<string>(),
    events: new Set<string>(),
  };
  const look = (piece: string) => {
    for (const [what, begin] of Object.entries(marks)) {
      for (const [hit] of piece.matchAll(new RegExp(`${begin}\\d+\\.`, 'g')))
        found[what as keyof typeof marks].add(hit);
    }
    for (const [hit] of piece.matchAll(new RegExp(`xstate\\.[a-z.]*${marks.id}\\d+\\.`, 'g'))) found.events.add(hit);
  };
  let areStrings = false;
  for await (const chunk of getHeapSnapshot().setEncoding('utf8')) {
    text += chunk as string;
    // numbers come first, for a long while
    areStrings ||= text.includes('"strings":');
    const cut = text.length - 200;
    if (cut <= 0) continue;
    if (areStrings) look(text);
    text = text.slice(cut);
  }
  look(text);
  return { id: found.id.size, args: found.args.size, output: found.output.size, events: found.events.size };
}

const payload = 2_000;

async function live(inspected: boolean, calls: number, hostSignal: AbortSignal): Promise<Session> {
  const kinds: ['plain', 'throwing', 'asynchronous', 'refused', 'abandoned'] = [
    'plain',
    'throwing',
    'asynchronous',
    'refused',
    'abandoned',
  ];
  const far = scriptedProvider({
    onCall: (call, answer) => {
      // it keeps none of them
      void call;
      answer.resolve();
    },
  });
  const parts = { description: '', input: { type: 'object' }, timeoutMs: 60_000 } as const;
  const session = await startSession({
    provider: far,
    connect: { model: 'm' },
    signal: hostSignal,
    maxOpenCalls: 10_000,
    tools: [
      defineTool({ ...parts, name: 'plain', execute: (_, { toolUseId }) => outputFor(toolUseId) }),
      defineTool({
        ...parts,
        name: 'throwing',
        execute: (_, { toolUseId }) => {
          throw new RangeError(outputFor(toolUseId));
        },
      }),
      defineTool({
        ...parts,
        name: 'asynchronous',
        execute: async (_, { toolUseId, signal }) => {
          signal.addEventListener('abort', () => {}, { once: true });
          await quiet();
          return outputFor(toolUseId);
        },
      }),
      defineTool({
        ...parts,
        name: 'abandoned',
        execute: async (_, { toolUseId }) => {
          far.emit({ type: 'interrupted' });
          await quiet();
          await quiet();
          return outputFor(toolUseId);
        },
        onLate: () => {},
      }),
    ],
    ...(inspected ? { inspect: () => {} } : {}),
  });
  session.events$.subscribe();
  session.lifecycle$.subscribe();
  for (let i = 0; i < calls; i++) {
    const kind = kinds[i % kinds.length] as (typeof kinds)[number];
    const args = JSON.stringify({ text: mark('args', i, payload) });
    far.emit({
      type: 'tool_call',
      id: mark('id', i, 0),
      name: kind === 'refused' ? 'plain' : kind,
      arguments: kind === 'refused' ? `{"text":${args}` : args,
    });
    if (i % 50 === 49) for (let turns = 0; turns < 4; turns++) await quiet();
  }
  for (let turns = 0; turns < 10; turns++) await quiet();
  return session;
}

function outputFor(id: string): string {
  return mark('output', Number.parseInt(id.slice(marks.id.length), 10), payload);
}

const host = new AbortController();
// what is made once, by the first sessions, is no growth
await (await live(false, 500, host.signal)).close();
await (await live(true, 500, host.signal)).close();

/** What many calls leave in the heap: while the session lives, and when it is gone. In bytes. */
async function growth() {
  const before = await settledHeap();
  const whileItLives = async () => {
    const session = await live(false, many, host.signal);
    const states: Record<string, number> = {};
    for (const { state } of session.calls()) states[state] = (states[state] ?? 0) + 1;
    const living = (await settledHeap()) - before;
    await session.close();
    return { states, living };
  };
  const { states, living } = await whileItLives();
  return { states, living, gone: (await settledHeap()) - before };
}

/** Which strings of fewer calls stand in the heap. */
async function strings(isInspected: boolean) {
  const whileItLives = async () => {
    const session = await live(isInspected, few, host.signal);
    const living = await inHeap();
    await session.close();
    return living;
  };
  const living = await whileItLives();
  return { living, gone: await inHeap() };
}

/** A session that has ended, and whether it is still there is to be seen. */
async function ended(isInspected: boolean): Promise<WeakRef<Session>> {
  const session = await live(isInspected, 5, host.signal);
  await session.close();
  return new WeakRef(session);
}

const bytes = await growth();
const plain = await strings(false);
const inspected = await strings(true);
const refs = [];
for (let i = 0; i < 20; i++) refs.push(await ended(i % 2 === 0));
await settledHeap();
const kept = refs.filter((ref) => ref.deref() !== undefined).length;

console.log(JSON.stringify({ many, few, payload, bytes, plain, inspected, kept }));
