import type { InspectionObserver } from '../../contract/inspector.js';
import type { ConversationState } from '../../conversation/index.js';
import { addAbortListener, removeAbortListener } from '../abort-listeners.js';
import type { ActorSystem } from '../actors.js';
import { Conversation } from '../conversation/conversation.js';
import { type ConversationAbove, ConversationRuntime } from '../conversation/conversation-runtime.js';
import type { ConversationSettings } from '../conversation/options.js';
import type { Owner } from './owner.js';

/** A conversation that a supervisor owns. It has one life. */
export class ConversationChild implements ConversationAbove {
  readonly kind = 'conversation';
  readonly id: string;
  readonly #owner: Owner<ConversationChild>;
  readonly #settings: ConversationSettings;
  #runtime: ConversationRuntime | undefined;
  #conversation: Conversation | undefined;
  #isOver = false;
  readonly #onAbort = (): void => this.close();

  /** `id`: its own, under which its records are written. */
  constructor(owner: Owner<ConversationChild>, id: string, settings: ConversationSettings) {
    this.#owner = owner;
    this.id = id;
    this.#settings = settings;
  }

  get system(): ActorSystem {
    return this.#owner.system;
  }

  /** Once it is open. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  get phase(): ConversationState['phase'] {
    return this.#conversation?.state.phase ?? 'awaiting_init';
  }

  /** @throws what `createConversation` does */
  open(): void {
    this.#runtime = new ConversationRuntime(this.#settings, this);
    this.#conversation = new Conversation(this.#runtime);
    // a conversation at rest listens to nobody, and would be held until somebody touches it
    const { signal } = this.#settings;
    if (signal !== undefined) addAbortListener(signal, this.#onAbort);
  }

  announce(observer: InspectionObserver): void {
    this.#runtime?.announce(observer);
  }

  close(): void {
    this.#conversation?.close();
  }

  ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { signal } = this.#settings;
    if (signal !== undefined) removeAbortListener(signal, this.#onAbort);
    this.#owner.happens({ type: 'conversation_ended', child: this });
  }
}
