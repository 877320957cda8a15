/**
 * A conversation as it stands, told by edits: its messages where its inputs
 * were kept, else what was done to it. What was done in an open transaction is
 * provisional.
 *
 * E1. An entry is added once; what is changed, settled or withdrawn was added.
 * E2. What a message that did not change costs is one comparison.
 */
import type { Message } from '../../../proto/index.js';
import { isCommitpointError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { type ConversationState, JournalFold, type MessageList, messageIndex } from '../../conversation/index.js';
import { cut } from './bounds.js';
import type { Edit } from './frames.js';
import { lineOf } from './message-text.js';

interface Shown {
  /** The id of its entry. */
  readonly entry: string;
  message: Message;
  text: string;
  provisional: boolean;
  /** Whether its entry is not in what is shown, since that began anew. */
  isHidden: boolean;
}

/** How many messages are told again where everything begins anew. */
const toldAgain = 200;

export class ConversationStory {
  readonly #id: string;
  readonly #max: number;
  readonly #fold: JournalFold;
  readonly #shown = new Map<string, Shown>();
  readonly #lists = new Map<string, MessageList>();
  /** Of what is not kept: entries that are provisional, by their transactions, the outermost first. */
  readonly #levels: { actor: string; readonly entries: string[] }[] = [];
  /** Messages whose first entry was withdrawn. */
  readonly #withdrawn = new Set<string>();
  #entries = 0;
  #wasProvisional = false;
  #isFolded = true;

  constructor(id: string, max: number) {
    this.#id = id;
    this.#max = max;
    this.#fold = new JournalFold(id);
  }

  /** What a record of the conversation, or of one of its transactions, does to it. */
  take(record: JournalRecord): Edit[] {
    const state = this.#folded(record);
    if (state !== undefined) return record.kind === 'conversation' ? this.show(state) : [];
    return this.#told(record);
  }

  /** What stands now, compared with what was told before. */
  show(state: ConversationState): Edit[] {
    const edits: Edit[] = [];
    const isOpen = state.transaction !== 'none';
    const isSettled = this.#wasProvisional && !isOpen;
    this.#wasProvisional = isOpen;
    const gone = new Set<string>();
    for (const id of this.#lists.keys()) if (!state.tasks.has(id)) gone.add(id);
    for (const [id, { messages }] of state.tasks) {
      const before = this.#lists.get(id);
      if (before === messages) continue;
      this.#lists.set(id, messages);
      const here = new Set<string>();
      for (const message of messages) {
        here.add(message.id);
        this.#compare(message, isOpen, edits);
      }
      for (const message of before ?? [])
        if (!here.has(message.id) && !isIn(state, message.id)) this.#remove(message.id, edits);
    }
    for (const id of gone) {
      for (const message of this.#lists.get(id) ?? []) if (!isIn(state, message.id)) this.#remove(message.id, edits);
      this.#lists.delete(id);
    }
    if (isSettled) this.#settleShown(edits);
    return edits;
  }

  /** Everything begins anew: what stands is told again, the last of it; the rest when it changes. */
  restart(): Edit[] {
    const edits: Edit[] = [];
    for (const { entries } of this.#levels) entries.length = 0;
    let left = this.#shown.size;
    for (const shown of this.#shown.values()) {
      shown.isHidden = left > toldAgain;
      left--;
      if (!shown.isHidden) edits.push(this.#entryOf(shown));
    }
    return edits;
  }

  #entryOf({ entry, text, message, provisional }: Shown): Edit {
    return { edit: 'add', id: entry, who: lineOf(message, this.#max).who, text, provisional };
  }

  #folded(record: JournalRecord): ConversationState | undefined {
    if (!this.#isFolded) return undefined;
    try {
      this.#fold.take(record);
    } catch (thrown) {
      if (!isCommitpointError(thrown)) throw thrown;
      // the judge says what is wrong with it
      this.#isFolded = false;
      return undefined;
    }
    return this.#fold.state?.conversation;
  }

  #compare(message: Message, isOpen: boolean, edits: Edit[]): void {
    const shown = this.#shown.get(message.id);
    if (shown === undefined) {
      const { who, text } = lineOf(message, this.#max);
      const entry = this.#newEntry(message.id);
      this.#shown.set(message.id, { entry, message, text, provisional: isOpen, isHidden: false });
      edits.push({ edit: 'add', id: entry, who, text, provisional: isOpen });
      return;
    }
    if (shown.message === message) return;
    const id = shown.entry;
    const { text } = lineOf(message, this.#max);
    if (shown.isHidden) {
      Object.assign(shown, { message, text, provisional: isOpen, isHidden: false });
      edits.push(this.#entryOf(shown));
      return;
    }
    const isLonger = text.startsWith(shown.text) && !text.endsWith('…') && shown.provisional === isOpen;
    if (isLonger && text !== shown.text) edits.push({ edit: 'append', id, text: text.slice(shown.text.length) });
    else if (text !== shown.text) edits.push({ edit: 'replace', id, text, provisional: isOpen });
    shown.message = message;
    if (text !== shown.text) shown.provisional = isOpen;
    shown.text = text;
  }

  #remove(message: string, edits: Edit[]): void {
    const shown = this.#shown.get(message);
    if (shown === undefined) return;
    this.#shown.delete(message);
    this.#withdrawn.add(message);
    if (!shown.isHidden) edits.push({ edit: 'withdraw', id: shown.entry });
  }

  #settleShown(edits: Edit[]): void {
    for (const shown of this.#shown.values()) {
      if (!shown.provisional) continue;
      shown.provisional = false;
      if (!shown.isHidden) edits.push({ edit: 'settle', id: shown.entry });
    }
  }

  /** A message that comes back after it was taken away is another entry. */
  #newEntry(message: string): string {
    if (!this.#withdrawn.has(message)) return `${this.#id}:${message}`;
    this.#entries++;
    return `${this.#id}:${message}#${this.#entries}`;
  }

  /** Where nothing is kept: what was done, by name. The records of transactions stand behind the one that moved them. */
  #told({ kind, actor, event, to, did }: JournalRecord): Edit[] {
    const edits: Edit[] = [];
    if (kind === 'transaction') {
      const begun = event === '' ? this.#levels.find((level) => level.actor === '') : undefined;
      if (begun !== undefined) begun.actor = actor;
      else if (to === 'committed' || to === 'rolled_back') this.#close(actor, to === 'committed', edits);
      return edits;
    }
    if (event === '') {
      // what was open when its process was gone is gone
      for (const { entries } of this.#levels.splice(0)) for (const id of entries) edits.push({ edit: 'withdraw', id });
    }
    this.#dropUnbegun();
    let depth = this.#levels.length;
    for (const { effect, detail } of did) {
      if (effect !== 'apply') continue;
      if (detail === 'beginTransaction') {
        this.#levels.push({ actor: '', entries: [] });
        depth = this.#levels.length;
      } else if (detail === 'commitTransaction' || detail === 'rollbackTransaction') depth = Math.max(0, depth - 1);
      else {
        this.#entries++;
        const id = `${this.#id}:#${this.#entries}`;
        const level = this.#levels[depth - 1];
        level?.entries.push(id);
        const text = cut(`${detail ?? 'an action'} (not kept)`, this.#max);
        edits.push({ edit: 'add', id, who: 'note', text, provisional: level !== undefined });
      }
    }
    return edits;
  }

  /** A Begin that began nothing has no record: what came behind it belongs to the level around it. */
  #dropUnbegun(): void {
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const level = this.#levels[at];
      if (level?.actor !== '') continue;
      this.#levels.splice(at, 1);
      this.#levels[at - 1]?.entries.push(...level.entries);
    }
  }

  #close(actor: string, isKept: boolean, edits: Edit[]): void {
    const at = this.#levels.findIndex((level) => level.actor === actor);
    if (at < 0) return;
    const [level] = this.#levels.splice(at, 1);
    const outer = this.#levels[at - 1];
    const entries = level?.entries ?? [];
    if (isKept && outer !== undefined) outer.entries.push(...entries);
    else for (const id of entries) edits.push({ edit: isKept ? 'settle' : 'withdraw', id });
  }
}

function isIn(state: ConversationState, message: string): boolean {
  return messageIndex(state).get(message) !== undefined;
}
