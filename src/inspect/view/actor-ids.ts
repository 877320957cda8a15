/** What the ids of actors say of whom they belong to. */
import type { ActorKind } from '../../contract/journal.js';

/** The actor that another belongs to, by its id; `undefined` for one that stands by itself, or whose id does not say. */
export function parentOf(actor: string, kind: ActorKind): string | undefined {
  if (kind === 'call') return actor.slice(0, Math.max(0, actor.indexOf('/')));
  if (kind === 'transaction') return actor.slice(0, Math.max(0, actor.lastIndexOf('/')));
  const stream = kind === 'conversation' ? actor.lastIndexOf('/stream-') : -1;
  return stream < 0 ? undefined : actor.slice(0, stream);
}

/** The session, conversation or supervisor that an actor is, or belongs to. */
export function ownerOf(actor: string, kind: ActorKind): string {
  return parentOf(actor, kind) ?? actor;
}

/** What is taken for the parent of an actor whose parent was never told of, and where it is taken to stand. */
export function aboveUnseen(kind: ActorKind): [kind: ActorKind, state: string] {
  if (kind === 'call') return ['session', 'open.responding'];
  return kind === 'transaction' || kind === 'conversation' ? ['conversation', 'streaming'] : ['supervisor', 'running'];
}

const over: ReadonlySet<string> = new Set([
  'closed',
  'completed',
  'rejected',
  'unconfirmed',
  'cancelled',
  'abandoned.settled',
  'committed',
  'rolled_back',
  'stopped',
]);

/** Whether nothing comes of an actor that stands there. A conversation that was cancelled may go on. */
export function isOver(kind: ActorKind, state: string): boolean {
  return over.has(state) && kind !== 'conversation';
}
