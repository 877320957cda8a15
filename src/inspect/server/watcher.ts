/**
 * What is watched of a process: sessions, supervisors, conversations.
 *
 * W1. What is watched is harmed by nothing of this: a throw in here ends the
 *     telling of what it came from.
 * W2. Of an actor that is recorded in a journal of this server the records are
 *     told; of others what their machines do, and then it is said that nobody
 *     judges them.
 */
import type { InspectionObserver } from '../../contract/inspector.js';
import type { SessionTap, Tappable } from '../../contract/session-tap.js';
import { tapped } from '../../contract/session-tap.js';
import type { ConversationState } from '../../conversation/index.js';
import { Inspected } from '../view/inspected.js';
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

export class Watcher {
  readonly #presentation: () => Presentation;
  /** Sessions and conversations whose records come here. */
  readonly #recorded = new Set<string>();
  /** What is tapped, so that nothing is twice. */
  readonly #tapped = new WeakSet<object>();

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

  /** Attaches. Gives what detaches. @throws what `inspect` of the target throws */
  watch(target: Watchable): () => void {
    const parts = target as Watchable & Parts;
    const detaching = new Set<() => void>();
    const rescan = () => this.#children(parts, detaching);
    const name = parts.sessionId ?? parts.id;
    const inspected = new Inspected(
      {
        isRecorded: (actor) => this.#recorded.has(actor),
        moved: (move) => this.#moved(move),
        sessionCame: () => {
          // its object is there when the step at hand is over
          if (parts.list !== undefined) Promise.resolve().then(rescan, () => {});
        },
      },
      name,
    );
    const observe = guarded(inspected.observe);
    inspected.isAnnouncing = true;
    const detach = target.inspect(observe);
    inspected.isAnnouncing = false;
    detaching.add(detach);
    this.#tap(parts, detaching);
    this.#conversation(parts, detaching);
    rescan();
    return () => {
      for (const end of detaching) quietly(end);
      detaching.clear();
    };
  }

  #moved(move: InspectedMove): void {
    const presentation = this.#presentation();
    presentation.cannotJudge(
      `${move.actor} is watched, not recorded: hand server.journal() to what starts it, and every invariant is checked`,
    );
    presentation.inspected(move);
  }

  /** The sessions and conversations of a supervisor. */
  #children(parts: Parts, detaching: Set<() => void>): void {
    quietly(() => {
      for (const child of parts.list?.() ?? []) {
        this.#tap(child as Parts, detaching);
        this.#conversation(child as Parts, detaching);
      }
    });
  }

  #tap(parts: Parts, detaching: Set<() => void>): void {
    const tap = parts[tapped];
    if (tap === undefined || this.#tapped.has(parts)) return;
    this.#tapped.add(parts);
    const session = parts.sessionId ?? parts.current?.sessionId ?? parts.id ?? '';
    const { narrator } = this.#presentation();
    for (const { id, name } of parts.calls?.() ?? []) narrator.knowsCall(session, id, name);
    let detach: (() => void) | undefined;
    const ended = () => {
      if (detach !== undefined) detaching.delete(detach);
    };
    detach = tap.call(parts, { ...this.#tapOf(session), ended });
    detaching.add(detach);
  }

  /** Of the presentation of the moment. */
  #tapOf(session: string): SessionTap {
    let from: Presentation | undefined;
    let tap: SessionTap = {};
    const now = (): SessionTap => {
      const presentation = this.#presentation();
      if (presentation !== from) {
        from = presentation;
        tap = presentation.narrator.tapOf(session);
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
  #conversation(parts: Parts, detaching: Set<() => void>): void {
    const { changes$, id } = parts;
    if (changes$ === undefined || id === undefined || parts.state === undefined || this.#tapped.has(parts)) return;
    this.#tapped.add(parts);
    const show = guarded(() => {
      if (!this.#recorded.has(id) && parts.state !== undefined) {
        this.#presentation().narrator.conversationStands(id, parts.state);
      }
    });
    show(undefined);
    let subscription: { unsubscribe(): void } | undefined;
    const detach = () => subscription?.unsubscribe();
    detaching.add(detach);
    // one that has closed has nothing to detach from
    subscription = changes$.subscribe({ next: () => show(undefined), complete: () => detaching.delete(detach) });
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
