/**
 * One record of a sound journal of a conversation is changed. Without the
 * inputs nobody can tell whether an action should have been applied, or what
 * there was to report of it; what follows from the records is found.
 */
import fc from 'fast-check';
import { describe } from 'vitest';
import { isCommitpointError } from '../../src/contract/errors.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { foldInputs, ways } from '../../src/testing/arbitraries/index.js';
import { verify } from '../../src/verify/index.js';
import { Broken, property } from '../properties/property.js';
import { type Draft, draftOf, renumbered } from './edits.js';

/** A change of the record at a place; `undefined` where a run could have written what comes of it. */
type Mutation = (draft: Draft, at: number, die: number) => Draft | undefined;

const phases = ['awaiting_init', 'streaming', 'finished', 'failed', 'truncated', 'cancelled'];
const states = ['open.sound', 'open.doomed', 'committed', 'rolled_back'];
const isFollower = (record: JournalRecord | undefined) => record !== undefined && record.cause !== 0;
const lastGroup = (draft: Draft) => draft.findLastIndex(({ cause }) => cause === 0);
const hasBegun = ({ event }: JournalRecord) => event !== '';

/** One that is other than this one. */
function otherThan(state: string, kind: string, die: number): string | undefined {
  const all = kind === 'transaction' ? states : phases;
  const other = all[die % all.length];
  return other === state ? undefined : other;
}

function replaced(draft: Draft, at: number, change: Partial<Draft[number]>): Draft {
  return draft.with(at, { ...(draft[at] as Draft[number]), ...change });
}

/** What machines ask for, whatever the actions were. */
const ofMachines: ReadonlySet<string> = new Set([
  'startRequest',
  'resumeRequest',
  'nameConversation',
  'recordFinish',
  'closeTransactions',
  'endRequest',
  'keep',
  'restore',
  'passDoom',
  'refuseBegin',
  'openSavepoint',
  'runEffect',
]);

const mutations: Readonly<Record<string, Mutation>> = {
  'a record of a group is gone': (draft, at) =>
    isFollower(draft[at]) && at < lastGroup(draft) ? draft.toSpliced(at, 1) : undefined,
  'a record of a group stands twice': (draft, at) =>
    isFollower(draft[at]) ? draft.toSpliced(at, 0, { ...(draft[at] as Draft[number]), seq: 1e6 }) : undefined,
  'a record says that another state was reached': (draft, at, die) => {
    const { to, kind } = draft[at] as JournalRecord;
    const other = otherThan(to, kind, die);
    return other === undefined || !hasBegun(draft[at] as JournalRecord)
      ? undefined
      : replaced(draft, at, { to: other });
  },
  'a record says that another state was left': (draft, at, die) => {
    const { from, kind } = draft[at] as JournalRecord;
    const other = otherThan(from, kind, die);
    return other === undefined || !hasBegun(draft[at] as JournalRecord)
      ? undefined
      : replaced(draft, at, { from: other });
  },
  'something that a machine asks for is gone': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const place = die % Math.max(1, did.length);
    return ofMachines.has(did[place]?.effect ?? '') ? replaced(draft, at, { did: did.toSpliced(place, 1) }) : undefined;
  },
  'something stands there that no machine asks for': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const asked = [...ofMachines][die % ofMachines.size] as string;
    return asked === 'closeTransactions' ? undefined : replaced(draft, at, { did: [...did, { effect: asked }] });
  },
  'an effect says that another version stands': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const place = die % Math.max(1, did.length);
    const act = did[place];
    if (act?.version === undefined) return undefined;
    // the next one may be that of an action which was said to change nothing
    return replaced(draft, at, { did: did.with(place, { ...act, version: act.version + 2 + (die % 5) }) });
  },
  'a record says that another version stands': (draft, at, die) => {
    const { data } = draft[at] as JournalRecord;
    if (data === undefined || !('folded' in data)) return undefined;
    const { folded } = data;
    // what runs an effect moves no version
    if (draft[at]?.event === 'effect') return undefined;
    return replaced(draft, at, { data: { folded: { ...folded, version: folded.version + 1 + (die % 5) } } });
  },
  'an effect of the host is gone, or there twice': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const place = did.findIndex(({ effect }) => effect === 'releaseEffect' || effect === 'dropEffect');
    const act = did[place];
    // the last ones may not have run yet
    if (act === undefined || at >= lastGroup(draft)) return undefined;
    const isWaited = act.effect === 'dropEffect' || draft.slice(at).some(({ event }) => event === 'effect');
    if (!isWaited) return undefined;
    return die % 2 === 0 && act.effect === 'dropEffect'
      ? replaced(draft, at, { did: did.toSpliced(place, 0, act) })
      : replaced(draft, at, { did: did.toSpliced(place, 1) });
  },
};

const readings = fc.tuple(ways, foldInputs(), fc.boolean(), fc.array(fc.nat(), { minLength: 8, maxLength: 8 }));

describe('a journal of a conversation of which one record was changed is not sound', () => {
  for (const [title, mutate] of Object.entries(mutations)) {
    property(
      title,
      readings,
      async ([way, inputs, hasEffects, dice]) => {
        const journal = memoryJournal();
        const effects = hasEffects ? { effects: () => [() => {}, () => {}] } : {};
        const conversation = createConversation({ ...way, ...effects, journal });
        for (const input of inputs) {
          try {
            conversation.apply(input);
          } catch (error) {
            if (!isCommitpointError(error)) throw error;
          }
        }
        const { records } = journal;
        for (const die of dice) {
          const at = die % records.length;
          const mutated = mutate(draftOf(records), at, Math.floor(die / records.length));
          if (mutated === undefined) continue;
          const { findings } = await verify(renumbered(mutated));
          if (findings.length > 0) continue;
          const lines = records.map((record) => JSON.stringify({ ...record, at: undefined }));
          throw new Broken([`${title}: record ${at + 1}, with ${die}, ${JSON.stringify(way)}`], lines.join('\n'));
        }
      },
      0.2,
    );
  }
});
