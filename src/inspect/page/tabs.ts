/** One pane at a time, where there is no room for all. */
import { el, need, setAttribute } from './dom.js';
import { type Pane, panes, type View, type Viewer } from './viewer.js';

/** Where the style sheet sets the panes side by side. */
const wide = '(min-width: 960px)';

const names: Readonly<Record<Pane, string>> = {
  tree: 'Actors',
  chart: 'Chart',
  sequence: 'Sequence',
  events: 'Events',
  details: 'Details',
  talk: 'Talk',
};

export class Tabs implements View {
  readonly #viewer: Viewer;
  readonly #tabs = new Map<Pane, HTMLButtonElement>();
  readonly #list = need('tabs');

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    for (const pane of panes) {
      const tab = el('button', 'tab', names[pane]);
      tab.type = 'button';
      tab.id = `tab-${pane}`;
      setAttribute(tab, 'role', 'tab');
      setAttribute(tab, 'aria-controls', `pane-${pane}`);
      tab.addEventListener('click', () => viewer.show(pane));
      this.#tabs.set(pane, tab);
      this.#list.append(tab);
    }
    this.#list.addEventListener('keydown', (event) => this.#key(event));
    const query = matchMedia(wide);
    viewer.isNarrow = !query.matches;
    query.addEventListener('change', () => {
      viewer.isNarrow = !query.matches;
      changed();
    });
  }

  draw(): void {
    const { isNarrow, pane: shown } = this.#viewer;
    this.#list.hidden = !isNarrow;
    for (const pane of panes) {
      const section = need(`pane-${pane}`);
      section.hidden = isNarrow && pane !== shown;
      setAttribute(section, 'role', isNarrow ? 'tabpanel' : undefined);
      const tab = this.#tabs.get(pane) as HTMLButtonElement;
      setAttribute(tab, 'aria-selected', String(pane === shown));
      setAttribute(tab, 'tabindex', pane === shown ? '0' : '-1');
    }
  }

  /** Shows a pane, and gives it the keyboard. */
  focus(pane: Pane): void {
    this.#viewer.show(pane);
    this.draw();
    need(`pane-${pane}`).querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }

  #key(event: KeyboardEvent): void {
    const at = panes.indexOf(this.#viewer.pane);
    const to =
      event.key === 'ArrowRight'
        ? at + 1
        : event.key === 'ArrowLeft'
          ? at - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? panes.length - 1
              : undefined;
    if (to === undefined) return;
    const pane = panes[(to + panes.length) % panes.length] as Pane;
    this.#viewer.show(pane);
    this.#tabs.get(pane)?.focus();
    event.preventDefault();
  }
}
