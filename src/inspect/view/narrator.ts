/**
 * Tells a run as steps: takes records of a journal, what taps report, and what
 * inspected machines do, and gives what the page is told of them.
 *
 * Invariants kept here:
 *
 * F1–F3 of `frames.ts`.
 * N1. The steps of one actor follow on one another: each is taken from the state
 *     that the one before led to. Pieces of text and audio, which have no record,
 *     are steps of their own where they move the session.
 * N2. What was given out by `drain` is never changed.
 * N3. Nothing of what is given out is kept but where each actor stands.
 */
import type { ActorKind, JournalRecord, RecordedEffect } from '../../contract/journal.js';
import type { SessionTap } from '../../contract/session-tap.js';
import type { ConversationState } from '../../conversation/index.js';
import { aboveUnseen, isOver, ownerOf, parentOf } from './actor-ids.js';
import { cut, defaultMaxText, longestId, shownId } from './bounds.js';
import { ConversationStory } from './conversation-story.js';
import type { Arrow, Edit, Step } from './frames.js';
import type { CallFacts, Move } from './move.js';
import { textOfEffect } from './payload-text.js';
import { SessionStory } from './session-story.js';
import { openedBy } from './supervisor-words.js';
import { wordsOf } from './words.js';

/** What a narrator takes. */
export interface NarratorOptions {
  /** Milliseconds of the clock of the run, for what has no record. */
  readonly now: () => number;
  /** How many characters of one text are shown. Default 2000. */
  readonly maxText?: number;
  /** Is told that there is something to drain, once until it was. */
  readonly onSteps?: () => void;
}

/** So many edits of pieces are one step: what goes by in a moment may be any number. */
const mostJoined = 20;

/** Where an actor stands. */
interface Known {
  readonly kind: ActorKind;
  readonly parent: string | undefined;
  readonly label: string | undefined;
  state: string;
}

/** A step that was not given out yet. */
interface Draft extends Step {
  readonly arrows: Arrow[];
  readonly edits: Edit[];
}

/** A step as an inspected machine tells it. */
export interface InspectedMove extends Move {
  readonly parent: string | undefined;
  readonly label: string | undefined;
  /** Led to by the last step of this actor. */
  readonly causedBy?: string;
  /** It stood there before it was watched. */
  readonly isLate: boolean;
  /** Of a call's tool. */
  readonly policy: CallFacts['policy'];
}

export class Narrator {
  readonly #now: () => number;
  readonly #max: number;
  readonly #onSteps: (() => void) | undefined;
  readonly #known = new Map<string, Known>();
  readonly #sessions = new Map<string, SessionStory>();
  readonly #conversations = new Map<string, ConversationStory>();
  readonly #lastOf = new Map<string, number>();
  /** Children that supervisors have opened, and that have not begun. */
  readonly #opened = new Map<string, { readonly parent: string; readonly label: string }>();
  #drafts: Draft[] = [];
  #n = 0;
  /** The first record of the group at hand, and its step. */
  #group = { seq: 0, n: 0 };

  constructor({ now, maxText = defaultMaxText, onSteps }: NarratorOptions) {
    this.#now = now;
    this.#max = maxText;
    this.#onSteps = onSteps;
  }

  /** The number of the last step. */
  get lastStep(): number {
    return this.#n;
  }

  /** How many steps wait to be drained. */
  get waiting(): number {
    return this.#drafts.length;
  }

  /** The steps that were told since the last time. */
  drain(): readonly Step[] {
    const drafts = this.#drafts;
    if (drafts.length > 0) this.#drafts = [];
    for (let at = 0; at < drafts.length; at++) {
      const draft = drafts[at] as Draft;
      if (hasLongId(draft)) drafts[at] = withShownIds(draft);
    }
    return drafts;
  }

  /** Whether an actor has been told of. */
  knows(actor: string): boolean {
    return this.#known.has(actor);
  }

