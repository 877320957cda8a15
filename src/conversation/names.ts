/** The ids of the conversations that splits make of one: given by inits, and until then by us. */
import { OrderedMap } from './persistent/ordered-map.js';
import { Vector } from './persistent/vector.js';

/** How an init compares with what is known: the same request, another one of this conversation, or another conversation. */
export type InitKind = 'init_same' | 'init_next' | 'init_renames' | 'init_foreign';

/** The ids of an init. */
export interface InitIds {
  readonly conversationId: string;
  readonly requestId: string;
}

/** Immutable, as all of a state. The last name is that of the conversation that actions go to. */
export class ConversationNames {
  static readonly empty = new ConversationNames(Vector.empty(), OrderedMap.empty(), '', 0, true);
  readonly #names: Vector<string>;
  readonly #taken: OrderedMap<true>;
  /** What our names for conversations that are split off begin with, and which of them the last one is. */
  readonly #base: string;
  readonly #number: number;
  readonly #isNamed: boolean;
  #list: readonly string[] | undefined;

  private constructor(names: Vector<string>, taken: OrderedMap<true>, base: string, number: number, isNamed: boolean) {
    this.#names = names;
    this.#taken = taken;
    this.#base = base;
    this.#number = number;
    this.#isNamed = isNamed;
  }

  /** `undefined` before any init. */
  get current(): string | undefined {
    return this.#names.at(this.#names.size - 1);
  }

  /** Whether an init named the last one; else it waits for its id. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  at(index: number): string {
    return this.#names.at(index) ?? '';
  }

  get list(): readonly string[] {
    this.#list ??= Object.freeze([...this.#names]);
    return this.#list;
  }

  /** What an init is, after the init of the request at hand. */
  compare({ conversationId, requestId }: InitIds, before: InitIds | undefined): InitKind {
    const { current } = this;
    const isCurrent = current === conversationId;
    const isSameRequest = before?.requestId === requestId;
    if (isSameRequest && (isCurrent || before.conversationId === conversationId)) return 'init_same';
    if (current === undefined || isCurrent) return 'init_next';
    // a name that an earlier conversation has is no name for this one
    if (this.#isNamed || this.#taken.get(conversationId) !== undefined) return 'init_foreign';
    return isSameRequest ? 'init_renames' : 'init_next';
  }

  /** With the id that an init gives: to the first conversation, or to one that waits for it. */
  named(id: string): ConversationNames {
    if (this.#isNamed && this.#names.size > 0) return this;
    const names = this.#names.size === 0 ? this.#names.push(id) : this.#names.set(this.#names.size - 1, id);
    return new ConversationNames(names, this.#taken.set(id, true), id, 1, true);
  }

  /** With a name of ours for one more conversation, that is split off from the last. */
  splitOff(): ConversationNames {
    let number = this.#number + 1;
    while (this.#taken.get(`${this.#base}#${number}`) !== undefined) number++;
    const id = `${this.#base}#${number}`;
    return new ConversationNames(this.#names.push(id), this.#taken.set(id, true), this.#base, number, false);
  }
}
