/** The top of the page: what is looked at, whether it is connected, whether the invariants hold. */
import { el, linkTo, need, setAttribute, setClass, setText } from './dom.js';
import type { View, Viewer } from './viewer.js';

const sources: Readonly<Record<string, string>> = {
  process: 'a live process',
  journal: 'a journal',
  scenario: 'a scenario',
  counterexample: 'a counterexample',
};

const connections: Readonly<Record<Viewer['connection'], readonly [glyph: string, words: string, title: string]>> = {
  connecting: ['○', 'connecting', 'Waiting for the first frame'],
  open: ['●', 'connected', 'What happens is shown as it comes'],
  lost: ['◌', 'lost, retrying', 'The connection broke: the browser tries again, and asks for what it missed'],
  refused: ['✕', 'no connection', 'The server refused, or is gone. Is the address the one that was printed last?'],
  ended: ['■', 'ended', 'Nothing comes any more'],
  unreadable: ['✕', 'not readable', 'Something came that this page cannot read'],
};

export class Header implements View {
  readonly #viewer: Viewer;
  readonly #title = need('title');
  readonly #source = need('source');
  readonly #connection = need('connection');
  readonly #glyph = el('span', 'glyph');
  readonly #words = el('span', 'words');
  readonly #again = el('button', 'chip', 'try again');
  readonly #verdict = need<HTMLButtonElement>('verdict');
  readonly #panel = need('findings');
  #listed = '';

  constructor(viewer: Viewer, connect: () => void) {
    this.#viewer = viewer;
    this.#glyph.setAttribute('aria-hidden', 'true');
    this.#again.type = 'button';
    this.#again.hidden = true;
    this.#again.addEventListener('click', connect);
    this.#connection.append(this.#glyph, this.#words, this.#again);
    this.#verdict.addEventListener('click', () => this.#open(this.#panel.hidden !== false));
    this.#panel.addEventListener('click', (event) => {
      if (event.target instanceof HTMLAnchorElement) this.close();
    });
  }

  /** Closes the list of findings; `false` where it was closed. */
  close(): boolean {
    if (this.#panel.hidden) return false;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#open(false);
    if (hadFocus) this.#verdict.focus();
    return true;
  }

  #open(isOpen: boolean): void {
    this.#panel.hidden = !isOpen;
    setAttribute(this.#verdict, 'aria-expanded', String(isOpen));
    if (isOpen) {
      this.draw();
      this.#panel.focus();
    }
  }

  draw(): void {
    const { run, connection, waiting } = this.#viewer;
    setText(this.#title, run.opening?.title ?? 'commitpoint');
    setAttribute(this.#title, 'title', run.opening?.title);
    setText(this.#source, sources[run.opening?.source ?? ''] ?? '');
    const [glyph, words, title] = connections[connection];
    setText(this.#glyph, glyph);
    setText(this.#words, waiting > 0 && connection !== 'lost' ? 'reading' : words);
    setClass(this.#connection, `connection ${connection}`);
    setAttribute(
      this.#connection,
      'title',
      run.fault ?? (connection === 'ended' && run.ended !== undefined ? run.ended : title),
    );
    this.#again.hidden = connection !== 'refused' && connection !== 'unreadable';
    this.#judge();
  }

  #judge(): void {
    const { findings, judged, last } = this.#viewer.run;
    const [kind, words] =
      findings.length > 0
        ? (['bad', `✘ ${findings.length === 1 ? '1 invariant broken' : `${findings.length} findings`}`] as const)
        : judged === undefined
          ? (['none', '… not judged yet'] as const)
          : judged.isJudged
            ? (['good', judged.upTo >= last ? '✔ invariants hold' : `✔ they hold up to ${judged.upTo}`] as const)
            : (['none', '– invariants not judged'] as const);
    setClass(this.#verdict, `verdict ${kind}`);
    setText(this.#verdict, words);
    if (!this.#panel.hidden) this.#list();
  }

  #list(): void {
    const { findings, judged } = this.#viewer.run;
    const state = `${findings.length} ${judged?.upTo} ${judged?.isJudged} ${judged?.why}`;
    if (state === this.#listed) return;
    this.#listed = state;
    this.#panel.replaceChildren(el('h2', '', 'Invariants'), el('p', '', summary(this.#viewer)));
    if (findings.length === 0) return;
    const list = el('ul', 'found');
    for (const { n, actor, invariant, detail } of findings) {
      const item = el('li', '', linkTo(`step ${n}`, n, actor), ' ', el('strong', '', `✘ ${invariant}`), ' ', detail);
      item.append(' ', el('span', 'quiet mono', actor));
      list.append(item);
    }
    this.#panel.append(list);
  }
}

function summary({ run: { findings, judged } }: Viewer): string {
  if (judged === undefined) return 'They have not been judged yet.';
  if (!judged.isJudged) return `They are not judged: ${judged.why ?? 'no reason was given'}`;
  if (findings.length === 0) return `All of them hold up to step ${judged.upTo}.`;
  return `Checked up to step ${judged.upTo}. What is broken:`;
}
