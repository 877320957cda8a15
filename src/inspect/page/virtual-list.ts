/**
 * A list of any length of which only the rows in view are in the document.
 *
 * V1. Every row has the same height, so nothing in view moves when rows are added.
 * V2. A row's element shows one index at a time, and the same one for as long as
 *     it is in view.
 */
import { afterDrawing } from './after-drawing.js';
import { el } from './dom.js';

export interface RowElement {
  readonly root: HTMLElement;
}

export interface VirtualListOptions<R extends RowElement> {
  readonly rowHeight: number;
  make(): R;
  /** Writes what the row at this index says into the element. */
  show(row: R, index: number): void;
  /** Asks for a drawing: the list was scrolled, or has another size. */
  changed(): void;
}

export class VirtualList<R extends RowElement> {
  readonly viewport: HTMLElement;
  readonly #options: VirtualListOptions<R>;
  readonly #space = el('div', 'space');
  #rows: R[] = [];
  #shown: number[] = [];
  #count = 0;
  #height = 0;
  #width = 0;
  #top = 0;
  /** Where the list was scrolled to by us, so that this is told from a scroll by hand. */
  #placed = 0;
  #isReleased = false;
  #moves = -1;
  #kept = -1;
  #keptHeight = 0;

  constructor(viewport: HTMLElement, options: VirtualListOptions<R>) {
    this.viewport = viewport;
    this.#options = options;
    this.#space.setAttribute('role', 'presentation');
    viewport.append(this.#space);
    viewport.addEventListener(
      'scroll',
      () => {
        this.#top = viewport.scrollTop;
        // Back at the end is as if it had never been left.
        const isAtEnd = this.#top + this.#height > (this.#count - 1) * options.rowHeight;
        if (Math.abs(this.#top - this.#placed) > 1) this.#isReleased = !isAtEnd;
        options.changed();
      },
      { passive: true },
    );
    new ResizeObserver(([entry]) => {
      this.#height = entry?.contentRect.height ?? 0;
      this.#width = entry?.contentRect.width ?? 0;
      // A list that is higher now may have been scrolled by that.
      this.#top = viewport.scrollTop;
      this.#placed = this.#top;
      options.changed();
    }).observe(viewport);
  }

  /** Pixels that a row is wide. */
  get width(): number {
    return this.#width;
  }

  /** How many rows fit. */
  get page(): number {
    return Math.max(1, Math.floor(this.#height / this.#options.rowHeight));
  }

  /** The rows in view, `from` and what is before `to`. */
  get range(): { readonly from: number; readonly to: number } {
    const { rowHeight } = this.#options;
    const from = Math.max(0, Math.min(this.#count, Math.floor(this.#top / rowHeight)));
    return { from, to: Math.min(this.#count, Math.ceil((this.#top + this.#height) / rowHeight)) };
  }

  /** Says how many rows there are. */
  resize(count: number): void {
    if (count === this.#count) return;
    const isShorter = count < this.#count;
    this.#count = count;
    this.#space.style.height = `${count * this.#options.rowHeight}px`;
    if (isShorter) this.#top = Math.max(0, Math.min(this.#top, count * this.#options.rowHeight - this.#height));
  }

  /**
   * Keeps the row of the instant in view: after each move somebody made, and whenever it is another row; `follows`: at
   * the lower edge, with those from `first` on above it, unless somebody has scrolled away from it since the last move.
   */
  keep(index: number, moves: number, follows: boolean, first = index): void {
    const hasMoved = moves !== this.#moves;
    // A list that has no height yet, since its pane is not shown, is brought there when it has.
    const isOther = index !== this.#kept || this.#height !== this.#keptHeight;
    this.#moves = moves;
    this.#kept = index;
    this.#keptHeight = this.#height;
    if (hasMoved || (isOther && !(follows && this.#isReleased))) this.#reveal(index, Math.min(index, first), follows);
  }

  #reveal(index: number, first: number, atEnd: boolean): void {
    this.#isReleased = false;
    const { rowHeight } = this.#options;
    const top = index * rowHeight;
    if (index < 0 || this.#height === 0) return;
    let wanted = this.#top;
    if (atEnd || top + rowHeight > this.#top + this.#height) wanted = top + rowHeight - this.#height;
    else if (first * rowHeight < this.#top) wanted = first * rowHeight;
    wanted = Math.max(0, wanted);
    this.#placed = wanted;
    if (wanted === this.#top) return;
    this.#top = wanted;
    afterDrawing(() => {
      this.viewport.scrollTop = wanted;
    });
  }

  /** Draws the rows in view. */
  draw(): void {
    const { from, to } = this.range;
    const size = Math.max(to - from, 0) + 2;
    if (size > this.#rows.length) this.#grow(size);
    for (let slot = 0; slot < this.#rows.length; slot++) {
      const row = this.#rows[slot] as R;
      // The one index in view, if any, that is this slot's.
      const index = from + ((((slot - from) % this.#rows.length) + this.#rows.length) % this.#rows.length);
      const isShown = index < to;
      if (row.root.hidden === isShown) row.root.hidden = !isShown;
      if (!isShown) continue;
      if (this.#shown[slot] !== index) {
        this.#shown[slot] = index;
        row.root.style.transform = `translateY(${index * this.#options.rowHeight}px)`;
      }
      this.#options.show(row, index);
    }
  }

  #grow(size: number): void {
    while (this.#rows.length < size) {
      const row = this.#options.make();
      row.root.hidden = true;
      row.root.style.height = `${this.#options.rowHeight}px`;
      this.#rows.push(row);
      this.#space.append(row.root);
    }
    // Slots are counted modulo their number, which has changed.
    this.#shown = this.#rows.map(() => -1);
  }
}
