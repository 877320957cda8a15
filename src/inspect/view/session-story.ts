/**
 * A session's conversation as it stands, told by edits: what was said and
 * called is provisional until its stretch is complete, a call until its commit
 * point, a result until the far side has taken it.
 *
 * E1. An entry is added once; what is changed, settled or withdrawn was added.
 */
import type { BidiTurnEvent } from '../../contract/turn-event.js';
import { cut } from './bounds.js';
import type { Edit } from './frames.js';
import { asked, type CallFacts, type Move } from './move.js';
import { textOfBytes, textOfEffect, wordsOfDigest } from './payload-text.js';
import { endInWords, saidIn } from './session-words.js';

/** A result on its way. */
interface Result {
  /** Whether its text is what was sent, and not words about it. */
  readonly isKnown: boolean;
}

export class SessionStory {
  readonly #id: string;
  readonly #max: number;
  readonly #calls = new Map<string, CallFacts>();
  readonly #results = new Map<string, Result>();
  /** Entries that nothing has decided yet, of the stretch at hand. */
  #open: string[] = [];
  /** The one that pieces go on. */
  #piece: { readonly id: string; readonly type: 'text' | 'audio' } | undefined;
  #entries = 0;
  /** Why it ended. */
  #end: string | undefined;
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
    if (candidate !== undefined && asked(move, 'admitCall')) {
      const { id, name, policy, digest } = candidate;
      const args = candidate.arguments;
      const known = args === undefined ? undefined : textOfBytes(args, this.#max);
      this.#calls.set(this.#callId(id), { name, arguments: known, policy });
      edits.push(this.#callEntry(id, digest === '' ? '' : wordsOfDigest(digest)));
    } else if (event === 'host_act' && occurrence?.act === 'send' && asked(move, 'performAct') && !this.isTapped) {
      edits.push(this.#entry('user', '(what was said is not kept)', false));
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
    if (event === '' && !this.#calls.has(actor)) {
      // nobody has kept how it came in
      this.#calls.set(actor, { name: '', arguments: undefined, policy: undefined });
    }
    if (from === to || event === '') return edits;
    if (to === 'publishing') {
      const effect = move.did.find(({ effect }) => effect === 'publish');
      const text = effect === undefined ? undefined : textOfEffect(effect, this.#max);
      const isKnown = effect?.payload !== undefined;
      this.#results.set(actor, { isKnown });
      const words = `${effect?.detail === 'error' ? 'error: ' : ''}${text ?? '(not kept)'}`;
      edits.push({ edit: 'settle', id: actor }, this.#resultEntry(actor, words));
    } else if (to === 'completed') edits.push({ edit: 'settle', id: resultOf(actor) });
    else if (to === 'rejected') edits.push({ edit: 'withdraw', id: resultOf(actor) });
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
    return [this.#entry('user', text, false)];
  }

  /** A call has started, of which nothing more may be known. */
  started(
    { toolUseId, toolName }: Extract<BidiTurnEvent, { type: 'tool_started' }>,
    policy: CallFacts['policy'],
  ): Edit[] {
    const known = this.#calls.get(this.#callId(toolUseId));
    if (known !== undefined && known.name !== '') return [];
    this.#calls.set(this.#callId(toolUseId), { name: toolName, arguments: undefined, policy });
    return [this.#callEntry(toolUseId, '')];
  }

  /** The input of a call is known, as its code gets it. */
  input(id: string, input: unknown): Edit[] {
    const facts = this.#calls.get(this.#callId(id));
    if (facts === undefined || facts.arguments !== undefined) return [];
    facts.arguments = jsonOf(input);
    return [{ edit: 'replace', id: this.#callId(id), text: this.#callText(facts, ''), provisional: true }];
  }

  /** What a call was answered with is known. */
  completed({ toolUseId, output, isError }: Extract<BidiTurnEvent, { type: 'tool_completed' }>): Edit[] {
    const actor = this.#callId(toolUseId);
    const result = this.#results.get(actor);
    if (result === undefined || result.isKnown) return [];
    const text = cut(`${isError ? 'error: ' : ''}${output}`, this.#max);
    return [{ edit: 'replace', id: resultOf(actor), text, provisional: false }];
  }

  /** Everything begins anew: entries that were told of are forgotten. */
  restart(): void {
    this.#open = [];
    this.#piece = undefined;
    this.#results.clear();
  }

  #callId(id: string): string {
    return `${this.#id}/${id}`;
  }

  #callEntry(id: string, otherwise: string): Edit & { readonly edit: 'add' } {
    const actor = this.#callId(id);
    this.#piece = undefined;
    const text = this.#callText(this.#calls.get(actor), otherwise);
    return { edit: 'add', id: actor, who: 'call', text, provisional: true };
  }

  #callText(facts: CallFacts | undefined, otherwise: string): string {
    return cut(`${facts?.name ?? ''}(${facts?.arguments ?? otherwise})`, this.#max);
  }

  #resultEntry(actor: string, text: string): Edit {
    this.#piece = undefined;
    return { edit: 'add', id: resultOf(actor), who: 'result', text: cut(text, this.#max), provisional: true };
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
function resultOf(actor: string): string {
  return `${actor}=`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // what came from outside may be anything
    return '(not JSON)';
  }
}
