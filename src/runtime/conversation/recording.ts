/**
 * A conversation's journal as its runtime uses it: what is written, what waits
 * for it, and what becomes of both when it fails.
 *
 * Invariants kept here:
 *
 * R1. A journal fails once for a conversation, and is asked for nothing more.
 * R2. Where it is durable, what is told behind a commit waits for a flush
 *     (`durability.ts`); else nothing waits.
 */
import type { StreamPhase } from '../../../machines/index.js';
import { isCommitpointError, JournalFailedError } from '../../contract/errors.js';
import type { ConversationState, Folded } from '../../conversation/index.js';
import type { EffectBook } from '../../conversation/step-recorder.js';
import { ConversationRecorder, type RecordedLife } from './conversation-recorder.js';
import { Durability, ignorable } from './durability.js';
import type { EffectPlace } from './host-effects.js';

/** Whose journal it is. */
export interface RecordingWatch {
  /** Something that waited was told. */
  told(): void;
  /** The journal has failed, outside of a step. */
  journalFailed(): void;
}

export class Recording {
  readonly #life: RecordedLife;
  readonly #recorder: ConversationRecorder;
  readonly #durability: Durability | undefined;
  /** How much was appended when durability was asked for last. */
  #asked = 0;
  #failure: JournalFailedError | undefined;

  constructor(life: RecordedLife, book: EffectBook | undefined, watch: RecordingWatch) {
    this.#life = life;
    this.#recorder = new ConversationRecorder(life, book);
    if (life.journal.durable) {
      this.#durability = new Durability(
        life.journal,
        () => watch.told(),
        (error) => {
          this.#failed(error);
          watch.journalFailed();
        },
      );
    }
  }

  /** Why nothing is written any more. */
  get failure(): JournalFailedError | undefined {
    return this.#failure;
  }

  /** What to wait for before more is read. */
  get room(): Promise<void> | undefined {
    return this.#durability?.room;
  }

  /** The life begins. @throws {JournalFailedError} */
  begin(state: ConversationState): void {
    try {
      this.#recorder.begin(state);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  /** A step was taken; nobody was told. Gives whether it was written. */
  step(folded: Folded): boolean {
    if (this.#failure !== undefined) return false;
    try {
      const mustBeDurable = this.#recorder.step(folded);
      if (mustBeDurable) this.#require();
      return true;
    } catch (thrown) {
      this.#failed(thrown);
      return false;
    }
  }

  /** An effect is about to run. Gives whether that was written, so that it may. */
  effect(place: EffectPlace, phase: StreamPhase): boolean {
    if (this.#failure !== undefined) return false;
    try {
      this.#recorder.effect(place, phase);
      return true;
    } catch (thrown) {
      this.#failed(thrown);
      return false;
    }
  }

  /** Tells now, or when everything before it is durable and told; `forget` is called instead if that never comes. */
  tell(tell: () => void, forget?: () => void): void {
    if (this.#durability === undefined) tell();
    else this.#durability.tell(tell, forget);
  }

  flush(): Promise<void> {
    return ignorable(
      new Promise((resolve, reject) => {
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#recorder.appended !== this.#asked) this.#require();
        this.tell(resolve, () => reject(this.#failure));
      }),
    );
  }

  /** It has failed: what waited is forgotten. */
  close(): void {
    this.#durability?.close();
  }

  #require(): void {
    if (this.#durability === undefined) return;
    this.#asked = this.#recorder.appended;
    this.#durability.require();
  }

  #failed(cause: unknown): JournalFailedError {
    this.#failure ??= isOurs(cause) ? cause : new JournalFailedError(`of conversation ${this.#life.id}`, cause);
    return this.#failure;
  }
}

function isOurs(cause: unknown): cause is JournalFailedError {
  try {
    return isCommitpointError(cause) && cause.code === 'journal_failed';
  } catch {
    // an error that cannot be looked at
    return false;
  }
}
