/**
 * A session's conversation as it stands, told by edits: what was said and
 * called is provisional until its stretch is complete, a call until its commit
 * point, a result until the far side has taken it.
 *
 * E1. An entry is added once; what is changed, settled or withdrawn was added.
 */
import { cut } from './bounds.js';
import type { Edit } from './frames.js';
import { asked, type CallFacts, type Move } from './move.js';
import { textOfBytes, textOfEffect, wordsOfDigest } from './payload-text.js';
import { endInWords, saidIn } from './session-words.js';

const unknownCall: CallFacts = { name: '', arguments: undefined, otherwise: '', policy: undefined };

/** A result on its way. */
interface Result {
  /** Whether its text is what was sent, and not words about it. */
  readonly isKnown: boolean;
}

export class SessionStory {
  readonly #id: string;
  readonly #max: number;
  readonly #calls = new Map<string, CallFacts>();
  /** The call that was asked for last: it may not have begun. */
  #asked = '';
  /** Calls that have an entry. */
  readonly #shown = new Set<string>();
  readonly #results = new Map<string, Result>();
  /** Entries that nothing has decided yet, of the stretch at hand. */
  #open: string[] = [];
  /** The one that pieces go on. */
  #piece: { readonly id: string; readonly type: 'text' | 'audio' } | undefined;
  #entries = 0;
  /** Why it ended. */
  #end: string | undefined;
  /** The user's last words, where a record told of them and nobody yet what they were: an incarnation is tapped late. */
  #unsaid: string | undefined;
  /** Whether what it reports comes here: then records are not asked for what they may not have kept. */
  isTapped = false;

  constructor(id: string, max: number) {
    this.#id = id;
    this.#max = max;
  }

  get end(): string | undefined {
    return this.#end;
  }

  /** What is known of a call, by its actor. */
  factsOf(actor: string): CallFacts | undefined {
    return this.#calls.get(actor);
  }

