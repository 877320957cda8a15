/** A run as frames: what the page is told, and what `inspect --json` prints. */
import { chartsOfMachines } from '../inspect/server/charts.js';
import type { Frame } from '../inspect/view/frames.js';
import { Presentation, type PresentedRun } from '../inspect/view/presentation.js';

/** Tells a run from its beginning to its end, frame by frame. Rejects as the run does; what was told before stands. */
export async function tellFrames(
  { title, source, run }: PresentedRun,
  onFrame: (frame: Frame) => void,
  maxSteps?: number,
): Promise<void> {
  const presentation = new Presentation({
    title,
    source,
    isLive: false,
    charts: await chartsOfMachines(),
    now: () => 0,
    onFrame,
    ...(maxSteps === undefined ? {} : { maxSteps }),
  });
  presentation.end(await run(presentation));
}

/** All frames of a run. */
export async function framesOf(source: PresentedRun, maxSteps?: number): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  await tellFrames(source, (frame) => frames.push(frame), maxSteps);
  return frames;
}
