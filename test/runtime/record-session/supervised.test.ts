/** A supervised session is one recording: its incarnations end without an open transaction, and without an open call. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { historyOf, openToolCalls } from '../../../src/conversation/index.js';
import { createConversation, defineTool, recordSession } from '../../../src/runtime/index.js';
import { expectLegal } from '../../../src/testing/index.js';
import { held, quiet, toolCall, watchProcess } from '../stage.js';
import { FarSide, stage, watch as watchSession } from '../supervisor/stage.js';
import { type Recorded, recorded, wordsOf } from './recorded.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const look = defineTool({
  name: 'look',
  description: 'look',
  input: { type: 'object' },
  effect: 'read',
  execute: () => held().promise,
});
const text = (said: string) => ({ type: 'text', text: said }) as const;

it.each([
  ['keep', ['r-3 cancel t1', 'COMMIT'], ['agent: I th', 'call t1: look {}', 'cancel t1']],
  ['discard', ['r-3 cancel t1', 'ROLLBACK'], []],
] as const)(
  'with %s: what an incarnation leaves open is closed when it ends; the next goes on in the same request',
  async (onInterrupted, lines, left) => {
    const { supervisor, start, pass } = stage();
    const far = new FarSide();
    let record: Recorded | undefined;
    const session = await start(far, {
      tools: [look],
      restart: { type: 'transient' },
      prepare: (prepared) => {
        record = recorded(prepared, { onInterrupted });
      },
    });
    const { news, recording } = record as Recorded;
    for (const event of [text('I th'), toolCall('t1', 'look')]) far.last.far.emit(event);
    await quiet();
    news();
    far.last.far.fail(new RangeError('socket gone'));
    await quiet();
    expect(news()).toEqual(lines);
    await pass(100);
    expect(far.lines).toHaveLength(2);
    // ids of calls are unique in one incarnation
    for (const event of [text('So'), toolCall('t1', 'look'), { type: 'turn_complete' } as const])
      far.last.far.emit(event);
    await quiet();
    expect(news()).toEqual(['BEGIN, r-4 agent: So', 'r-5 call t1: look {}', 'COMMIT']);
    await session.close();
    await recording.finished;
    expect(news()).toEqual(['r-6 cancel t1', 'finished done']);
    expect(record?.said).toEqual([...left, 'agent: So', 'call t1: look {}', 'cancel t1']);
    expectLegal(record?.events ?? [], { complete: true });
    await supervisor.shutdown();
  },
);

it('seeds its next incarnation with what was said', async () => {
  const { supervisor, start, pass } = stage();
  const far = new FarSide();
  const conversation = createConversation({ mode: 'strict' });
  const session = await start(far, {
    restart: { type: 'transient' },
    connect: () => ({ model: 'scripted', history: historyOf(conversation) }),
    prepare: (prepared) => {
      recordSession(prepared, { conversation });
    },
  });
  await session.send({ type: 'text', text: 'Hi' });
  for (const event of [text('Hello'), { type: 'turn_complete' } as const, text('What')]) far.last.far.emit(event);
  await quiet();
  far.last.far.end();
  await pass(100);
  expect(far.lines.map(({ params }) => params.history)).toEqual([
    [],
    [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'Hello' },
      { role: 'assistant', text: 'What' },
    ],
  ]);
  await session.close();
  await conversation.ended;
  expect(wordsOf(conversation.state)).toEqual(['user: Hi', 'agent: Hello', 'agent: What']);
  expect(openToolCalls(conversation.state)).toEqual([]);
  await supervisor.shutdown();
});

it('what taps are told of a call beside its state is not on `lifecycle$`, as it is not on that of a session', async () => {
  const far = new FarSide();
  const { start } = stage();
  let record: Recorded | undefined;
  const answers = defineTool({
    name: 'look',
    description: 'look',
    input: { type: 'object' },
    effect: 'read',
    execute: () => 'a secret',
  });
  const session = await start(far, {
    tools: [answers],
    prepare: (prepared) => {
      record = recorded(prepared);
    },
  });
  const { notes } = watchSession(session);
  far.last.far.emit(toolCall('t1', 'look', { at: 'it' }));
  await quiet();
  const keys = notes.flatMap((note) => (note.type === 'call' ? [`${note.to}: ${Object.keys(note).sort()}`] : []));
  expect(keys).toEqual([
    'admitted: at,from,id,name,to,type',
    'queued: at,from,id,input,name,to,type',
    'executing: at,from,id,name,to,type',
    'publishing: at,from,id,name,to,type',
    'completed: at,from,id,name,to,type',
  ]);
  expect(record?.said).toEqual(['call t1: look {"at":"it"}', 'result t1: a secret']);
  await session.close();
});
