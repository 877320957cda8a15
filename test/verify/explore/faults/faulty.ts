/**
 * Faults, applied while a body runs: a machine whose table was edited stands in
 * for the shipped one, in the runtime and in the pure composition alike, or a
 * method of the coordination is another one. Nothing of the product knows of
 * them.
 */
import { type AnyStateMachine, createMachine } from 'xstate';
import {
  type BareCall,
  Coordination,
  callEvents,
  callStepper,
  createStepper,
  type Occurrence,
  responseStreamEvents,
  responseStreamStepper,
  type Stepper,
  sessionEvents,
  sessionStepper,
  transactionEvents,
  transactionStepper,
} from '../../../../machines/index.js';
import { Tree } from '../../../../src/conversation/tree.js';

/** The table of a machine, to be written to. */
// biome-ignore lint/suspicious/noExplicitAny: a table is edited at places that no type knows
export type Table = any;

/** A mistake that somebody could have made. */
export type Mistake =
  | { readonly in: 'tool-invocation' | 'session' | 'response-stream' | 'transaction'; edit(table: Table): void }
  | { readonly in: 'coordination'; take: FaultyTake }
  /** A message is added in place. */
  | { readonly in: 'tree' };

/** Stands in for `Coordination.take`; `sound` is the shipped one. */
export type FaultyTake = (
  sound: (
    occurrence: Occurrence<BareCall>,
    room: number,
    unreadAudio: number,
    places?: number,
  ) => ReturnType<Coordination<BareCall>['take']>,
  occurrence: Occurrence<BareCall>,
  room: number,
  unreadAudio: number,
  coordination: Coordination<BareCall>,
) => ReturnType<Coordination<BareCall>['take']>;

/** Runs a body with a mistake made. */
export async function withMistake<Result>(mistake: Mistake, body: () => Result | Promise<Result>): Promise<Result> {
  const restore = make(mistake);
  try {
    return await body();
  } finally {
    restore();
  }
}

function make(mistake: Mistake): () => void {
  switch (mistake.in) {
    case 'coordination':
      return patchedTake(mistake.take);
    case 'tree':
      return changedInPlace();
    case 'session':
      return edited(sessionStepper, sessionEvents, mistake.edit);
    case 'tool-invocation':
      return edited(callStepper, callEvents, mistake.edit);
    case 'response-stream':
      return edited(responseStreamStepper, responseStreamEvents, mistake.edit);
    case 'transaction':
      return edited(transactionStepper, transactionEvents, mistake.edit);
  }
}

function patchedTake(faulty: FaultyTake): () => void {
  const prototype = Coordination.prototype as Coordination<BareCall>;
  const { take } = prototype;
  prototype.take = function (this: Coordination<BareCall>, occurrence, room, unreadAudio, places) {
    const sound: Parameters<FaultyTake>[0] = (of, has, audio, lent = places) => take.call(this, of, has, audio, lent);
    return faulty(sound, occurrence, room, unreadAudio, this);
  };
  return () => {
    prototype.take = take;
  };
}

function changedInPlace(): () => void {
  const { withNewMessage } = Tree.prototype;
  Tree.prototype.withNewMessage = function (...given) {
    const { tasks } = withNewMessage.apply(this, given);
    return Object.assign(this, { tasks });
  };
  return () => {
    Tree.prototype.withNewMessage = withNewMessage;
  };
}

function edited<Machine extends AnyStateMachine, Type extends string>(
  shipped: Stepper<Machine, Type>,
  alphabet: readonly Type[],
  edit: (table: Table) => void,
): () => void {
  const { machine } = shipped;
  const table = copied(machine.config) as Table;
  edit(table);
  const { actions, guards } = machine.implementations;
  const faulty = createStepper(createMachine(table, { actions, guards } as never) as unknown as Machine, alphabet);
  const { initial, step, stopped } = shipped;
  Object.assign(shipped, { initial: faulty.initial, step: faulty.step, stopped: faulty.stopped });
  return () => {
    Object.assign(shipped, { initial, step, stopped });
  };
}

/** Functions are kept: they are the machine's own. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, copied(of)]));
}
