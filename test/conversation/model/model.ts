/**
 * A conversation as the page has it, written apart from the product: plain lists, copied whole at every Begin, one function a table.
 * Nothing is shared, nothing is cached, nothing is fast.
 */
import {
  type ClientAction,
  MessageSchema,
  type ResponseEvent,
  ResponseEvent_StreamFinishedSchema,
  ResponseEventSchema,
  type ResponseEvent_StreamFinished as StreamFinished,
  SuggestionsSchema,
  TaskSchema,
} from '../../../proto/index.js';
import type {
  ConversationDiagnosticCode,
  ConversationMode,
  ConversationPolicies,
  FoldInput,
  RequestEnd,
} from '../../../src/conversation/index.js';
import { act, type Content, copyOf, copyOfContent, Failure, find, hexOf, parentOf } from './content.js';
import { linear, openToolCalls, todoLists } from './derived.js';

export interface ModelDiagnostic {
  readonly code: ConversationDiagnosticCode;
  readonly event: number;
  readonly action?: number;
}

interface Level {
  base: Content;
  doomed: boolean;
}

export type Phase = 'awaiting_init' | 'streaming' | 'finished' | 'failed' | 'truncated' | 'cancelled';
type EndKind = 'done' | 'failed' | 'input' | 'cancel' | 'split';

/** Under `strict`, where nothing goes on. */
class Halt {}

/** How a request ended. */
export interface ModelEnd {
  readonly phase: Phase;
  readonly requestId: string;
  readonly conversationId: string;
  readonly reason: string;
  readonly openToolCalls: readonly string[];
  readonly interrupted: readonly string[];
  readonly diagnostics: readonly ModelDiagnostic[];
}

export class Model {
  readonly #mode: ConversationMode;
  readonly #policies: ConversationPolicies;
  phase: Phase = 'awaiting_init';
  content: Content = { tasks: [], suggestions: undefined, placeholder: false };
  levels: Level[] = [];
  diagnostics: ModelDiagnostic[] = [];
  diverged = false;
  finished: StreamFinished | null = null;
  interrupted: string[] = [];
  earlier: { readonly id: string; readonly content: Content }[] = [];
  conversations: string[] = [];
  halted = false;
  events = 0;
  /** Of the last input, if it ended the request. */
  ended: ModelEnd | undefined;
  #init: { conversationId: string; requestId: string } | undefined;
  #awaitsName = false;
  /** Every id that a conversation has or had. */
  readonly #taken = new Set<string>();
  /** What names of split-off conversations begin with, and their number. */
  #base = '';
  #number = 1;
  #requestFrom = 0;
  #event = 0;
  #action: number | undefined;

