/**
 * What happens in a session, as actions of a response stream: a stretch is a transaction.
 *
 * Invariants kept here (`docs/design/record-session.md` has them for hosts):
 *
 * T1. A transaction is open exactly from the first output of a stretch to its end; each is committed or rolled back by name.
 * T2. A result is committed at its commit point, with the stretch so far. Nothing takes it back.
 * T3. A call that is decided without a result is answered with `cancel`, unless the call itself was rolled back.
 * T4. What a rollback takes away and is a fact all the same (what the user said, a call that goes on, a `cancel` of a call
 *     that was committed) is recorded again in the same event.
 * T5. Message ids are used for one message each; one that is recorded again keeps its id.
 * T6. What is kept is bounded by the open calls and the stretches that may still be playing.
 */
import type { ActionInit } from '../../conversation/writer/action-writer.js';
import { audioMs } from './audio-ms.js';
import { Heard, type SpokenText } from './heard.js';
import {
  add,
  agentMessage,
  appendToAgent,
  appendToUser,
  begin,
  callMessage,
  cancelMessage,
  commit,
  cutAgent,
  type MessageInit,
  resultMessage,
  reviseUser,
  rollback,
  userMessage,
} from './messages.js';
import { Pieces, wellFormed } from './texts.js';

/** What becomes of the stretch that the user interrupts. */
export type OnInterrupted = 'keep' | 'discard';

export interface ScribeSettings {
  readonly taskId: string;
  readonly onInterrupted: OnInterrupted;
  /** Takes the actions of one event. */
  readonly write: (actions: readonly ActionInit[]) => void;
  /** A new id for a message. */
  readonly nextId: () => string;
}

/** A call that has no answer yet. */
interface OpenCall {
  readonly id: string;
  readonly message: MessageInit;
  isCommitted: boolean;
}

/** Something that the user says; its transcript comes in pieces. */
interface Utterance {
  readonly messageId: string;
  text: string;
  isCommitted: boolean;
  /** It began before the output of the stretch at hand. */
  isEarlier: boolean;
}

/** Written since the last commit, and not to be lost. */
type Provisional =
  | { readonly of: 'call'; readonly call: OpenCall }
  | { readonly of: 'user'; readonly utterance: Utterance }
  | { readonly of: 'cancel'; readonly message: MessageInit };

export class Scribe {
  readonly #settings: ScribeSettings;
  readonly #heard = new Heard();
  readonly #pieces = new Pieces();
  readonly #calls = new Map<string, OpenCall>();
  #isOpen = false;
  /** The message that the agent's words go to. */
  #speech: SpokenText | undefined;
  /** By the call, the utterance, the message that it is about. */
  readonly #provisional = new Map<object, Provisional>();
  /** What the user is saying, as long as its transcript may go on. */
  #hearing: Utterance | undefined;
  /** The last one that ended without a final transcript. */
  #lastHeard: Utterance | undefined;
  /** The user has interrupted, and it is not written yet: these calls were abandoned by it. */
  #abandoned: OpenCall[] | undefined;
  /** Of the event that is being written. */
  #actions: ActionInit[] = [];

  constructor(settings: ScribeSettings) {
    this.#settings = settings;
  }

  // ── the agent ──

  text(delta: string): void {
    this.#output();
    this.#say(this.#pieces.take(delta));
    this.#send();
  }

  audio(data: string, mediaType: string): void {
    this.#output();
    this.#heard.received(audioMs(data, mediaType));
    this.#send();
  }