  /** What a step of the session does to the conversation. */
  ofSession(move: Move): Edit[] {
    const { event, to, from, occurrence } = move;
    const edits: Edit[] = [];
    const candidate = occurrence?.candidate;
    if (candidate !== undefined && event === 'tool_call') {
      const { id, name, policy, digest } = candidate;
      const args = candidate.arguments;
      const known = args === undefined ? undefined : textOfBytes(args, this.#max);
      const otherwise = digest === '' ? '' : wordsOfDigest(digest);
      this.#asked = this.#callId(id);
      this.#calls.set(this.#asked, { name, arguments: known, otherwise, policy });
    } else if (event === 'host_act' && occurrence?.act === 'send' && asked(move, 'performAct')) {
      this.#unsaid = undefined;
      if (!this.isTapped) {
        const entry = this.#entry('user', '(what was said is not kept)', false);
        this.#unsaid = entry.id;
        edits.push(entry);
      }
    } else if (event === 'turn_complete') edits.push(...this.#settle());
    else if (event === 'interrupted') {
      edits.push(...this.#settle());
      edits.push(this.#entry('note', 'the user spoke over it', false));
    } else if (event === 'error') {
      edits.push(this.#entry('note', `error: ${saidIn(move, this.#max) ?? '(not kept)'}`, false));
    }
    const isEnd = (to === 'closing' || to === 'closed') && from !== 'closing' && from !== 'closed' && from !== '';
    if (isEnd) {
      this.#end = endInWords(event) ?? event;
      edits.push(...this.#settle(), this.#entry('note', `the session ends: ${this.#end}`, false));
    }
    return edits;
  }

  /** What a step of a call does to it. */
  ofCall(move: Move): Edit[] {
    const { actor, from, to, event } = move;
    const edits: Edit[] = [];
    if (event === '') {
      // a call whose beginning is not in what is shown has no words of its own
      if (!this.#calls.has(actor)) this.#calls.set(actor, unknownCall);
      edits.push(this.#callEntry(actor));
    }
    if (from === to || !this.#shown.has(actor)) return edits;
    if (to === 'publishing') {
      const effect = move.did.find(({ effect }) => effect === 'publish');
      const text = effect === undefined ? undefined : textOfEffect(effect, this.#max);
      const isKnown = effect?.payload !== undefined;
      this.#results.set(actor, { isKnown });
      const words = `${effect?.detail === 'error' ? 'error: ' : ''}${text ?? '(not kept)'}`;
      edits.push({ edit: 'settle', id: actor }, this.#resultEntry(actor, words));
    } else if (to === 'completed') edits.push({ edit: 'settle', id: resultEntryOf(actor) });
    else if (to === 'rejected') edits.push({ edit: 'withdraw', id: resultEntryOf(actor) });
    else if ((to.startsWith('abandoned') && !from.startsWith('abandoned')) || to === 'cancelled') {
      edits.push({ edit: 'withdraw', id: actor });
    }
    return edits;
  }

  /** A piece of text or audio was reported, or is known to have gone by. */
  piece(type: 'text' | 'audio', text: string): Edit[] {
    if (this.#piece?.type === type) {
      return type === 'audio' ? [] : [{ edit: 'append', id: this.#piece.id, text: cut(text, this.#max) }];
    }
    const entry = this.#entry('agent', type === 'audio' ? '(audio)' : text, true);
    this.#piece = { id: entry.id, type };
    return [entry];
  }

  /** What the user said. */
  user(text: string): Edit[] {
    const id = this.#unsaid;
    this.#unsaid = undefined;
    if (id !== undefined) return [{ edit: 'replace', id, text: cut(text, this.#max), provisional: false }];
    return [this.#entry('user', text, false)];
  }

  /** What a call was asked is known: as the model wrote it. */
  argumentsOf(id: string, name: string, args: string): Edit[] {
    const actor = this.#callId(id);
    const facts = this.#calls.get(actor);
    const text = cut(args, this.#max);
    if (facts === undefined || facts.name === '') {
      this.#calls.set(actor, { ...unknownCall, ...facts, name, arguments: text });
    } else if (facts.arguments === undefined) facts.arguments = text;
    else return [];
    if (!this.#shown.has(actor)) return [];
    return [{ edit: 'replace', id: actor, text: this.#callText(actor), provisional: true }];
  }

  /** What a call is answered with is known: it has entered its commit point. */
  resultOf(id: string, output: string, isError: boolean): Edit[] {
    const actor = this.#callId(id);
    const result = this.#results.get(actor);
    if (result === undefined || result.isKnown) return [];
    this.#results.set(actor, { isKnown: true });
    const text = cut(`${isError ? 'error: ' : ''}${output}`, this.#max);
    return [{ edit: 'replace', id: resultEntryOf(actor), text, provisional: true }];
  }

  /** A call that was there before anybody looked. */
  knows(id: string, name: string): void {
    const actor = this.#callId(id);
    if (!this.#calls.has(actor)) this.#calls.set(actor, { ...unknownCall, name });
  }

  /** What an inspected machine says of the policy of its tool. */
  policyOf(actor: string, policy: CallFacts['policy']): void {
    this.#calls.set(actor, { ...unknownCall, ...this.#calls.get(actor), policy });
  }

  /** Everything begins anew: entries that were told of are forgotten, and what was known of calls that are over. */
  restart(lives: (call: string) => boolean): void {
    for (const actor of this.#calls.keys()) if (actor !== this.#asked && !lives(actor)) this.#calls.delete(actor);
    this.#open = [];
    this.#unsaid = undefined;
    this.#piece = undefined;
    this.#results.clear();
    this.#shown.clear();
  }

  #callId(id: string): string {
    return `${this.#id}/${id}`;
  }

  #callEntry(actor: string): Edit {
    this.#piece = undefined;
    this.#shown.add(actor);
    return { edit: 'add', id: actor, who: 'call', text: this.#callText(actor), provisional: true };
  }

  #callText(actor: string): string {
    const { name, arguments: args, otherwise } = this.#calls.get(actor) ?? unknownCall;
    return cut(`${name === '' ? actor.slice(this.#id.length + 1) : name}(${args ?? otherwise})`, this.#max);
  }

  #resultEntry(actor: string, text: string): Edit {
    this.#piece = undefined;
    return { edit: 'add', id: resultEntryOf(actor), who: 'result', text: cut(text, this.#max), provisional: true };
  }

  #entry(who: 'user' | 'agent' | 'note', text: string, provisional: boolean): Edit & { readonly edit: 'add' } {
    this.#entries++;
    const id = `${this.#id}#${this.#entries}`;
    this.#piece = undefined;
    if (provisional) this.#open.push(id);
    return { edit: 'add', id, who, text: cut(text, this.#max), provisional };
  }

  #settle(): Edit[] {
    const edits: Edit[] = this.#open.map((id) => ({ edit: 'settle', id }));
    this.#open = [];
    this.#piece = undefined;
    return edits;
  }
}

/** The entry of a call's result. */
function resultEntryOf(actor: string): string {
  return `${actor}=`;
}
