/** A mistake for every invariant of conversations that the explorer has to find. */
import type { StreamExploration } from '../../../../src/verify/explore/index.js';
import type { Mistake, Table } from './faulty.js';

/** A mistake, and the invariant under which it is found. */
export interface StreamFault {
  readonly invariant: string;
  /** What is wrong. */
  readonly title: string;
  readonly mistake: Mistake;
  readonly within: StreamExploration;
}

const transaction = (edit: (table: Table) => void): Mistake => ({ in: 'transaction', edit });
const stream = (edit: (table: Table) => void): Mistake => ({ in: 'response-stream', edit });

export const streamFaults: readonly StreamFault[] = [
  {
    invariant: 'C1',
    title: 'a rollback puts nothing back',
    mistake: transaction(({ states }) => delete states.rolled_back.entry),
    within: {},
  },
  {
    invariant: 'C1',
    title: 'a failed action dooms nothing',
    mistake: transaction(({ states }) => delete states.open.states.sound.on.action_failed),
    within: {},
  },
  {
    invariant: 'C2',
    title: 'a commit puts back what stood at the Begin',
    mistake: transaction(({ states }) => {
      states.open.states.sound.on.commit = '#transaction.rolled_back';
    }),
    within: {},
  },
  {
    invariant: 'C2',
    title: 'a host that cancels loses what it was shown',
    mistake: transaction(({ states }) => states.open.on.host_cancel.shift()),
    within: {},
  },
  {
    invariant: 'C3',
    title: 'a Begin that is refused opens a savepoint all the same',
    mistake: transaction(({ states }) => states.open.states.sound.on.begin[1].actions.push('openSavepoint')),
    within: { policies: { nested: 'error' } },
  },
  {
    invariant: 'C4',
    title: 'the end of the input leaves the request streaming',
    mistake: stream(({ states }) => delete states.streaming.on.end_of_input.target),
    within: {},
  },
  {
    invariant: 'C4',
    title: 'a cancel leaves the transaction open',
    mistake: stream(({ states }) => states.streaming.on.host_cancel.actions.shift()),
    within: {},
  },
  {
    invariant: 'C7',
    title: 'effects of a transaction that is rolled back are let go',
    mistake: transaction(({ states }) => {
      states.rolled_back.entry = 'keep';
    }),
    within: {},
  },
  {
    invariant: 'C8',
    title: 'a second finish is counted too',
    mistake: stream(({ states }) => {
      states.finished.on.finished_done = { actions: ['recordFinish'] };
    }),
    within: {},
  },
  {
    invariant: 'C10',
    title: 'a message is added to the very object that stands',
    mistake: { in: 'tree' },
    within: {},
  },
];
