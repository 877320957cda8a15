/**
 * One record of a sound journal is changed, and the rest is left alone but for
 * the numbers, which an editor would mend. What no run could have written is
 * found. What a run could have written is no fault, and nobody can find it:
 * that is told from the record alone, below.
 */
import fc from 'fast-check';
import { describe } from 'vitest';
import { callEvents, sessionEvents } from '../../machines/index.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { scenario } from '../../src/testing/arbitraries/index.js';
import { verify } from '../../src/verify/index.js';
import { ending } from '../properties/ending.js';
import { fileOf, play } from '../properties/played.js';
import { Broken, property } from '../properties/property.js';
import { type Draft, draftOf, renumbered } from './edits.js';

/** A change of the record at a place; `undefined` where a run could have written what comes of it. */
type Mutation = (draft: Draft, at: number, die: number) => Draft | undefined;

const isNothing = ({ from, to, did }: JournalRecord) => from === to && did.length === 0;
const isFollower = (record: JournalRecord | undefined) => record !== undefined && record.cause !== 0;
/** Where the last group begins: a journal may end anywhere in it. */
const lastGroup = (draft: Draft) => draft.findLastIndex(({ cause }) => cause === 0);
const sessionStates = ['connecting', 'open.waiting', 'open.responding', 'closing', 'closed'];
const callStates =
  'admitted awaiting_approval queued starting executing committing publishing completed rejected unconfirmed abandoned.draining abandoned.settled cancelled'.split(
    ' ',
  );

function pick<Item>(items: readonly Item[], die: number): Item {
  return items[die % items.length] as Item;
}

function replaced(draft: Draft, at: number, change: Partial<Draft[number]>): Draft {
  return draft.with(at, { ...(draft[at] as Draft[number]), ...change });
}

/** Whether the next record of this life does not go on from where it stood before. */
function isMissed(draft: Draft, at: number): boolean {
  const { actor, from, to } = draft[at] as JournalRecord;
  const next = draft.slice(at + 1).find((record) => record.actor === actor);
  if (next === undefined || from === to) return false;
  const stood = draft.slice(0, at).findLast((record) => record.actor === actor)?.to;
  // output that went by has no record
  const [pieces = 0, more = 0] = [next.passed?.text[0], next.passed?.audio[0]];
  return next.from !== (stood === 'open.waiting' && pieces + more > 0 ? 'open.responding' : stood);
}

const mutations: Readonly<Record<string, Mutation>> = {
  'a record of a group is gone': (draft, at) => {
    const record = draft[at] as JournalRecord;
    if (isNothing(record) || at >= lastGroup(draft)) return undefined;
    // a group that is one record may not have happened; where it has moved somebody, its next record says so
    const isAlone = !isFollower(record) && !isFollower(draft[at + 1]);
    return isAlone && !isMissed(draft, at) ? undefined : draft.toSpliced(at, 1);
  },
  'two records of a group change places': (draft, at) => {
    const [one, other] = [draft[at], draft[at + 1]];
    if (one === undefined || !isFollower(one) || !isFollower(other)) return undefined;
    return isNothing(one) || isNothing(other as JournalRecord)
      ? undefined
      : draft.toSpliced(at, 2, other as never, one);
  },
  'a record of a group stands twice': (draft, at) => {
    const record = draft[at] as Draft[number];
    return isFollower(record) && !isNothing(record) ? draft.toSpliced(at, 0, { ...record, seq: 1e6 }) : undefined;
  },
  'a record says that another state was reached': (draft, at, die) => {
    const { kind, to } = draft[at] as JournalRecord;
    const other = pick(kind === 'session' ? sessionStates : callStates, die);
    return other === to ? undefined : replaced(draft, at, { to: other });
  },
  'a record says that another state was left': (draft, at, die) => {
    const { kind, from } = draft[at] as JournalRecord;
    const other = pick(kind === 'session' ? sessionStates : callStates, die);
    return other === from ? undefined : replaced(draft, at, { from: other });
  },
  'a record of a group says that something else happened': (draft, at, die) => {
    const record = draft[at] as JournalRecord;
    const other = pick<string>(record.kind === 'session' ? sessionEvents : callEvents, die);
    // the first record may be that of another event which does the same: a stream that failed, not ended
    return other === record.event || !isFollower(record) || isNothing(record)
      ? undefined
      : replaced(draft, at, { event: other });
  },
  'an effect is gone': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    return did.length === 0 ? undefined : replaced(draft, at, { did: did.toSpliced(die % did.length, 1) });
  },
  'there is an effect more': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const effect = pick(['publish', 'execute', 'deliver', 'stub', 'closeDriver', 'tellLate', 'reportCompleted'], die);
    return replaced(draft, at, { did: [...did, { effect }] });
  },
  'two effects change places': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    if (did.length < 2) return undefined;
    const place = die % (did.length - 1);
    const [one, other] = [did[place], did[place + 1]];
    return replaced(draft, at, { did: did.toSpliced(place, 2, other as never, one as never) });
  },
  'a signal is aborted for something else': (draft, at, die) => {
    const { did } = draft[at] as JournalRecord;
    const place = did.findIndex(({ effect }) => effect === 'abortSignal');
    if (place === -1) return undefined;
    const detail = pick(['timeout', 'interruption', 'withdrawal', 'session_end'], die);
    if (detail === did[place]?.detail) return undefined;
    return replaced(draft, at, { did: did.with(place, { effect: 'abortSignal', detail }) });
  },
  'a record is of another life': (draft, at, die) => {
    const record = draft[at] as JournalRecord;
    if (record.kind !== 'call' || isNothing(record)) return undefined;
    const { actor } = pick(draft, die);
    return actor === record.actor ? undefined : replaced(draft, at, { actor });
  },
  'a record says that another one led to it': (draft, at, die) => {
    const record = draft[at] as JournalRecord;
    const cause = die % (draft.length + 1);
    return isNothing(record) || cause === record.cause ? undefined : replaced(draft, at, { cause });
  },
};

const histories = fc.tuple(scenario(), ending, fc.array(fc.nat(), { minLength: 8, maxLength: 8 }));

describe('a journal of which one record was changed is not sound', () => {
  for (const [title, mutate] of Object.entries(mutations)) {
    property(
      title,
      histories,
      async ([story, end, dice]) => {
        const { simulator, entries } = await play(story, end);
        for (const die of dice) {
          const { journal } = simulator;
          const at = die % journal.length;
          const mutated = mutate(draftOf(journal), at, Math.floor(die / journal.length));
          if (mutated === undefined) continue;
          const { findings } = await verify(title.includes('led') ? mutated : renumbered(mutated));
          if (findings.length > 0) continue;
          const told = `${title}: record ${at + 1}, with ${die}\n${JSON.stringify(journal[at])}`;
          throw new Broken([told], fileOf(story.header, entries, 'its journal was changed, and nobody noticed'));
        }
      },
      0.2,
    );
  }
});
