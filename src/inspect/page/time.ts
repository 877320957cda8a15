/** The instant: a slider over all steps, and whether the page goes along with what comes. */
import { need, setAttribute, setClass, setText, svg } from './dom.js';
import { eventOf } from './model/marks.js';
import type { View, Viewer } from './viewer.js';

/** Places on the strip above the slider. */
const places = 500;

export class TimeView implements View {
  readonly #viewer: Viewer;
  readonly #slider = need<HTMLInputElement>('slider');
  readonly #instant = need('instant');
  readonly #follow = need<HTMLButtonElement>('follow');
  readonly #losses = svg('path', { class: 'loss' });
  readonly #broken = svg('path', { class: 'broken' });
  #strip = '';
  #stripLast = 0;

  constructor(viewer: Viewer) {
    this.#viewer = viewer;
    need('marks').append(this.#losses, this.#broken);
    this.#slider.addEventListener('input', () => viewer.goTo(Number(this.#slider.value)));
    need('back').addEventListener('click', () => viewer.move(-1));
    need('forth').addEventListener('click', () => viewer.move(1));
    this.#follow.addEventListener('click', () => this.toggle());
  }

  /** Goes along with what comes, or stays where it is. */
  toggle(): void {
    if (this.#viewer.isFollowing) this.#viewer.goTo(this.#viewer.n);
    else this.#viewer.follow();
  }

  draw(): void {
    const { run, n, isFollowing } = this.#viewer;
    const first = Math.min(run.first, run.last);
    setAttribute(this.#slider, 'min', String(first));
    setAttribute(this.#slider, 'max', String(run.last));
    if (this.#slider.value !== String(n)) this.#slider.value = String(n);
    const step = run.step(n);
    setAttribute(
      this.#slider,
      'aria-valuetext',
      step === undefined
        ? 'nothing yet'
        : `step ${n} of ${run.last}, ${run.timeOf(step)} milliseconds, ${run.nameOf(step.actor)}: ${eventOf(step)}`,
    );
    setText(this.#instant, step === undefined ? 'no steps yet' : `${n} / ${run.last} · ${run.timeOf(step)} ms`);
    const isLive = run.opening?.isLive === true && run.ended === undefined;
    const behind = run.last - n;
    setAttribute(this.#follow, 'aria-pressed', String(isFollowing));
    setClass(this.#follow, `follow ${isFollowing ? 'on' : 'paused'}`);
    setText(
      this.#follow,
      isFollowing ? (isLive ? '▶ following' : '▶ at the end') : behind === 0 ? '❚❚ paused here' : `❚❚ ${behind} behind`,
    );
    setAttribute(
      this.#follow,
      'title',
      isFollowing
        ? 'The page shows the last step, and goes along. F stops it here.'
        : 'The page stays at this instant. F goes to the last step, and along with what comes.',
    );
    this.#drawStrip(first, run.last, isLive);
  }

  /** Where calls were abandoned, and where an invariant broke. */
  #drawStrip(first: number, last: number, isGoingOn: boolean): void {
    const { run } = this.#viewer;
    const state = `${isGoingOn} ${first} ${last} ${run.losses.length} ${run.findings.length} ${run.generation}`;
    // While a run goes on its strip changes by less than can be seen.
    if (state === this.#strip || (last > first && last - this.#stripLast < (last - first) / places && isGoingOn))
      return;
    this.#strip = state;
    this.#stripLast = last;
    const span = Math.max(1, last - first);
    const place = (n: number) => Math.round(((n - first) / span) * places) * (1000 / places);
    const at = (numbers: readonly number[]) => [...new Set(numbers.map(place))];
    const losses = run.losses.length > 5_000 ? run.losses.slice(-5_000) : run.losses;
    setAttribute(
      this.#losses,
      'd',
      at(losses)
        .map((x) => `M${x},2v6`)
        .join(''),
    );
    setAttribute(
      this.#broken,
      'd',
      at(run.findings.map(({ n }) => n))
        .map((x) => `M${x},0v8`)
        .join(''),
    );
  }
}