  constructor(mode: ConversationMode, policies: Partial<ConversationPolicies>) {
    this.#mode = mode;
    this.#policies = {
      nested: policies.nested ?? 'ignore',
      onDoomedCommit: policies.onDoomedCommit ?? 'rollback',
      onFailure: policies.onFailure ?? (mode === 'warp' ? 'commit' : 'rollback'),
      onCancel: policies.onCancel ?? 'commit',
    };
  }

  take(input: FoldInput): void {
    this.ended = undefined;
    if (this.halted) return;
    this.#event = this.events;
    this.#action = undefined;
    if (!('end' in input) || input.end === 'bad_frame') this.events++;
    const kept = this.#keep();
    try {
      if ('end' in input) this.#end(input.end);
      else this.#receive(copyOf(ResponseEventSchema, input));
    } catch (thrown) {
      if (!(thrown instanceof Halt)) throw thrown;
      this.#halt(kept);
    }
  }

  /** What a strict failure puts back, at an event as a whole. */
  #keep() {
    return { finished: this.finished, ...this.#keepAction() };
  }

  #keepAction() {
    const { phase, content, levels, diverged, conversations, earlier } = this;
    return {
      phase,
      content: copyOfContent(content),
      levels: levels.map(({ base, doomed }) => ({ base: copyOfContent(base), doomed })),
      diverged,
      conversations: [...conversations],
      earlier: [...earlier],
    };
  }

  #halt(kept: Partial<Model>): void {
    Object.assign(this, kept);
    this.halted = true;
    if (this.phase !== 'awaiting_init' && this.phase !== 'streaming') return;
    this.#close('failed');
    this.#finish('failed');
  }

  #tell(code: ConversationDiagnosticCode): void {
    const { length } = this.diagnostics;
    this.diagnostics.push(
      this.#action === undefined ? { code, event: this.#event } : { code, event: this.#event, action: this.#action },
    );
    if (this.#mode === 'strict') {
      this.diagnostics.length = length + 1;
      throw new Halt();
    }
  }

  // the stream

  #receive({ type }: ResponseEvent): void {
    const isAwaited = this.phase === 'awaiting_init';
    const isLate = !isAwaited && this.phase !== 'streaming';
    if (type.case === 'init') this.#begin(type.value.conversationId, type.value.requestId);
    else if (isLate) this.#tell('after_finished');
    else if (type.case === undefined) this.#tell('unknown_event');
    else {
      if (isAwaited) this.#tell('actions_before_init');
      if (type.case === 'finished') this.#finished(type.value);
      else if (!isAwaited) this.#actions(type.value.actions);
    }
  }

  #finished(finished: StreamFinished): void {
    this.finished = finished;
    const isDone = reasonOf(finished) === 'done';
    this.#close(isDone ? 'done' : 'failed');
    this.#finish(isDone ? 'finished' : 'failed');
  }

  #begin(conversationId: string, requestId: string): void {
    const current = this.conversations.at(-1);
    const sameRequest = this.#init?.requestId === requestId;
    const isReplay = sameRequest && (conversationId === current || conversationId === this.#init?.conversationId);
    const names =
      current !== undefined &&
      conversationId !== current &&
      this.#awaitsName &&
      !isReplay &&
      !this.#taken.has(conversationId);
    const belongs = current === undefined || conversationId === current || names || isReplay;
    const resumes = sameRequest && (this.phase === 'truncated' || this.phase === 'cancelled');
    if (!belongs) {
      this.#tell('unexpected_init');
      return;
    }
    if (this.phase === 'streaming') {
      if (!sameRequest) this.#tell('unexpected_init');
      else if (!isReplay) this.#name(conversationId);
      return;
    }
    if (isReplay && !resumes && this.phase !== 'awaiting_init') return;
    if (!isReplay) this.#name(conversationId);
    this.phase = 'streaming';
    this.interrupted = [];
    if (resumes) return;
    this.#init = { conversationId, requestId };
    this.finished = null;
    this.#requestFrom = this.diagnostics.length;
  }

  #name(id: string): void {
    this.#taken.add(id);
    if (this.conversations.length === 0) this.conversations.push(id);
    else this.conversations[this.conversations.length - 1] = id;
    if (this.#awaitsName || this.conversations.length === 1) {
      this.#base = id;
      this.#number = 1;
    }
    this.#awaitsName = false;
  }

  #end(end: 'eof' | 'error' | 'bad_frame' | 'cancel'): void {
    if (end === 'bad_frame') this.#tell('bad_frame');
    if (this.phase !== 'awaiting_init' && this.phase !== 'streaming') return;
    this.#close(end === 'cancel' ? 'cancel' : 'input');
    this.#finish(end === 'cancel' ? 'cancelled' : 'truncated');
  }

  #finish(phase: Phase): void {
    this.phase = phase;
    this.ended = {
      phase,
      requestId: this.#init?.requestId ?? '',
      conversationId: this.conversations.at(-1) ?? '',
      reason: this.finished === null ? '' : reasonOf(this.finished),
      openToolCalls: openToolCalls(this.content),
      interrupted: this.interrupted,
      diagnostics: this.diagnostics.slice(this.#requestFrom),
    };
  }

  // transactions

  #top(): Level | undefined {
    return this.levels.at(-1);
  }

  #fails(code: ConversationDiagnosticCode): void {
    this.#tell(code);
    this.#dooms();
  }

  #dooms(): void {
    const top = this.#top();
    if (top === undefined) this.diverged = true;
    else if (this.#mode !== 'warp') top.doomed = true;
  }

  #open(): void {
    this.levels.push({ base: copyOfContent(this.content), doomed: false });
  }

  /** Ends the top level. */
  #pop(keeps: boolean): void {
    const level = this.levels.pop();
    if (level === undefined) return;
    if (!keeps) this.content = level.base;
  }

  #commitTop(): void {
    const top = this.#top();
    if (top === undefined) return;
    if (!top.doomed) {
      this.#pop(true);
      return;
    }
    this.#tell('doomed_commit');
    this.diverged = true;
    const keeps = this.#policies.onDoomedCommit === 'commit';
    this.#pop(keeps);
    const around = this.#top();
    if (keeps && around !== undefined) around.doomed = true;
  }

  #close(end: EndKind): void {
    const outermost = this.levels[0];
    if (outermost === undefined) return;
    if (end === 'done') this.#tell('unclosed_transaction');
    if (end === 'split') this.#tell('split_in_transaction');
    if (end === 'done' || end === 'split') {
      while (this.levels.length > 0) this.#commitTop();
      return;
    }
    const keeps = (end === 'cancel' ? this.#policies.onCancel : this.#policies.onFailure) === 'commit';
    while (this.levels.length > 0) this.#pop(keeps);
    if (end === 'cancel' && keeps) this.interrupted = touched(outermost.base, this.content);
  }

  // actions

  #actions(actions: readonly ClientAction[]): void {
    for (const [index, action] of actions.entries()) {
      this.#action = index;
      const kept = this.#keepAction();
      try {
        if (!this.#take(action) && this.#mode === 'warp') break;
      } catch (thrown) {
        if (!(thrown instanceof Halt)) throw thrown;
        this.#action = undefined;
        this.#halt(kept);
        return;
      }
    }
    this.#action = undefined;
  }

  /** Whether it did not fail. */
  #take(action: ClientAction): boolean {
    switch (action.action.case) {
      case undefined:
        if ((action.$unknown ?? []).length > 0) {
          this.#tell('unknown_action');
          this.diverged = true;
        } else this.#tell('empty_action');
        return true;
      case 'beginTransaction':
        return this.#beginTransaction();
      case 'commitTransaction':
        if (this.levels.length === 0) this.#tell('commit_without_begin');
        this.#commitTop();
        return true;
      case 'rollbackTransaction':
        if (this.levels.length === 0) this.#tell('rollback_without_begin');
        this.#pop(false);
        return true;
      case 'startNewConversation':
        return this.#split(action.action.value.startFromMessageId);
      default:
        return this.#apply(action);
    }
  }

  #beginTransaction(): boolean {
    if (this.levels.length === 0) {
      this.#open();
      return true;
    }
    this.#tell('nested_begin');
    if (this.#policies.nested === 'savepoint') this.#open();
    if (this.#policies.nested !== 'error') return true;
    this.#dooms();
    return false;
  }

  #apply(action: ClientAction): boolean {
    const content = copyOfContent(this.content);
    try {
      act(content, action, this.#mode === 'warp', (code) => this.#tell(code));
      this.content = copyOfContent(content);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      this.#fails(thrown.code);
      return false;
    }
  }

  #split(from: string): boolean {
    if (from === '' || find(this.content, from) === undefined) {
      this.#fails('unknown_message');
      return false;
    }
    this.#close('split');
    const place = find(this.content, from);
    if (place === undefined) {
      this.#fails('unknown_message');
      return false;
    }
    const left = copyOfContent(this.content);
    const at = this.content.tasks.indexOf(place.task);
    for (const [index, task] of this.content.tasks.entries()) {
      if (index < at) task.messages = [];
      else if (index === at) task.messages = task.messages.slice(place.at);
      const stays = left.tasks[index];
      if (stays !== undefined && index >= at) stays.messages = index > at ? [] : stays.messages.slice(0, place.at);
    }
    const carried = new Set<string>();
    for (const { task, messages } of this.content.tasks.toReversed()) {
      if (messages.length > 0) carried.add(task.id);
      if (carried.has(task.id)) carried.add(parentOf(task));
    }
    this.content.tasks = this.content.tasks.filter(({ task }) => carried.has(task.id));
    this.content.placeholder = true;
    this.earlier.push({ id: this.conversations.at(-1) ?? '', content: left });
    do this.#number++;
    while (this.#taken.has(`${this.#base}#${this.#number}`));
    this.conversations.push(`${this.#base}#${this.#number}`);
    this.#taken.add(`${this.#base}#${this.#number}`);
    this.#awaitsName = true;
    return true;
  }

  /** Where what was told of the end of a request differs from how it ended. */
  differencesOf(told: RequestEnd | undefined): string[] {
    const { ended } = this;
    if (ended === undefined || told === undefined) {
      return ended === told
        ? []
        : [`the model ${ended ? 'ended' : 'did not end'} a request, the fold did${told ? '' : ' not'}`];
    }
    const { finished } = this;
    const wanted = {
      ...ended,
      usage: finished?.tokenUsage.map(({ totalInput }) => totalInput) ?? [],
      cost: finished?.requestCost?.exact ?? 0,
    };
    const found = {
      phase: told.phase,
      requestId: told.requestId,
      conversationId: told.conversationId,
      reason: told.reason,
      openToolCalls: told.openToolCalls,
      interrupted: told.interrupted,
      diagnostics: told.diagnostics.map(({ code, event, action }) =>
        action === undefined ? { code, event } : { code, event, action },
      ),
      usage: told.usage.map(({ totalInput }) => totalInput),
      cost: told.cost,
    };
    const [one, other] = [JSON.stringify(wanted), JSON.stringify(found)];
    return one === other ? [] : [`the model ended with ${one}, the fold with ${other}`];
  }

  /** All of it that a host can see, in plain words and bytes. */
  shown(): Shown {
    const { content, finished } = this;
    return {
      phase: this.phase,
      conversationId: this.conversations.at(-1) ?? '',
      requestId: this.#init?.requestId ?? '',
      transaction: this.#top() === undefined ? 'none' : this.#top()?.doomed ? 'doomed' : 'open',
      diverged: this.diverged,
      ...shownContent(content),
      rootTaskId: content.tasks[0]?.task.id,
      interrupted: this.interrupted,
      finished: finished && { reason: reasonOf(finished), bytes: hexOf(ResponseEvent_StreamFinishedSchema, finished) },
      diagnostics: this.diagnostics,
      conversations: this.conversations,
      earlier: this.earlier.map(({ id, content }) => ({ id, ...shownContent(content) })),
      position: this.events,
      openToolCalls: openToolCalls(content),
      linear: linear(content).map(({ id }) => id),
      todoLists: todoLists(content),
    };
  }
}

