/** The actors that there are at an instant, as lines of a tree. */
import type { Actor } from './actor.js';
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

/** The lines that are to be seen at instant n, where these are folded away. */
export function treeAt(run: Run, n: number, folded: ReadonlySet<string>): TreeLine[] {
  const lines: TreeLine[] = [];
  const walk = (siblings: readonly Actor[]): void => {
    const count = begunUpTo(siblings, ({ first }) => first, n);
    for (let at = 0; at < count; at++) {
      const actor = siblings[at] as Actor;
      const hasChildren = actor.children.length > 0 && (actor.children[0] as Actor).first <= n;
      const isOpen = hasChildren && !folded.has(actor.id);
      lines.push({ actor, place: at + 1, siblings: count, isOpen, hasChildren });
      if (isOpen) walk(actor.children);
    }
  };
  walk(run.roots);
  return lines;
}
