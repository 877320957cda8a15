/**
 * What is watched of a process: sessions, supervisors, conversations.
 *
 * W1. What is watched is harmed by nothing of this: a throw in here ends the
 *     telling of what it came from.
 * W2. Of an actor that is recorded in a journal of this server the records are
 *     told; of others what their machines do, and then it is said that nobody
 *     judges them.
 * W3. Each step is told once, however often whoever makes it is watched; and as
 *     long as one of those who watch has not detached.
 */
import type { InspectionObserver } from '../../contract/inspector.js';
import type { SessionTap, Tappable } from '../../contract/session-tap.js';
import { tapped } from '../../contract/session-tap.js';
import type { ConversationState } from '../../conversation/index.js';
import { shownId } from '../view/bounds.js';
import { Inspected, Sight } from '../view/inspected.js';
import type { InspectedMove } from '../view/narrator.js';
import type { Presentation } from '../view/presentation.js';

/** What can be watched: a session, a supervised one, a supervisor, a conversation. */
export interface Watchable {
  /** Attaches an observer, after it was told of the actors that live, parents first. Gives what detaches it. */
  inspect(observer: InspectionObserver): () => void;
}

/** The parts of what is watched that are there only in some. */
interface Parts {
  readonly sessionId?: string;
  readonly id?: string;
  readonly current?: { readonly sessionId: string } | undefined;
  readonly state?: ConversationState;
  readonly changes$?: {
    subscribe(observer: { next(): void; complete(): void }): { unsubscribe(): void };
  };
  calls?(): readonly { readonly id: string; readonly name: string }[];
  list?(): readonly unknown[];
  readonly [tapped]?: Tappable[typeof tapped];
}

/** One call of `watch`. */
interface Watching {
  readonly target: object;
  readonly shared: Set<Shared>;
  /** Whether the children of the target are to be looked at. */
  isScanDue: boolean;
  /** The target has come to its end. */
  onEnded(): void;
}

/** A session that is tapped, or a conversation that is looked at, for all who watch it. */
interface Shared {
  readonly of: object;
  readonly by: Set<Watching>;
  detach: () => void;
  isOver: boolean;
}

export class Watcher {
  readonly #presentation: () => Presentation;
  /** Sessions and conversations whose records come here. */
  readonly #recorded = new Set<string>();
  readonly #shared = new WeakMap<object, Shared>();
  readonly #sight = new Sight();

  constructor(presentation: () => Presentation) {
    this.#presentation = presentation;
  }

  /** A life began in a journal of this server. */
  recorded(actor: string): void {
    this.#recorded.add(actor);
    // long-lived processes begin many: those that begin late are looked at first
    if (this.#recorded.size > 100_000)
      for (const oldest of this.#recorded) {
        this.#recorded.delete(oldest);
        break;
      }
  }

  /**
   * Attaches. Gives what detaches. `onEnded`: the target, a session or a conversation, has come to its end.
   *
   * @throws what `inspect` of the target throws
   */
  watch(target: Watchable, onEnded: () => void = () => {}): () => void {
    const parts = target as Watchable & Parts;
    const watching: Watching = { target, shared: new Set(), isScanDue: false, onEnded };
    let isOver = false;
    const rescan = () => {
      watching.isScanDue = false;
      if (!isOver) this.#children(parts, watching);
    };
    const inspected = new Inspected(
      {
        isRecorded: (actor) => this.#recorded.has(actor),
        moved: (move) => this.#moved(move),
        sessionCame: () => {
          if (parts.list === undefined || watching.isScanDue) return;
          // its object is there when the step at hand is over; those that come at once are looked at once
          watching.isScanDue = true;
          Promise.resolve().then(rescan, () => {});
        },
      },
      parts.sessionId ?? parts.id,
      this.#sight,
    );
    inspected.isAnnouncing = true;
    const detach = target.inspect(guarded(inspected.observe));
    inspected.isAnnouncing = false;
    this.#tap(parts, watching);
    this.#conversation(parts, watching);
    rescan();
    return () => {
      if (isOver) return;
      isOver = true;
      quietly(detach);
      for (const shared of watching.shared) this.#release(shared, watching);
      watching.shared.clear();
    };
  }

  #moved(move: InspectedMove): void {
    const presentation = this.#presentation();
    presentation.cannotJudge(
      `${shownId(move.actor)} is watched, not recorded: hand server.journal() to what starts it, and every invariant is checked`,
    );
    presentation.inspected(move);
  }

  /** The sessions and conversations of a supervisor. */
  #children(parts: Parts, watching: Watching): void {
    quietly(() => {
      for (const child of parts.list?.() ?? []) {
        this.#tap(child as Parts, watching);
        this.#conversation(child as Parts, watching);
      }
    });
  }

  #tap(parts: Parts, watching: Watching): void {
    const tap = parts[tapped];
    if (tap === undefined) return;
    this.#share(parts, watching, (ended) => {
      const session = parts.sessionId ?? parts.current?.sessionId ?? parts.id ?? '';
      const { narrator } = this.#presentation();
      for (const { id, name } of parts.calls?.() ?? []) narrator.knowsCall(session, id, name);
      return tap.call(parts, { ...this.#tapOf(session, () => parts.current?.sessionId), ended });
    });
  }

  /** Of the presentation of the moment. */
  #tapOf(session: string, current: () => string | undefined): SessionTap {
    let from: Presentation | undefined;
    let tap: SessionTap = {};
    const now = (): SessionTap => {
      const presentation = this.#presentation();
      if (presentation !== from) {
        from = presentation;
        tap = presentation.tapOf(session, current);
      }
      return tap;
    };
    now();
    return {
      reported: guarded((event) => now().reported?.(event)),
      noted: guarded((event) => now().noted?.(event)),
      acted: guarded((act) => now().acted?.(act)),
    };
  }

  /** What stands of a conversation that nobody records. */
  #conversation(parts: Parts, watching: Watching): void {
    const { changes$, id } = parts;
    if (changes$ === undefined || id === undefined || parts.state === undefined) return;
    this.#share(parts, watching, (ended) => {
      const show = guarded(() => {
        if (!this.#recorded.has(id) && parts.state !== undefined) {
          this.#presentation().conversationStands(id, parts.state);
        }
      });
      show(undefined);
      const subscription = changes$.subscribe({ next: () => show(undefined), complete: ended });
      return () => subscription.unsubscribe();
    });
  }

  /** W3: `attach` is done for the first who watches; it is handed what is to be called at the end. */
  #share(of: object, watching: Watching, attach: (ended: () => void) => () => void): void {
    let shared = this.#shared.get(of);
    if (shared === undefined) {
      const made: Shared = { of, by: new Set(), detach: () => {}, isOver: false };
      shared = made;
      this.#shared.set(of, made);
      made.detach = attach(() => {
        // one that has ended has nothing to detach from
        made.isOver = true;
        for (const one of made.by) {
          one.shared.delete(made);
          if (one.target === of) one.onEnded();
        }
        made.by.clear();
      });
    }
    if (!shared.isOver) {
      shared.by.add(watching);
      watching.shared.add(shared);
    } else if (watching.target === of) watching.onEnded();
  }

  #release(shared: Shared, watching: Watching): void {
    shared.by.delete(watching);
    if (shared.by.size > 0) return;
    this.#shared.delete(shared.of);
    quietly(shared.detach);
  }
}

function guarded<Given>(tell: (given: Given) => void): (given: Given) => void {
  return (given) => quietly(() => tell(given));
}

function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // whoever is watched goes on
  }
}