/** What a host sees, so that two can be compared. */
export interface Shown {
  readonly phase: string;
  readonly conversationId: string;
  readonly requestId: string;
  readonly transaction: string;
  readonly diverged: boolean;
  readonly tasks: readonly ShownTask[];
  readonly suggestions: string | undefined;
  readonly rootTaskId: string | undefined;
  readonly interrupted: readonly string[];
  readonly finished: { readonly reason: string; readonly bytes: string } | null;
  readonly diagnostics: readonly ModelDiagnostic[];
  readonly conversations: readonly string[];
  readonly earlier: readonly { id: string; tasks: readonly ShownTask[]; suggestions: string | undefined }[];
  readonly position: number;
  readonly openToolCalls: readonly string[];
  readonly linear: readonly string[];
  readonly todoLists: readonly unknown[];
}

export interface ShownTask {
  readonly id: string;
  readonly parentTaskId: string;
  readonly description: string;
  readonly summary: string;
  readonly status: string;
  /** As bytes, with all that has no name here. */
  readonly bytes: string;
  readonly messages: readonly string[];
}

function shownContent({ tasks, suggestions }: Content) {
  return {
    tasks: tasks.map(({ task, messages }) => ({
      id: task.id,
      parentTaskId: parentOf(task),
      description: task.description,
      summary: task.summary,
      status: task.status?.status.case ?? '',
      bytes: hexOf(TaskSchema, task),
      messages: messages.map(({ message }) => hexOf(MessageSchema, message)),
    })),
    suggestions: suggestions && hexOf(SuggestionsSchema, suggestions),
  };
}

/** The messages that are other ones than before. */
function touched(before: Content, after: Content): string[] {
  const versions = new Map(
    before.tasks.flatMap((task) => task.messages.map(({ message, version }) => [message.id, version])),
  );
  return after.tasks.flatMap((task) =>
    task.messages
      .filter(({ message, version }) => versions.get(message.id) !== version)
      .map(({ message }) => message.id),
  );
}

function reasonOf(finished: StreamFinished): string {
  const { reason, $unknown } = finished;
  return reason.case ?? ($unknown?.some(({ wireType }) => wireType === 2) ? '' : 'done');
}
