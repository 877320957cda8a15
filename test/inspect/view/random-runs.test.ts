/** Random runs, told while they go on and from their journals afterwards: F1–F3, N1, and the same of both. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { tapped } from '../../../src/contract/session-tap.js';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { Presentation } from '../../../src/inspect/view/presentation.js';
import { scenario } from '../../../src/testing/arbitraries/index.js';
import { ending } from '../../properties/ending.js';
import { play } from '../../properties/played.js';
import { property } from '../../properties/property.js';
import { findingsOf, problemsOf, stepsOf } from './frames.js';

/** Those that have a record; pieces, and what only taps know, have none. */
const recorded = (frames: readonly Frame[]) =>
  stepsOf(frames)
    .filter(({ event, did }) => event !== 'text' && event !== 'audio' && !(did.length === 0 && tapsAlone.has(event)))
    .map(({ actor, event, from, to }) => `${actor} ${event}: ${from} > ${to}`);
const tapsAlone: ReadonlySet<string> = new Set(['input_text', 'call', 'send']);

property(
  'a run is told by legal frames while it goes on, and its steps are those of its journal',
  fc.record({ scenario: scenario(), ending, maxSteps: fc.constantFrom(15, 20_000) }),
  async ({ scenario, ending, maxSteps }) => {
    const telling = (isLive: boolean) => {
      const frames: Frame[] = [];
      const onFrame = (frame: Frame) => frames.push(frame);
      const most = isLive ? maxSteps : 20_000;
      const options = {
        title: '',
        source: 'process',
        isLive,
        charts: [],
        now: () => 0,
        maxSteps: most,
        onFrame,
      } as const;
      return { frames, presentation: new Presentation(options) };
    };
    const live = telling(true);
    let taken = 0;
    const take = (journal: readonly Parameters<Presentation['record']>[0][]) => {
      for (const record of journal.slice(taken)) live.presentation.record(record);
      taken = journal.length;
    };
    const { simulator, stray } = await play(scenario, ending, {
      begins: (simulator) => {
        const tap = live.presentation.tapOf(simulator.session.sessionId);
        const behind =
          <Given>(tell: ((given: Given) => void) | undefined) =>
          (given: Given) => {
            take(simulator.journal);
            tell?.(given);
          };
        simulator.session[tapped]({
          reported: behind(tap.reported),
          noted: behind(tap.noted),
          acted: behind(tap.acted),
        });
      },
      after: (_, __, simulator) => {
        take(simulator.journal);
        live.presentation.flush();
      },
    });
    take(simulator.journal);
    live.presentation.end('over');
    const afterwards = telling(false);
    for (const record of simulator.journal) afterwards.presentation.record(record);
    afterwards.presentation.end('over');

    expect(stray).toEqual([]);
    expect(problemsOf(afterwards.frames)).toEqual([]);
    expect([findingsOf(live.frames), findingsOf(afterwards.frames)]).toEqual([[], []]);
    const openings = live.frames.flatMap(({ type }, at) => (type === 'opening' ? [at] : []));
    for (const [nth, from] of openings.entries()) {
      const run = live.frames.slice(from, openings[nth + 1]);
      if (run.at(-1)?.type !== 'ended') run.push({ type: 'ended', why: '' });
      expect(problemsOf(run)).toEqual([]);
      expect(stepsOf(run).length).toBeLessThanOrEqual(maxSteps + 1);
    }
    if (openings.length === 1) expect(recorded(live.frames)).toEqual(recorded(afterwards.frames));
  },
  0.5,
);
