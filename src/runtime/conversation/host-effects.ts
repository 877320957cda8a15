/** What the host wants done about actions: asked for at each, and put into the outbox. */
import { InvalidInputError } from '../../contract/errors.js';
import type { FoldStep } from '../../conversation/index.js';
import type { FoldStepOf } from '../../conversation/step.js';
import type { EffectBook } from '../../conversation/step-recorder.js';
import { attempt, isThenable } from '../attempt.js';
import type { ConversationEffect, ConversationOptions } from './options.js';
import type { Outbox, PendingEffect } from './outbox.js';
import type { StreamLife } from './stream-life.js';

const nothing = () => {};

export class HostEffects implements EffectBook {
  readonly #effects: NonNullable<ConversationOptions['effects']>;
  readonly #outbox: Outbox;
  readonly #failed: (where: EffectPlace, error: unknown) => void;
  /** Of the step at hand. */
  #life: StreamLife | undefined;
  #event = 0;

  /** `failed` is told of what is no effect, and of what the host throws when it is asked. */
  constructor(
    effects: NonNullable<ConversationOptions['effects']>,
    outbox: Outbox,
    failed: (where: EffectPlace, error: unknown) => void,
  ) {
    this.#effects = effects;
    this.#outbox = outbox;
    this.#failed = failed;
  }

  /** A step is at hand: an event of this stream. */
  at(life: StreamLife, event: number): void {
    this.#life = life;
    this.#event = event;
  }

  /** Takes a step of the fold where nobody writes it down. */
  take(step: FoldStep): void {
    if (step.of === 'action') this.acted(step);
    else if (step.of === 'transaction') {
      const { level, type, snapshot } = step;
      if (type === undefined) this.opened(level);
      else if (snapshot.value === 'committed') this.#outbox.keep(level);
      else if (snapshot.value === 'rolled_back') this.#outbox.drop(level);
    }
  }

  acted({ action, index, stream, state }: FoldStepOf<'action'>): { places: readonly string[]; held: boolean } {
    const where: EffectPlace = { event: this.#event, action: index, ...(stream === 0 ? {} : { stream }) };
    const life = this.#life as StreamLife;
    const places: string[] = [];
    try {
      const asked: unknown = this.#effects(action, state());
      if (!Array.isArray(asked)) {
        // an asynchronous function, most likely: what becomes of its promise is of no use
        if (isThenable(asked)) attempt(() => asked, nothing, nothing);
        throw new InvalidInputError('effects', 'a list of functions', asked);
      }
      for (const effect of asked as readonly unknown[]) {
        if (typeof effect === 'function') {
          this.#outbox.add({ effect: effect as ConversationEffect, life, ...where });
          places.push(placeOf(where));
        } else this.#failed(where, new InvalidInputError('effect', 'a function', effect));
      }
    } catch (error) {
      this.#failed(where, error);
    }
    return { places, held: this.#outbox.holds };
  }

  opened(level: number): void {
    this.#outbox.hold(level);
  }

  kept(level: number): readonly string[] {
    return this.#outbox.keep(level).map(placeOf);
  }

  dropped(level: number): readonly string[] {
    return this.#outbox.drop(level).map(placeOf);
  }
}

/** Which action an effect belongs to. */
export type EffectPlace = Omit<PendingEffect, 'effect' | 'life'>;

/** As a journal writes it. */
export function placeOf({ event, action }: EffectPlace): string {
  return `${event}/${action}`;
}
