/** The actors that there are at an instant, as lines of a tree. */
import type { Actor } from './actor.js';
import { isOver } from './marks.js';
import type { Run } from './run.js';
import { begunUpTo } from './search-sorted.js';

export interface TreeLine {
  readonly actor: Actor;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly siblings: number;
  readonly isOpen: boolean;
  readonly hasChildren: boolean;
}

/**
 * The lines that are to be seen at instant n, where these are folded away.
 *
 * @param chosen where it is given, actors that are over are left out, but this one and those around it
 */
export function treeAt(run: Run, n: number, folded: ReadonlySet<string>, chosen?: Actor): TreeLine[] {
  const lines: TreeLine[] = [];
  const begun = (siblings: readonly Actor[]): readonly Actor[] => {
    const there = siblings.slice(
      0,
      begunUpTo(siblings, ({ first }) => first, n),
    );
    return chosen === undefined ? there : there.filter((actor) => actor === chosen || lives(run, actor, n, chosen));
  };
  const walk = (siblings: readonly Actor[]): void => {
    for (const [at, actor] of siblings.entries()) {
      const children = begun(actor.children);
      const hasChildren = children.length > 0;
      const isOpen = hasChildren && !folded.has(actor.id);
      lines.push({ actor, place: at + 1, siblings: siblings.length, isOpen, hasChildren });
      if (isOpen) walk(children);
    }
  };
  walk(begun(run.roots));
  return lines;
}

/** Whether an actor is not over, or is around one that is shown. */
function lives(run: Run, actor: Actor, n: number, chosen: Actor): boolean {
  if (!isOver(actor.kind, run.stateAt(actor, n))) return true;
  for (const child of actor.children)
    if (child === chosen || (child.first <= n && lives(run, child, n, chosen))) return true;
  return false;
}
