/** Ways to spoil a journal. */
import type { JournalRecord, RecordedEffect } from '../../src/contract/journal.js';

/** Records, each a copy that may be changed. */
export type Draft = { -readonly [Key in keyof JournalRecord]: JournalRecord[Key] }[];

/** What tells a record: its actor's last part, and its event. */
export type Where = readonly [actor: string, event: string];

/** A copy to be changed. */
export function draftOf(records: readonly JournalRecord[]): Draft {
  return structuredClone(records) as Draft;
}

/** Numbers records from 1 again, causes with them. */
export function renumbered(draft: Draft): Draft {
  const places = new Map(draft.map(({ seq }, index) => [seq, index + 1]));
  return draft.map((record, index) => ({ ...record, seq: index + 1, cause: places.get(record.cause) ?? 0 }));
}

/** Where the last record of this actor and event stands. */
export function placeOf(draft: Draft, [actor, event]: Where): number {
  const at = draft.findLastIndex((record) => record.event === event && isOf(record, actor));
  if (at === -1) throw new TypeError(`no record ${event} of ${actor}`);
  return at;
}

function isOf({ actor, kind }: JournalRecord, name: string): boolean {
  return name === 'session' || name === 'conversation' ? kind === name : actor.endsWith(`/${name}`);
}

/** A record without which the journal goes on. */
export function without(where: Where): (draft: Draft) => Draft {
  return (draft) => draft.toSpliced(placeOf(draft, where), 1);
}

/** A record that says something else. */
export function changed(where: Where, change: (record: Draft[number]) => void): (draft: Draft) => Draft {
  return (draft) => {
    change(draft[placeOf(draft, where)] as Draft[number]);
    return draft;
  };
}

/** A record that has one effect less. */
export function withoutEffect(where: Where, effect: string): (draft: Draft) => Draft {
  return changed(where, (record) => {
    const at = record.did.findIndex((act) => act.effect === effect);
    if (at === -1) throw new TypeError(`no effect ${effect} in ${where.join(' ')}`);
    record.did = record.did.toSpliced(at, 1);
  });
}

/** A record that has one effect more. */
export function withEffect(where: Where, effect: string, detail?: string): (draft: Draft) => Draft {
  return changed(where, (record) => {
    const act: RecordedEffect = detail === undefined ? { effect } : { effect, detail };
    record.did = [...record.did, act];
  });
}

/** One record more, behind another one and, with `follows`, of its group. */
export function withRecord(
  behind: Where,
  record: Omit<Partial<JournalRecord>, 'did'> & { readonly actor: string; readonly did?: readonly string[] },
  follows = false,
): (draft: Draft) => Draft {
  return (draft) => {
    const at = placeOf(draft, behind);
    const first = draft[at] as JournalRecord;
    const group = first.cause === 0 ? first.seq : first.cause;
    const isCall = record.actor.includes('/');
    const inserted = {
      at: 0,
      kind: isCall ? 'call' : 'session',
      event: '',
      from: '',
      to: '',
      cause: follows ? group : 0,
      ...record,
      did: (record.did ?? []).map((effect) => ({ effect })),
      seq: 1_000_000,
    } as Draft[number];
    let end = at + 1;
    while (!follows && (draft[end]?.cause ?? 0) !== 0) end++;
    return draft.toSpliced(end, 0, inserted);
  };
}
