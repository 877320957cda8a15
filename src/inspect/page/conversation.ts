/** The conversation as it stands at the instant. */
import { afterDrawing } from './after-drawing.js';
import { el, group, linkTo, need, setAttribute, setClass, setText } from './dom.js';
import type { Entry, Said } from './model/talk.js';
import type { View, Viewer } from './viewer.js';

/** Entries in the document; letters of one that are shown. */
const mostShown = 150;
const mostLetters = 4_000;

const names = { user: 'user', agent: 'agent', call: 'call', result: 'result', note: 'note' } as const;

interface Item {
  readonly root: HTMLLIElement;
  readonly mark: HTMLElement;
  readonly text: HTMLElement;
  /** What is written in it: comparing with this asks nothing of the document. */
  said: Said | undefined;
}

export class ConversationView implements View {
  readonly #viewer: Viewer;
  readonly #place = need('talk');
  readonly #note = need('talk-note');
  readonly #gone = need<HTMLButtonElement>('gone');
  readonly #list = el('ol', 'entries');
  readonly #earlier = el('p', 'empty');
  readonly #items = new Map<Entry, Item>();
  #key = '';
  #isAtEnd = true;

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    group(this.#place, 'The conversation as it stands');
    this.#place.append(this.#earlier, this.#list);
    setAttribute(this.#gone, 'title', 'Show what was withdrawn, too');
    this.#gone.addEventListener('click', () => {
      viewer.isShowingWithdrawn = !viewer.isShowingWithdrawn;
      changed();
    });
    this.#place.addEventListener(
      'scroll',
      () => {
        const { scrollTop, scrollHeight, clientHeight } = this.#place;
        this.#isAtEnd = scrollTop + clientHeight > scrollHeight - 24;
      },
      { passive: true },
    );
    new ResizeObserver(() => {
      this.#toEnd();
      changed();
    }).observe(this.#place);
  }

  draw(): void {
    const { run, n, isShowingWithdrawn, moves } = this.#viewer;
    const key = `${n} ${run.last} ${run.generation} ${isShowingWithdrawn} ${moves}`;
    if (key === this.#key) return;
    this.#key = key;
    setAttribute(this.#gone, 'aria-pressed', String(isShowingWithdrawn));
    const { said, earlier } = run.talk.at(n, mostShown, isShowingWithdrawn);
    const provisional = said.reduce((count, { standing }) => count + (standing === 'provisional' ? 1 : 0), 0);
    setText(this.#note, provisional === 0 ? '' : `${provisional} provisional`);
    setText(
      this.#earlier,
      earlier > 0
        ? `${earlier} earlier entries are not drawn: move the slider back to see them.`
        : said.length === 0
          ? 'Nothing has been said yet.'
          : '',
    );
    this.#earlier.hidden = earlier === 0 && said.length > 0;
    this.#arrange(said);
    this.#toEnd();
  }

  /** Puts items in order, and moves none that is where it belongs. */
  #arrange(said: readonly Said[]): void {
    const kept = new Set<Entry>();
    for (const { entry } of said) kept.add(entry);
    for (const [entry, item] of this.#items) {
      if (kept.has(entry)) continue;
      item.root.remove();
      this.#items.delete(entry);
    }
    let next = this.#list.firstElementChild;
    for (const one of said) {
      let item = this.#items.get(one.entry);
      if (item === undefined) {
        item = makeItem(one.entry);
        this.#items.set(one.entry, item);
      }
      write(item, one);
      if (item.root === next) next = next.nextElementSibling;
      else this.#list.insertBefore(item.root, next);
    }
  }

  #toEnd(): void {
    if (!this.#isAtEnd) return;
    afterDrawing(() => {
      this.#place.scrollTop = this.#place.scrollHeight;
    });
  }
}

function write(item: Item, said: Said): void {
  const { root, mark, text, said: before } = item;
  const { entry, text: full, standing, isWithdrawnNow } = said;
  if (before?.text === full && before.standing === standing && before.isWithdrawnNow === isWithdrawnNow) return;
  item.said = said;
  setClass(root, `entry ${entry.who} ${standing}${isWithdrawnNow ? ' now' : ''}`);
  setText(
    mark,
    standing === 'standing'
      ? ''
      : standing === 'provisional'
        ? 'provisional'
        : isWithdrawnNow
          ? 'withdrawn here'
          : 'withdrawn',
  );
  const shown =
    full.length <= mostLetters
      ? full
      : `${full.slice(0, 1_000)} … (${full.length} letters) … ${full.slice(1_000 - mostLetters)}`;
  setText(text, shown);
}

function makeItem(entry: Entry): Item {
  const mark = el('span', 'mark');
  const text = el('div', 'text');
  const head = el('div', 'by', el('span', 'speaker', names[entry.who] ?? 'note'), mark);
  head.append(linkTo(String(entry.since), entry.since, undefined, 'link since'));
  const root = el('li', 'entry', head, text);
  return { root, mark, text, said: undefined };
}
