/** Runs for the page: recorded ones of scenarios, and a made-up live one of any length. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { demoScenario } from '../../src/cli/demo-scenario.js';
import { framesOf } from '../../src/cli/inspect-frames.js';
import { inspectSourceOf, scenarioSource } from '../../src/cli/inspect-source.js';
import type { Frame, Step } from '../../src/inspect/view/frames.js';
import { parseScenario } from '../../src/scenario/parse.js';

/** The frames of the scenario that `commitpoint demo` tells. */
export function demoFrames(): Promise<readonly Frame[]> {
  return framesOf(scenarioSource('demo', parseScenario(demoScenario, 'demo')));
}

/** The frames of one of the scenarios under `test/scenarios/`. */
export async function scenarioFrames(name: string): Promise<readonly Frame[]> {
  const file = fileURLToPath(new URL(`../scenarios/${name}.jsonl`, import.meta.url));
  return framesOf(scenarioSource(name, parseScenario(await readFile(file, 'utf8'), name)));
}

/** The frames of one of the files of response events under `test/scenarios/fold/`. */
export async function conversationFrames(name: string): Promise<readonly Frame[]> {
  return framesOf(await inspectSourceOf(fileURLToPath(new URL(`../scenarios/fold/${name}.jsonl`, import.meta.url))));
}

/** The opening of a live run, with the charts of these frames. */
export function liveOpening(frames: readonly Frame[]): Frame {
  const opening = frames.find((frame) => frame.type === 'opening');
  if (opening?.type !== 'opening') throw new TypeError('frames: expected an opening, found none');
  return { ...opening, title: 'A long day of bookings', source: 'process', isLive: true };
}

const ends = [
  ['publishing', 'completed'],
  ['abandoned.draining', 'abandoned.settled'],
] as const;

/** A run that goes on for ever: a session talks while eight calls at a time come and go, each fifth of which is abandoned. */
export function* liveSteps(): Generator<Step, never> {
  const places = Array.from({ length: 8 }, () => ({ id: '', states: [] as string[], state: '' }));
  let calls = 0;
  let turn = '';
  for (let n = 1; ; n++) {
    const about = { n, at: n, did: [{ effect: 'deliver', detail: `of step ${n}` }], edits: [] };
    const place = places[n % places.length];
    if (n === 1) {
      yield { ...about, ...session, label: 'a session', event: '', from: '', to: 'open.responding', arrows: [] };
    } else if (n % 6 === 1 || place === undefined) {
      const isNew = n % 60 === 1;
      if (isNew || turn === '') turn = `turn ${n}`;
      const text = 'word '.repeat(1 + (n % 4));
      yield {
        ...about,
        ...session,
        event: 'text',
        from: 'open.responding',
        to: 'open.responding',
        arrows: [
          { from: 'far side', to: 'session', text: 'text' },
          { from: 'session', to: 'host', text },
        ],
        edits:
          isNew || turn === `turn ${n}`
            ? [{ edit: 'add', id: turn, who: 'agent', text, provisional: n % 120 === 1 }]
            : [{ edit: 'append', id: turn, text }],
      };
    } else {
      if (place.states.length === 0) {
        place.id = `live/c${++calls}`;
        place.state = '';
        place.states = ['admitted', 'queued', 'executing', ...(calls % 5 === 0 ? ends[1] : ends[0])];
      }
      const from = place.state;
      place.state = place.states.shift() as string;
      const isLost = place.state === 'abandoned.draining';
      yield {
        ...about,
        actor: place.id,
        kind: 'call',
        ...(from === '' ? { parent: 'live', label: 'book_room' } : {}),
        event: from === '' ? '' : isLost ? 'interrupted' : 'placed',
        from,
        to: place.state,
        cause: n - 1,
        arrows: [{ from: 'session', to: `actor:${place.id}`, text: place.state }],
        ...(isLost ? { why: 'interrupted by the user before its commit point' } : {}),
      };
    }
  }
}

const session = { actor: 'live', kind: 'session' } as const;

/** The next steps of a run. */
export function take(run: Generator<Step, never>, count: number): Step[] {
  return Array.from({ length: count }, () => run.next().value);
}