  /** Where an actor stands; `undefined` for one that is not known. */
  stateOf(actor: string): string | undefined {
    return this.#known.get(actor)?.state;
  }

  /** Takes a record. Gives the number of its step. */
  record(record: JournalRecord): number {
    const { at, event, from, seq, cause, data } = record;
    const occurrence = data !== undefined && 'occurrence' in data ? data.occurrence : undefined;
    const folded = data !== undefined && 'folded' in data ? data.folded : undefined;
    const { kind } = record;
    const stream = folded?.stream ?? 0;
    const owner = record.actor;
    const actor = kind === 'conversation' && stream > 0 ? `${owner}/stream-${stream}` : owner;
    const opened = this.#opened.get(actor);
    const parent = parentOf(actor, kind) ?? opened?.parent;
    this.#introduce(at, actor, kind, parent, event, from, record);
    if (kind === 'session') this.#passed(record);
    const move: Move = {
      actor,
      kind,
      event,
      from,
      to: record.to,
      did: record.did,
      ...(occurrence === undefined ? {} : { occurrence }),
      ...(folded === undefined ? {} : { folded }),
    };
    const edits =
      kind === 'conversation' || kind === 'transaction' ? this.#conversation(ownerOf(owner, kind)).take(record) : [];
    const led = cause === 0 ? undefined : cause === this.#group.seq ? this.#group.n : undefined;
    const label = [opened?.label, this.#labelOf(record)]
      .filter((part) => part !== undefined && part !== '')
      .join(' · ');
    const n = this.#take(move, at, parent, label === '' ? undefined : label, led, edits);
    if (event === '') this.#opened.delete(actor);
    if (cause === 0) this.#group = { seq, n };
    return n;
  }

  /** Takes a step that an inspected machine made. */
  inspected(move: InspectedMove): void {
    const { actor, kind, parent, label, event, from, causedBy, isLate, policy } = move;
    const at = this.#now();
    if (kind === 'call' && parent !== undefined && policy !== undefined) this.#session(parent).policyOf(actor, policy);
    this.#introduce(at, actor, kind, parent, event, from, undefined);
    if (isLate) {
      const { to } = move;
      const why = 'it was there before it was watched';
      this.#emit({ at, actor, kind, event: '', from: '', to, did: [], why }, parent, label, [], []);
      return;
    }
    const cause = causedBy === undefined ? undefined : this.#lastOf.get(causedBy);
    this.#take(move, at, parent, label, cause, []);
  }

  /** What stands of a conversation that is looked at. */
  conversationStands(id: string, state: ConversationState): void {
    this.#attach(id, 'conversation', 'stands', this.#conversation(id).show(state));
  }

  /** Sees what a session reports, so that its words are shown; of one that goes on across incarnations, each under its id: `current` says which. */
  tapOf(first: string, current: () => string | undefined = () => undefined): SessionTap {
    let id = first;
    const story = () => {
      const of = this.#session(id);
      of.isTapped = true;
      return of;
    };
    story();
    return {
      reported: (event) => {
        id = event.sessionId;
        story();
        if (event.type === 'text') this.#piece(id, 'text', event.text);
        else if (event.type === 'audio') this.#piece(id, 'audio', '');
      },
      noted: (event) => {
        id = current() ?? id;
        if (event.type === 'input_text' && event.final)
          this.#attach(id, 'session', 'input_text', story().user(event.text));
        else if (event.type === 'call') {
          const { id: call, name, from, arguments: args, result } = event;
          if (from === null) this.#named(`${id}/${call}`, name);
          if (from === null && args !== undefined)
            this.#attach(id, 'session', 'call', story().argumentsOf(call, name, args));
          if (result !== undefined) {
            this.#attach(id, 'session', 'call', story().resultOf(call, result.output, result.isError));
          }
        }
      },
      acted: (act) => {
        if (act.type !== 'send') return;
        id = current() ?? id;
        this.#attach(id, 'session', 'send', story().user(act.input.type === 'text' ? act.input.text : '(audio)'));
      },
    };
  }