  admitted(id: string, name: string, args: string): void {
    this.#output();
    this.#say(this.#pieces.end());
    // what the agent says after it comes after it
    this.#speech = undefined;
    const message = callMessage(this.#nextId(), id, name, args);
    const call: OpenCall = { id, message, isCommitted: false };
    this.#calls.set(id, call);
    this.#provisional.set(call, { of: 'call', call });
    this.#add(message);
    this.#send();
  }

  /** The commit point of a call (T2). One whose call was not recorded is not, either. */
  published(id: string, output: string, isError: boolean): void {
    this.settle();
    if (!this.#calls.delete(id)) return;
    this.#add(resultMessage(this.#nextId(), id, output, isError));
    const goesOn = this.#isOpen;
    this.#commit();
    this.#send();
    if (!goesOn) return;
    this.#begin();
    this.#send();
  }

  /** A call will not be answered, for the interruption at hand or since it was withdrawn (T3). */
  abandoned(id: string): void {
    const call = this.#calls.get(id);
    if (this.#abandoned === undefined || call === undefined) this.#cancel(id);
    else {
      this.#calls.delete(id);
      this.#abandoned.push(call);
    }
  }

  /** The session ended before a call had its answer (T3). */
  cancelled(id: string): void {
    this.settle();
    this.#cancel(id);
  }

  turnComplete(): void {
    this.settle();
    this.#say(this.#pieces.end());
    this.#commit();
    this.#stretchIsOver();
    this.#utteranceIsOver();
    this.#send();
  }

  /** Which calls it abandons is told next: it is written when that is known, at {@link settle}. */
  interrupted(): void {
    this.settle();
    this.#say(this.#pieces.end());
    this.#send();
    this.#abandoned = [];
    if (this.#hearing?.isEarlier) this.#utteranceIsOver();
  }

  /** Writes an interruption, once all is known that belongs to it. */
  settle(): void {
    const abandoned = this.#abandoned;
    if (abandoned === undefined) return;
    this.#abandoned = undefined;
    this.#endStretch(abandoned, true);
    this.#send();
  }

  /** The end of the session, or of its recording: what is open is closed as an interruption would, and nothing is cut. */
  end(): void {
    this.settle();
    this.#say(this.#pieces.end());
    const unanswered = [...this.#calls.values()];
    this.#calls.clear();
    this.#endStretch(unanswered, false);
    this.#utteranceIsOver();
    this.#lastHeard = undefined;
    this.#send();
  }

  // ── the user ──

  userWrote(text: string): void {
    this.settle();
    this.#utteranceIsOver();
    this.#utter(wellFormed(text));
    this.#send();
  }

  /** A piece of a transcript, or all of it when it is final. */
  userSaid(text: string, final: boolean): void {
    this.settle();
    const said = wellFormed(text);
    if (!final) this.#hear(said);
    else this.#heardAll(said);
    this.#send();
  }

  played(ms: number): void {
    this.settle();
    this.#heard.played(ms);
  }

  // ── inside ──

  #cancel(id: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    const message = cancelMessage(this.#nextId(), id);
    // a rollback takes away a call that it began with, and its answer
    if (!call.isCommitted) this.#provisional.delete(call);
    else if (this.#isOpen) this.#provisional.set(message, { of: 'cancel', message });
    this.#add(message);
    this.#send();
  }

  #output(): void {
    this.settle();
    this.#heard.begin();
    if (this.#isOpen) return;
    this.#begin();
    if (this.#hearing !== undefined) this.#hearing.isEarlier = true;
  }

  #say(text: string): void {
    if (text === '') return;
    const { taskId } = this.#settings;
    if (this.#speech !== undefined) {
      this.#speech.text += text;
      this.#actions.push(appendToAgent(taskId, this.#speech.messageId, text));
      return;
    }
    const messageId = this.#nextId();
    this.#speech = { messageId, text, kept: undefined };
    this.#heard.said(this.#speech);
    this.#add(agentMessage(messageId, text));
  }

  #hear(piece: string): void {
    if (piece === '') return;
    if (this.#hearing === undefined) {
      this.#hearing = this.#utter(piece);
      return;
    }
    const utterance = this.#hearing;
    utterance.text += piece;
    this.#actions.push(appendToUser(this.#settings.taskId, utterance.messageId, piece));
    this.#mayBeLost(utterance);
  }

  #heardAll(text: string): void {
    const last = this.#lastHeard;
    // a final transcript may come when the agent has already answered
    const utterance = this.#hearing ?? (last !== undefined && text.startsWith(last.text) ? last : undefined);
    this.#hearing = undefined;
    this.#lastHeard = undefined;
    if (utterance === undefined) {
      if (text !== '') this.#utter(text);
      return;
    }
    if (utterance.text === text) return;
    utterance.text = text;
    this.#actions.push(reviseUser(this.#settings.taskId, utterance.messageId, text));
    this.#mayBeLost(utterance);
  }

  #utter(text: string): Utterance {
    const utterance: Utterance = { messageId: this.#nextId(), text, isCommitted: !this.#isOpen, isEarlier: false };
    this.#add(userMessage(utterance.messageId, text));
    this.#mayBeLost(utterance);
    return utterance;
  }

  #mayBeLost(utterance: Utterance): void {
    if (this.#isOpen) this.#provisional.set(utterance, { of: 'user', utterance });
  }

  #utteranceIsOver(): void {
    if (this.#hearing !== undefined) this.#lastHeard = this.#hearing;
    this.#hearing = undefined;
  }

  #begin(): void {
    this.#isOpen = true;
    this.#actions.push(begin);
  }

  #commit(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#actions.push(commit);
    for (const entry of this.#provisional.values()) {
      if (entry.of === 'user') entry.utterance.isCommitted = true;
      else if (entry.of === 'call') entry.call.isCommitted = true;
    }
    this.#provisional.clear();
    this.#heard.committed();
  }

  /** `unanswered`: calls that get no result for it. */
  #endStretch(unanswered: readonly OpenCall[], isInterrupted: boolean): void {
    const { taskId, onInterrupted } = this.#settings;
    const said = this.#heard.saidLength;
    if (this.#isOpen && onInterrupted === 'discard') this.#rollBack();
    if (isInterrupted) for (const cut of this.#heard.cut(said)) this.#actions.push(cutAgent(taskId, cut));
    for (const call of unanswered) {
      const stands = call.isCommitted || this.#isOpen;
      if (stands) this.#add(cancelMessage(this.#nextId(), call.id));
    }
    this.#commit();
    this.#stretchIsOver();
  }

  #rollBack(): void {
    this.#isOpen = false;
    this.#actions.push(rollback);
    for (const entry of this.#provisional.values()) {
      switch (entry.of) {
        case 'call':
          if (this.#calls.get(entry.call.id) !== entry.call) break;
          entry.call.isCommitted = true;
          this.#add(entry.call.message);
          break;
        case 'cancel':
          this.#add(entry.message);
          break;
        case 'user': {
          const { utterance } = entry;
          const { messageId, text } = utterance;
          if (utterance.isCommitted) this.#actions.push(reviseUser(this.#settings.taskId, messageId, text));
          else this.#add(userMessage(messageId, text));
          utterance.isCommitted = true;
        }
      }
    }
    this.#provisional.clear();
    this.#heard.rolledBack();
  }

  #stretchIsOver(): void {
    this.#heard.over();
    this.#speech = undefined;
  }

  #nextId(): string {
    return this.#settings.nextId();
  }

  #add(message: MessageInit): void {
    this.#actions.push(add(this.#settings.taskId, message));
  }

  #send(): void {
    if (this.#actions.length === 0) return;
    const actions = this.#actions;
    this.#actions = [];
    this.#settings.write(actions);
  }
}
