/** Random sessions of a supervisor, recorded across their incarnations. */
import fc from 'fast-check';
import { describe } from 'vitest';
import type { ResponseEvent } from '../../../proto/index.js';
import { tapped } from '../../../src/contract/session-tap.js';
import { defineTool, recordSession } from '../../../src/runtime/index.js';
import { Broken, property } from '../../properties/property.js';
import { type Held, held, quiet } from '../stage.js';
import { FarSide, stage } from '../supervisor/stage.js';
import { problemsOf } from './problems.js';
import { type Fact, factsOf, transcriptOf } from './transcript.js';

/** What happens next: the far side says something or breaks off, a tool or the host does something. */
type Happening =
  | { readonly far: object }
  | { readonly breaks: true }
  | { readonly settles: number }
  | { readonly says: string }
  | { readonly played: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('one two', ' three', 'four').map((text) => ({ far: { type: 'text', text } })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(20, 60).map((ms) => ({
      far: { type: 'audio', data: Buffer.alloc(ms * 16).toString('base64'), mediaType: 'audio/pcm;rate=8000' },
    })),
  },
  {
    weight: 6,
    // ids are unique in one incarnation, and come again in the next
    arbitrary: fc
      .constantFrom('stale', 'stubborn')
      .map((name) => ({ far: { type: 'tool_call', id: '', name, arguments: '{}' } })),
  },
  { weight: 3, arbitrary: fc.constantFrom('turn_complete', 'interrupted').map((type) => ({ far: { type } })) },
  {
    weight: 2,
    arbitrary: fc.boolean().map((final) => ({ far: { type: 'input_text', text: final ? 'Well?' : 'We', final } })),
  },
  { weight: 4, arbitrary: fc.nat({ max: 3 }).map((settles) => ({ settles })) },
  { weight: 1, arbitrary: fc.constant({ says: 'Go on' }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 10, 50).map((played) => ({ played })) },
  { weight: 2, arbitrary: fc.constant({ breaks: true } as const) },
);

async function check(happenings: readonly Happening[]): Promise<void> {
  const { supervisor, start, pass } = stage();
  const far = new FarSide();
  const code: Held<unknown>[] = [];
  const tools = (['abandon', 'deliver'] as const).map((onInterruption) =>
    defineTool({
      name: onInterruption === 'deliver' ? 'stubborn' : 'stale',
      description: onInterruption,
      input: { type: 'object' },
      onInterruption,
      effect: 'read',
      execute: () => {
        const running = held();
        code.push(running);
        return running.promise;
      },
    }),
  );
  const facts: Fact[] = [];
  const records = { keep: [] as ResponseEvent[], discard: [] as ResponseEvent[] };
  const modes = ['keep', 'discard'] as const;
  const session = await start(far, {
    tools,
    restart: { type: 'transient', intensity: 1000 },
    prepare: (prepared) => {
      prepared[tapped](factsOf(facts));
      for (const onInterrupted of modes) {
        const events = records[onInterrupted];
        recordSession(prepared, { onInterrupted, requestId: 'r', sink: (event) => void events.push(event) });
      }
    },
  });
  let line = far.last;
  let calls = 0;
  for (const each of happenings) {
    if (far.last !== line) calls = 0;
    line = far.last;
    if ('far' in each) {
      const isCall = 'id' in each.far;
      line.far.emit(isCall ? { ...each.far, id: `t${calls++}` } : each.far);
    } else if ('settles' in each) code.splice(each.settles, 1)[0]?.resolve('done');
    else if ('says' in each) session.send({ type: 'text', text: each.says }).catch(() => {});
    else if ('played' in each) session.played(each.played).catch(() => {});
    else {
      line.far.end();
      await pass(100);
    }
    await quiet();
  }
  await session.close();
  await quiet();
  await supervisor.shutdown();
  const findings = modes.flatMap((mode) =>
    problemsOf(records[mode], transcriptOf(facts, { mode, delivers: (tool) => tool === 'stubborn' })).map(
      (problem) => `${mode}: ${problem}`,
    ),
  );
  if (findings.length > 0) throw new Broken(findings, happenings.map((each) => JSON.stringify(each)).join('\n'));
}

describe('a supervised session that is recorded', () => {
  property(
    'comes to one transcript, whatever its incarnations come to',
    fc.array(happening, { maxLength: 30, size: 'max' }),
    check,
    0.3,
  );
});
