/** Keys that mean the same everywhere on the page, and what they and the marks mean. */
import { el, need } from './dom.js';
import { marks } from './model/marks.js';
import { type Pane, panes, type Viewer } from './viewer.js';

const keys: readonly (readonly [string, string])[] = [
  ['j  k', 'the next step, the one before'],
  ['f', 'follow what comes, or pause'],
  ['/', 'search events'],
  ['o', 'steps of the chosen actor alone'],
  ['w', 'to the last reason of the chosen actor'],
  ['1 … 6', 'to a pane: actors, chart, sequence, events, details, conversation'],
  ['↑ ↓', 'in a list: along it; PageUp, PageDown, Home and End too'],
  ['← →', 'in the tree: fold, unfold; on the slider: step by step'],
  ['− + 0', 'on the chart: smaller, larger, all of it'],
  ['Enter', 'in a list: choose the actor of the step'],
  ['Esc', 'close, or show all events again'],
  ['?', 'this help'],
];

/** What the keys do. */
export interface Deeds {
  closeFindings(): boolean;
  clearSearch(): boolean;
  toggleOnly(): void;
  toggleFollow(): void;
  focus(pane: Pane): void;
}

/** Listens to the keyboard. */
export function listen(viewer: Viewer, deeds: Deeds): void {
  const help = need<HTMLDialogElement>('help');
  const search = need<HTMLInputElement>('search');
  fillHelp();
  need('help-button').addEventListener('click', () => help.showModal());
  need('help-close').addEventListener('click', () => help.close());

  const plain: Readonly<Record<string, () => void>> = {
    j: () => viewer.move(1),
    k: () => viewer.move(-1),
    f: () => deeds.toggleFollow(),
    o: () => deeds.toggleOnly(),
    w: () => {
      const why = viewer.actor?.why(viewer.n);
      if (why !== undefined) viewer.goTo(why.n);
    },
    '?': () => help.showModal(),
    '/': () => {
      if (viewer.isNarrow) deeds.focus('events');
      search.focus();
      search.select();
    },
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || help.open) return;
    const isWriting = event.target === search;
    if (event.key === 'Escape') {
      if (deeds.closeFindings()) return;
      const wasAsking = deeds.clearSearch();
      if (isWriting && !wasAsking) need('events').focus();
    } else if (isWriting) {
      if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
      need('events').focus();
      const { matches, n } = viewer;
      const step = matches.steps[Math.max(0, matches.indexAt(n))];
      if (step !== undefined) viewer.goTo(step);
    } else {
      const pane = panes[Number(event.key) - 1];
      const deed = Object.hasOwn(plain, event.key) ? plain[event.key] : undefined;
      if (deed !== undefined) deed();
      else if (pane !== undefined) deeds.focus(pane);
      else return;
    }
    event.preventDefault();
  });
}

function fillHelp(): void {
  const table = el('dl', 'keys');
  for (const [key, says] of keys) table.append(el('dt', '', el('kbd', '', key)), el('dd', '', says));
  const meanings = el('dl', 'keys meanings');
  for (const { glyph, says } of Object.values(marks)) meanings.append(el('dt', 'glyph', glyph), el('dd', '', says));
  need('help-body').append(table, el('h3', '', 'Marks'), meanings);
}
