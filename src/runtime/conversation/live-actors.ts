/** The actors of a conversation: one for each stream, one for each transaction that is open. */
import type { AnyActorRef } from 'xstate';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { FoldStep } from '../../conversation/index.js';
import { ActorSystem, type ActorWatch } from '../actors.js';
import { StreamActor, TransactionActor } from './actors.js';

export class LiveActors {
  readonly root: StreamActor;
  readonly #system: ActorSystem;
  /** Further streams that are not closed. */
  readonly #streams = new Set<StreamActor>();
  /** Open transactions, the outermost first. */
  readonly #levels: TransactionActor[] = [];
  #lastTransaction: number;

  /**
   * `lastTransaction`: the number of the last one before. `above`: under which the conversation is shown.
   *
   * @throws {XStateVersionError} when the XState that is installed does not step as this library needs it
   */
  constructor(
    watch: ActorWatch,
    inspect: InspectionObserver | undefined,
    lastTransaction: number,
    above?: ActorSystem,
  ) {
    this.#lastTransaction = lastTransaction;
    this.#system = new ActorSystem(watch, above);
    if (inspect !== undefined) this.#system.inspect(inspect);
    this.root = StreamActor.root(this.#system, 'conversation');
  }

  /** The actor of one more stream. */
  open(number: number): StreamActor {
    const actor = StreamActor.child(this.root, `stream-${number}`);
    this.#streams.add(actor);
    return actor;
  }

  /** Ends the actor of a stream. */
  close(actor: StreamActor): void {
    this.#streams.delete(actor);
    actor.release();
  }

  /** Takes a step of a transaction that the fold took; `stream`: whose it is. */
  stepTransaction({ level, type, snapshot }: Extract<FoldStep, { of: 'transaction' }>, stream: StreamActor): void {
    if (type === undefined) {
      this.#lastTransaction++;
      const id = `transaction-${this.#lastTransaction}`;
      this.#levels[level] = TransactionActor.create(stream, id, snapshot.context);
      return;
    }
    this.#levels[level]?.step(type, snapshot);
    if (snapshot.status !== 'active') this.#levels.length = level;
  }

  announce(observer: InspectionObserver): void {
    const actors: Iterable<unknown> = [this.root, ...this.#streams, ...this.#levels];
    this.#system.announce(observer, actors as Iterable<AnyActorRef>);
  }

  inspect(observer: InspectionObserver): () => void {
    this.announce(observer);
    const attached = this.#system.inspect(observer);
    return () => attached.unsubscribe();
  }
}
