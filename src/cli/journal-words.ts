/** What there is to say of journals, for people. */
import { machinesVersion } from '../../machines/index.js';
import type { JournalRecord } from '../contract/journal.js';
import { type Finding, invariants } from '../verify/index.js';

const sentences: ReadonlyMap<string, string> = new Map([
  ...invariants.map(({ number, sentence }) => [number, sentence] as const),
  ['divergent', 'the machines, given what happened from outside, do what the records say'],
  ['structure', 'records hang together: each follows from what stands before it'],
]);

/** A finding with its record, and what was to hold. */
export function findingInWords({ invariant, seq, actor, what, record }: Finding): string {
  const sentence = sentences.get(invariant) ?? '';
  return `${invariant} at record ${seq} (${actor}): ${what}\n  record ${seq}: ${recordInWords(record)}\n  ${invariant}: ${sentence}`;
}

/** A record in a line. */
export function recordInWords({ kind, event, from, to, did, cause }: JournalRecord): string {
  const how = event === '' ? `begins ${to}` : from === to ? `${event}, stays ${to}` : `${event}, ${from} → ${to}`;
  const asked = did.map(({ effect, detail }) => (detail === undefined ? effect : `${effect}(${detail})`)).join(' ');
  const because = cause === 0 ? '' : `, after record ${cause}`;
  return `${kind}: ${how}${because}${asked === '' ? '' : `: ${asked}`}`;
}

/** How many of something: `1 session`, `2 sessions`. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : nouns}`;
}

/** What there is to say where other machines have written. */
export function versionsInWords(machines: readonly number[]): string | undefined {
  const others = machines.filter((version) => version !== machinesVersion);
  if (others.length === 0) return undefined;
  const them = others.join(', ');
  return `written by version ${them} of the machines, and these are version ${machinesVersion}: where the two differ a run is not at fault`;
}

/** A record as JSON that a program can go on with; payloads are left out. */
export function recordAsJson({ seq, at, actor, kind, event, from, to, cause, did }: JournalRecord): object {
  const acts = did.map(({ effect, detail, version }) => ({
    effect,
    ...(detail === undefined ? {} : { detail }),
    ...(version === undefined ? {} : { version }),
  }));
  return { seq, at, actor, kind, event, from, to, cause, did: acts };
}
