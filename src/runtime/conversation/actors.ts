/** Response streams and transactions as XState actors. They are moved by the fold alone (A1 of `../actors.ts`). */
import type { SnapshotFrom } from 'xstate';
import {
  type ResponseStreamEventType,
  type responseStreamMachine,
  responseStreamStepper,
  type TransactionContext,
  type TransactionEventType,
  type transactionMachine,
  transactionStepper,
} from '../../../machines/index.js';
import { type ActorSystem, LivingActor, living, makeRoot } from '../actors.js';

const streamLogic = living(responseStreamStepper);
const transactionLogic = living(transactionStepper);
const nobody = () => {};

/** A response stream's actor. The first stream's is the conversation's, and the root of its system. */
export class StreamActor extends LivingActor<typeof responseStreamMachine> {
  /** Is told when the host stops the actor. */
  onStop: () => void = nobody;

  /** @throws {XStateVersionError} when the XState that is installed does not step as this library needs it */
  static root(system: ActorSystem, id: string): StreamActor {
    const root = makeRoot(system, ({ parent }) => new StreamActor(streamLogic, { parent, id } as never));
    root.start();
    return root;
  }

  /** One more stream of a conversation. */
  static child(root: StreamActor, id: string): StreamActor {
    const system = root.system as unknown as ActorSystem;
    const actor = system.make(() => new StreamActor(streamLogic, { parent: root, id } as never));
    actor.start();
    return actor;
  }

  step(type: ResponseStreamEventType, next: SnapshotFrom<typeof responseStreamMachine>): void {
    this.advance(responseStreamStepper.event(type), next);
  }

  /** What a host may ask of this actor, as the only thing: it cancels the request, and then ends the actor. */
  override stop(): this {
    this.onStop();
    return this;
  }
}

/** The actor of a transaction, or of one level of savepoints; child of its stream's. */
export class TransactionActor extends LivingActor<typeof transactionMachine> {
  static create(stream: StreamActor, id: string, rules: TransactionContext): TransactionActor {
    const system = stream.system as unknown as ActorSystem;
    const make = () => new TransactionActor(transactionLogic, { parent: stream, id, input: rules } as never);
    const actor = system.make(make);
    actor.start();
    return actor;
  }

  step(type: TransactionEventType, next: SnapshotFrom<typeof transactionMachine>): void {
    this.advance(transactionStepper.event(type), next);
  }
}
