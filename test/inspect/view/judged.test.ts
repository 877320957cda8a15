/** The judge of the page, held against the judge of journals: P3, for every journal that is broken in a known way. */
import { expect, test } from 'vitest';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { Presentation } from '../../../src/inspect/view/presentation.js';
import { verify } from '../../../src/verify/index.js';
import { brokenConversations } from '../../verify/broken-conversations.js';
import { brokenSessions } from '../../verify/broken-sessions.js';
import { brokenSupervisors } from '../../verify/broken-supervisors.js';
import { findingsOf } from './frames.js';

const broken = [...brokenSessions, ...brokenConversations, ...brokenSupervisors];

test.each([
  ['as it was recorded', { isLive: false, maxSteps: 20_000 }],
  ['while only its first steps are shown', { isLive: false, maxSteps: 10 }],
  ['live, and begun anew many times', { isLive: true, maxSteps: 10 }],
])('%s, a run is found guilty of what its journal is', async (_, settings) => {
  let count = 0;
  for (const { title, records } of broken) {
    const frames: Frame[] = [];
    const presentation = new Presentation({
      ...settings,
      title,
      source: 'journal',
      charts: [],
      now: () => 0,
      maxText: 100_000,
      onFrame: (frame) => frames.push(frame),
    });
    for (const record of records) {
      presentation.record(record);
      presentation.flush();
    }
    presentation.end('');
    // the verdict on a journal has them in another order: that of the records
    const inOrder = (lines: readonly string[]) => [...lines].sort();
    const told = findingsOf(frames).map(({ invariant, actor, detail }) => `${invariant} ${actor}: ${detail}`);
    const { findings } = await verify(records);
    const found = findings.map(({ invariant, actor, what }) => `${invariant} ${actor}: ${what}`);
    expect([title, ...inOrder(told)]).toEqual([title, ...inOrder(found)]);
    count += told.length;
  }
  expect(count).toBeGreaterThan(broken.length - 1);
});
