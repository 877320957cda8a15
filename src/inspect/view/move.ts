/** What words and edits are made of: one step, as a record or an inspected machine tells it. */
import type {
  ActorKind,
  RecordedCandidate,
  RecordedEffect,
  RecordedFold,
  RecordedOccurrence,
} from '../../contract/journal.js';

/** One step of one actor. */
export interface Move {
  readonly actor: string;
  readonly kind: ActorKind;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: readonly RecordedEffect[];
  /** What is recorded of what happened from outside. */
  readonly occurrence?: RecordedOccurrence;
  readonly folded?: RecordedFold;
}

/** What is known of a call from its admission on. */
export interface CallFacts {
  readonly name: string;
  /** As the model wrote them; `undefined` where nobody has kept them. */
  arguments: string | undefined;
  /** What is known of them else. */
  readonly otherwise: string;
  readonly policy: RecordedCandidate['policy'] | undefined;
}

/** Whether a step asked for an effect, with this detail where one is given. */
export function asked({ did }: Pick<Move, 'did'>, effect: string, detail?: string): boolean {
  return did.some((done) => done.effect === effect && (detail === undefined || done.detail === detail));
}