  /** A call that was there before anybody looked. */
  knowsCall(session: string, id: string, name: string): void {
    this.#session(session).knows(id, name);
  }

  /** Numbers begin anew: with a step for each actor that lives, parents first. Gives nothing out of what was told before. */
  restart(maxActors = 1000): void {
    this.#drafts = [];
    this.#n = 0;
    this.#group = { seq: 0, n: 0 };
    this.#lastOf.clear();
    this.#opened.clear();
    const kept = this.#livingLast(maxActors);
    const all = [...this.#known];
    this.#known.clear();
    for (const [id, known] of all) {
      if (!kept.has(id)) continue;
      const { kind, parent, label, state } = known;
      const story =
        kind === 'conversation' && parentOf(id, kind) === undefined ? this.#conversations.get(id) : undefined;
      this.#sessions.get(id)?.restart((call) => kept.has(call));
      const edits = story?.restart() ?? [];
      this.#emit(
        {
          at: this.#now(),
          actor: id,
          kind,
          event: '',
          from: '',
          to: state,
          did: [],
          why: 'it lived before what is shown',
        },
        parent,
        label,
        edits,
        [],
      );
    }
    for (const id of [...this.#sessions.keys()]) if (!this.#known.has(id)) this.#sessions.delete(id);
    for (const id of [...this.#conversations.keys()]) if (!this.#known.has(id)) this.#conversations.delete(id);
  }

  /** Those that live, the last `most` of them, with all that they belong to. */
  #livingLast(most: number): ReadonlySet<string> {
    const living = [...this.#known].filter(([, { kind, state }]) => !isOver(kind, state));
    const kept = new Set<string>();
    for (const [id] of living.slice(-most)) {
      let above: string | undefined = id;
      while (above !== undefined && !kept.has(above)) {
        kept.add(above);
        above = this.#known.get(above)?.parent;
      }
    }
    return kept;
  }

  // ── steps ──

  #take(
    move: Move,
    at: number,
    parent: string | undefined,
    label: string | undefined,
    cause: number | undefined,
    folded: readonly Edit[],
  ): number {
    const { actor, kind, event, from, to, did } = move;
    let edits: readonly Edit[] = folded;
    let named = label;
    const story =
      kind === 'session' ? this.#session(actor) : kind === 'call' ? this.#session(parent ?? actor) : undefined;
    if (kind === 'session') edits = this.#session(actor).ofSession(move);
    else if (kind === 'call') edits = this.#session(parent ?? actor).ofCall(move);
    else if (kind === 'supervisor') {
      for (const child of openedBy(did)) this.#opened.set(child.actor, { parent: actor, label: child.label });
    }
    const facts = kind === 'call' ? story?.factsOf(actor) : undefined;
    named ??= facts?.name === '' ? undefined : facts?.name;
    const { arrows, why } = wordsOf(move, facts, story?.end, this.#max);
    const step = { at, actor, kind, event, from, to, did: did.map((effect) => this.#did(effect)) };
    const led = cause === undefined ? {} : { cause };
    this.#emit(
      { ...step, ...led, ...(why === undefined ? {} : { why: cut(why, this.#max) }) },
      parent,
      named,
      edits,
      arrows,
    );
    return this.#n;
  }

  #did(effect: RecordedEffect): Step['did'][number] {
    const { effect: name, detail } = effect;
    const said = textOfEffect(effect, this.#max);
    const words = [detail, said].filter((part) => part !== undefined).join(' ');
    return words === '' ? { effect: name } : { effect: name, detail: cut(words, this.#max) };
  }

  /** F2: whoever steps without having begun is introduced, its parent first. */
  #introduce(
    at: number,
    actor: string,
    kind: ActorKind,
    parent: string | undefined,
    event: string,
    from: string,
    record: JournalRecord | undefined,
  ): void {
    if (parent !== undefined && !this.#known.has(parent)) {
      const [parentKind, state] = aboveUnseen(kind);
      this.#unseen(at, parent, parentKind, undefined, state, undefined);
    }
    if (event !== '' && !this.#known.has(actor)) this.#unseen(at, actor, kind, parent, from, record);
  }

  #unseen(
    at: number,
    actor: string,
    kind: ActorKind,
    parent: string | undefined,
    to: string,
    record: JournalRecord | undefined,
  ): void {
    const isStream = kind === 'conversation' && parent !== undefined;
    const why = isStream ? 'one more stream of its conversation' : 'its beginning is not in what is shown';
    const label = record === undefined ? undefined : this.#labelOf(record);
    this.#emit({ at, actor, kind, event: '', from: '', to, did: [], why }, parent, label, [], []);
  }

  #emit(
    step: Omit<Step, 'n' | 'arrows' | 'edits' | 'parent' | 'label'>,
    parent: string | undefined,
    label: string | undefined,
    edits: readonly Edit[],
    arrows: readonly Arrow[],
  ): void {
    const { actor, kind, from, to } = step;
    const known = this.#known.get(actor);
    const isFirst = from === '';
    if (known === undefined || isFirst) this.#known.set(actor, { kind, parent, label, state: to });
    else known.state = to;
    this.#n++;
    this.#lastOf.set(actor, this.#n);
    const first = isFirst
      ? {
          ...(parent === undefined ? {} : { parent }),
          ...(label === undefined || label === '' ? {} : { label: cut(label, 200) }),
        }
      : {};
    const bounded = arrows.map((arrow) => ({ ...arrow, text: cut(arrow.text, 200) }));
    this.#drafts.push({ n: this.#n, ...step, ...first, arrows: bounded, edits: [...edits] });
    if (this.#drafts.length === 1) this.#onSteps?.();
  }

  // ── what has no record ──

  /** Text and audio went by since the session's last record. */
  #passed({ actor, at, from, passed, event }: JournalRecord): void {
    const known = this.#known.get(actor);
    if (known === undefined || event === '') return;
    const story = this.#session(actor);
    const moved = known.state !== from && known.state !== '';
    const text = passed?.text[0] ?? 0;
    const audio = passed?.audio[0] ?? 0;
    if (story.isTapped) {
      if (moved) this.#pieceStep(actor, audio > text ? 'audio' : 'text', at, from, [], '');
      return;
    }
    if (text > 0) {
      const words = `(${text === 1 ? 'a piece' : `${text} pieces`} of text, not kept)`;
      this.#pieceStep(actor, 'text', at, from, story.piece('text', words), words);
    }
    if (audio > 0) {
      const words = `(${audio === 1 ? 'a piece' : `${audio} pieces`} of audio)`;
      this.#pieceStep(actor, 'audio', at, from, story.piece('audio', words), words);
    }
    if (moved && text + audio === 0) this.#pieceStep(actor, 'text', at, from, [], '');
  }

  /** A piece was reported by a session that is tapped. Those that follow on one another are one step until it is given out. */
  #piece(session: string, type: 'text' | 'audio', text: string): void {
    const story = this.#session(session);
    const edits = story.piece(type, text);
    const last = this.#drafts.at(-1);
    if (last !== undefined && last.actor === session && last.event === type && last.edits.length < mostJoined) {
      for (const edit of edits) this.#join(last, edit);
      const arrow = last.arrows.findIndex(({ to }) => to === 'host');
      const before = last.arrows[arrow];
      if (before !== undefined && type === 'text') {
        last.arrows[arrow] = { ...before, text: cut(`${before.text === type ? '' : before.text}${text}`, 200) };
      }
      return;
    }
    const state = this.#known.get(session)?.state ?? 'open.waiting';
    const to = state === 'open.waiting' ? 'open.responding' : state;
    this.#pieceStep(session, type, this.#now(), to, edits, text);
  }

  #pieceStep(
    actor: string,
    event: 'text' | 'audio',
    at: number,
    to: string,
    edits: readonly Edit[],
    words: string,
  ): void {
    const from = this.#known.get(actor)?.state ?? to;
    const text = words === '' ? event : words;
    const arrows: Arrow[] = [
      { from: 'far side', to: 'session', text: event },
      { from: 'session', to: 'host', text },
    ];
    const step = { at, actor, kind: 'session' as const, event, from, to, did: [{ effect: 'deliver' }] };
    this.#emit(step, undefined, undefined, edits, arrows);
  }

  /** Adds an edit to a step, one with the piece before it where both append to one entry. */
  #join(draft: Draft, edit: Edit): void {
    const last = draft.edits.at(-1);
    const goesOn = edit.edit === 'append' && (last?.edit === 'add' || last?.edit === 'append') && last.id === edit.id;
    if (goesOn && last.text.length + edit.text.length <= this.#max) {
      draft.edits[draft.edits.length - 1] = { ...last, text: last.text + edit.text };
    } else draft.edits.push(edit);
  }

  /** The name of an actor's tool comes behind its first step. */
  #named(actor: string, label: string): void {
    const known = this.#known.get(actor);
    if (known === undefined || known.label !== undefined) return;
    this.#known.set(actor, { ...known, label });
    const at = this.#drafts.findLastIndex((draft) => draft.actor === actor && draft.from === '');
    const draft = this.#drafts[at];
    if (draft !== undefined) this.#drafts[at] = { ...draft, label: cut(label, 200) };
  }

  /** Adds what was reported to the step that it belongs to, or makes one. */
  #attach(actor: string, kind: 'session' | 'conversation', event: string, edits: readonly Edit[]): void {
    if (edits.length === 0) return;
    const last = this.#drafts.at(-1);
    const isOfIt = last !== undefined && (last.actor === actor || last.actor.startsWith(`${actor}/`));
    if (isOfIt) {
      last.edits.push(...edits);
      return;
    }
    const state = this.#known.get(actor)?.state;
    if (state === undefined) return;
    const step = { at: this.#now(), actor, kind, event, from: state, to: state, did: [] };
    this.#emit(step, undefined, undefined, edits, []);
  }

  // ── who ──

  #session(id: string): SessionStory {
    let story = this.#sessions.get(id);
    if (story === undefined) {
      story = new SessionStory(id, this.#max);
      this.#sessions.set(id, story);
    }
    return story;
  }

  #conversation(id: string): ConversationStory {
    let story = this.#conversations.get(id);
    if (story === undefined) {
      story = new ConversationStory(id, this.#max);
      this.#conversations.set(id, story);
    }
    return story;
  }

  #labelOf({ kind, actor, data }: JournalRecord): string | undefined {
    if (kind === 'session') return data !== undefined && 'session' in data ? data.session.provider : undefined;
    return kind === 'transaction' ? actor.slice(actor.lastIndexOf('/') + 1) : undefined;
  }
}

function hasLongId({ actor, edits }: Draft): boolean {
  return actor.length > longestId || edits.some(({ id }) => id !== undefined && id.length > longestId);
}

/** F3, for ids that are longer than may be shown. */
function withShownIds(draft: Draft): Draft {
  const lane = (name: Arrow['from']): Arrow['from'] =>
    name.startsWith('actor:') ? `actor:${shownId(name.slice('actor:'.length))}` : name;
  return {
    ...draft,
    actor: shownId(draft.actor),
    ...(draft.parent === undefined ? {} : { parent: shownId(draft.parent) }),
    arrows: draft.arrows.map(({ from, to, text }) => ({ from: lane(from), to: lane(to), text })),
    edits: draft.edits.map((edit) => (edit.id === undefined ? edit : ({ ...edit, id: shownId(edit.id) } as Edit))),
  };
}
