/** Where the lanes of the sequence chart are, and how each is drawn beside a step. */
import type { Lane, Step } from '../view/frames.js';
import { type Life, mannerOf } from './model/marks.js';
import type { Run } from './model/run.js';

/** Pixels at the left that the time takes. */
export const timeWidth = 46;

const lifeClasses: readonly Life[] = ['waiting', 'running', 'committed', 'draining'];

/** Lanes on the width that there is. */
export class LaneMap {
  readonly #run: Run;
  readonly #gap: number;
  readonly #first: number;
  readonly width: number;

  constructor(run: Run, width: number) {
    this.#run = run;
    const lanes = run.lanes.count + 3;
    const room = Math.max(120, width - timeWidth - 8);
    // Narrower than this, lanes run into one another: the chart scrolls sideways instead.
    this.#gap = Math.max(36, Math.min(130, room / lanes));
    this.#first = timeWidth + Math.min(this.#gap / 2, 48);
    this.width = Math.max(width, this.#first + this.#gap * (lanes - 0.5));
  }

  /** Pixels between two lanes. */
  get gap(): number {
    return this.#gap;
  }

  xOf(lane: Lane): number {
    return this.xAt(this.#run.lanes.placeOf(lane));
  }

  xAt(place: number): number {
    return this.#first + place * this.#gap;
  }

  /** The lane of whoever took a step. */
  laneOf({ kind, actor }: Step): Lane {
    return kind === 'call' || kind === 'transaction' ? `actor:${actor}` : 'session';
  }
}

/** The lines of all lanes beside a row: a path for each way of drawing them. */
export function lifelines(
  run: Run,
  map: LaneMap,
  step: Step,
  isFirstPart: boolean,
  height: number,
): Readonly<Record<Life | 'standing', string>> {
  const paths: Record<Life | 'standing', string> = {
    standing: '',
    waiting: '',
    running: '',
    committed: '',
    draining: '',
    over: '',
  };
  for (const place of [0, 1, run.lanes.count + 2]) paths.standing += `M${map.xAt(place)},0V${height}`;
  const half = height - 10;
  for (let column = 0; column < run.lanes.count; column++) {
    const owner = run.lanes.ownerOf(column, step.n);
    const actor = owner === undefined ? undefined : run.actors.get(owner);
    if (actor === undefined || actor.first > step.n) continue;
    const x = map.xAt(column + 2);
    const after = mannerOf(actor.kind, run.stateAt(actor, step.n)).life;
    const isOwn = actor.id === step.actor && isFirstPart;
    const before = !isOwn ? after : step.from === '' ? 'over' : mannerOf(actor.kind, step.from).life;
    if (before === after) paths[after] += `M${x},0V${height}`;
    else {
      paths[before] += `M${x},0V${half}`;
      paths[after] += `M${x},${half}V${height}`;
    }
  }
  return paths;
}

export { lifeClasses };
