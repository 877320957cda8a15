/** What can happen to a session and its calls, one by one, as the walk sees it. Calls are named by their place, from 0. */
import type { SessionBounds } from './bounds.js';

/** A far-side event that is about no call. */
export type PlainFar =
  | 'text'
  | 'audio'
  | 'turn_complete'
  | 'interrupted'
  | 'error'
  | 'closed'
  | 'malformed'
  | 'unknown'
  | 'usage';

/** What the arguments of a call come to. */
export type Verdict = 'accepted' | 'approval' | 'refused';

/** Something that happens. */
export type Happening =
  | { readonly of: 'connect' | 'close' | 'flush'; readonly resolves: boolean }
  | { readonly of: 'far'; readonly type: PlainFar }
  | { readonly of: 'stream'; readonly ends: boolean }
  /** `tool`: its place in the bounds; one behind the last is a tool that nobody has. */
  | { readonly of: 'tool_call'; readonly tool: number; readonly verdict: Verdict }
  | { readonly of: 'repeat'; readonly call: number }
  /** No calls: one that never was. */
  | { readonly of: 'withdraw'; readonly calls: readonly number[] }
  /** The journal takes no more. */
  | { readonly of: 'journal_fails' }
  /** The pool lends another number of places than before. */
  | { readonly of: 'lent'; readonly places: number }
  | { readonly of: 'validated'; readonly call: number }
  | { readonly of: 'code'; readonly call: number; readonly resolves: boolean }
  | { readonly of: 'publish'; readonly call: number; readonly resolves: boolean }
  | { readonly of: 'timeout'; readonly what: 'connect' | 'close' }
  | { readonly of: 'timeout'; readonly what: 'code' | 'publish'; readonly call: number }
  | { readonly of: 'approve' | 'deny'; readonly call: number }
  | { readonly of: 'host'; readonly act: 'send' | 'close' | 'abort' | 'pause' | 'resume' };

/** Everything that can ever happen within the bounds. Its place in the list is its number. */
export function happenings(bounds: SessionBounds): readonly Happening[] {
  const { far, host, tools, approvals, calls, durable, maxBufferedEvents } = bounds;
  const all: Happening[] = [];
  for (const resolves of [true, false]) {
    all.push({ of: 'connect', resolves });
    all.push({ of: 'close', resolves });
    if (durable) all.push({ of: 'flush', resolves });
  }
  for (const type of plain) if (far.has(type)) all.push({ of: 'far', type });
  if (calls > 0) {
    for (const [tool, verdicts] of approvals.entries()) {
      if (far.has('tool_call')) for (const verdict of verdicts) all.push({ of: 'tool_call', tool, verdict });
      if (far.has('bad_input')) all.push({ of: 'tool_call', tool, verdict: 'refused' });
    }
    if (far.has('unknown_tool')) all.push({ of: 'tool_call', tool: tools.length, verdict: 'refused' });
  }
  if (far.has('stream_end')) all.push({ of: 'stream', ends: true });
  if (far.has('stream_fail')) all.push({ of: 'stream', ends: false });
  for (const what of ['connect', 'close'] as const) all.push({ of: 'timeout', what });
  if (bounds.journalFails) all.push({ of: 'journal_fails' });
  if (bounds.poolPlaces !== undefined) {
    for (let places = 0; places <= bounds.poolPlaces; places++) all.push({ of: 'lent', places });
  }
  for (let call = 0; call < calls; call++) {
    if (bounds.slowValidation) all.push({ of: 'validated', call });
    for (const resolves of [true, false]) {
      all.push({ of: 'code', call, resolves });
      all.push({ of: 'publish', call, resolves });
    }
    for (const what of ['code', 'publish'] as const) all.push({ of: 'timeout', what, call });
    for (const act of ['approve', 'deny'] as const) all.push({ of: act, call });
    if (far.has('repeat')) all.push({ of: 'repeat', call });
  }
  if (far.has('withdraw')) for (const subset of subsets(calls)) all.push({ of: 'withdraw', calls: subset });
  if (host.has('send')) all.push({ of: 'host', act: 'send' });
  if (host.has('close')) all.push({ of: 'host', act: 'close' });
  if (host.has('abort')) all.push({ of: 'host', act: 'abort' });
  if (maxBufferedEvents !== undefined) for (const act of ['pause', 'resume'] as const) all.push({ of: 'host', act });
  return all;
}

const plain = [
  'text',
  'audio',
  'turn_complete',
  'interrupted',
  'error',
  'closed',
  'malformed',
  'unknown',
  'usage',
] as const satisfies readonly PlainFar[];

/** Those of calls 0 to `calls - 1`, the empty one first; of more than three calls the small ones and the whole. */
function subsets(calls: number): readonly (readonly number[])[] {
  const all: number[][] = [];
  for (let bits = 0; bits < 1 << calls; bits++) {
    const subset = Array.from({ length: calls }, (_, call) => call).filter((call) => bits & (1 << call));
    if (calls <= 3 || subset.length < 2 || subset.length === calls) all.push(subset);
  }
  return all;
}
