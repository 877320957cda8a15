/** What a search and the filters ask for, and which steps have it. */
import type { ActorKind } from '../../../contract/journal.js';
import type { Step } from '../../view/frames.js';

export interface Filter {
  /** Words that must all be there, in any place of a step; case means nothing. */
  readonly text: string;
  /** Kinds of actor that are shown; none: all of them. */
  readonly kinds: readonly ActorKind[];
  /** The one actor whose steps are shown. */
  readonly actor?: string;
}

export const noFilter: Filter = { text: '', kinds: [] };

/** Whether anything is asked for. */
export function isFiltering({ text, kinds, actor }: Filter): boolean {
  return text.trim() !== '' || kinds.length > 0 || actor !== undefined;
}

/** A filter as a question to a step. */
export function matcher({ text, kinds, actor }: Filter): (step: Step) => boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return (step) =>
    (actor === undefined || step.actor === actor) &&
    (kinds.length === 0 || kinds.includes(step.kind)) &&
    words.every((word) => has(step, word));
}

function has(step: Step, word: string): boolean {
  const holds = (text: string | undefined) => text?.toLowerCase().includes(word) === true;
  return (
    holds(step.event) ||
    holds(step.actor) ||
    holds(step.to) ||
    holds(step.label) ||
    holds(step.why) ||
    step.did.some(({ effect, detail }) => holds(effect) || holds(detail)) ||
    step.arrows.some((arrow) => holds(arrow.text)) ||
    step.edits.some((edit) => 'text' in edit && holds(edit.text))
  );
}
