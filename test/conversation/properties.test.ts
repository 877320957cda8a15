/**
 * Random streams, legal and illegal, in every mode and policy: the fold against a model that was written apart from it, and against
 * what conversation.md §8 promises. What a failure prints under its seed is a file that `commitpoint fold` runs.
 */
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { type ClientAction, type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import {
  type ConversationChange,
  createFold,
  type FoldInput,
  type FoldState,
  failingCodes,
  informingCodes,
  toEvents,
} from '../../src/conversation/index.js';
import { foldInputs, responseStreams, type Way, ways } from '../../src/testing/arbitraries/index.js';
import { actionLists } from '../../src/testing/arbitraries/response-streams/actions.js';
import { acted } from '../../src/testing/arbitraries/response-streams/events.js';
import { furnished, saying } from '../../src/testing/arbitraries/response-streams/streams.js';
import { Broken, property, runs } from '../properties/property.js';
import { cutAt, cuts, type Format, formatNames, formats, reusing } from '../wire/streams.js';
import { foldFile } from './fold-file.js';
import { armed, hostileObject, spoil } from './hostile.js';
import { copyOf } from './model/content.js';
import { Model } from './model/model.js';
import { isTypedError, lostOrMoved, named, sharingFaults } from './sharing.js';
import { differences, placeOf, rebuiltOf, shownOf, viewsOf, withoutPlaces } from './shown.js';

interface History {
  readonly way: Way;
  readonly inputs: readonly FoldInput[];
}

const history: fc.Arbitrary<History> = fc.record({ way: ways, inputs: foldInputs() });

/** Ends a property at the first input with findings. */
function must(findings: readonly string[], way: Way, inputs: readonly FoldInput[]): void {
  if (findings.length > 0) throw new Broken(findings, foldFile(way, inputs, findings));
}

function foldOf(way: Way, inputs: readonly FoldInput[]): FoldState {
  const fold = createFold(way);
  let state = fold.initial;
  for (const input of inputs) ({ state } = fold.take(state, input));
  return state;
}

/** Everything that ends a request or a transaction with all that it did. */
const endings: fc.Arbitrary<FoldInput> = fc.constantFrom<FoldInput>(
  acted({ case: 'rollbackTransaction', value: {} }),
  { end: 'eof' },
  { end: 'error', message: 'reset' },
  { end: 'bad_frame', message: 'no base64' },
);

/** Actions that move no transaction and split nothing. */
function isContent({ action }: ClientAction): boolean {
  return !['beginTransaction', 'commitTransaction', 'rollbackTransaction', 'startNewConversation'].includes(
    action.case ?? '',
  );
}

const begin = acted({ case: 'beginTransaction', value: {} });
const commit = acted({ case: 'commitTransaction', value: {} });
const oneByOne = (actions: readonly ClientAction[]) => actions.map(({ action }) => acted(action as never));

/** What random streams have led through, over all runs. */
const met = new Set<string>();

function meet(change: ConversationChange | undefined): void {
  if (change === undefined) return;
  met.add(change.kind);
  if (change.end !== undefined) met.add(change.end.phase);
  for (const { code } of change.diagnostics) met.add(code);
}

/** What only a living conversation tells of, and what one stream alone never meets. */
const notHere = ['effect_failed', 'host_callback_threw', 'foreign_event', 'transaction_busy'];

describe('a fold', () => {
  property(
    'is what the model is, at every input: state, diagnostics, phase, ends, derived values (C4, C8, C10)',
    history,
    ({ way, inputs }) => {
      const fold = createFold(way);
      const model = new Model(way.mode, way.policies);
      let state = fold.initial;
      for (const [at, input] of inputs.entries()) {
        model.take(input);
        const folded = fold.take(state, input);
        ({ state } = folded);
        const findings = differences(model.shown(), shownOf(state.conversation));
        findings.push(...model.differencesOf(folded.change?.end));
        meet(folded.change);
        must(findings, way, inputs.slice(0, at + 1));
      }
    },
  );

  afterAll(() => {
    // what random streams must have led through, or nothing was shown; a handful of them shows nothing either way
    if (runs < 300 || met.size === 0) return;
    const codes = [...failingCodes, ...informingCodes].filter((code) => !notHere.includes(code));
    const kinds = ['applied', 'begun', 'committed', 'rolled_back', 'ended'];
    const phases = ['finished', 'failed', 'truncated', 'cancelled'];
    expect([...codes, ...kinds, ...phases].filter((each) => !met.has(each))).toEqual([]);
  });

  property(
    'leaves nothing open, whatever the end (C4)',
    fc.record({ way: ways, inputs: foldInputs(), end: endings }),
    ({ way, inputs, end }) => {
      const fold = createFold(way);
      const before = foldOf(way, inputs);
      for (const last of [end, { end: 'cancel' } as const, ...finishes]) {
        if (last !== end || 'end' in end) {
          const { state, change } = fold.take(before, last);
          const { transaction, phase } = state.conversation;
          const wasFinal = isFinal(before.conversation.phase);
          const findings: string[] = [];
          if (transaction !== 'none') findings.push(`C4: ${transaction} after the end`);
          if (!isFinal(phase)) findings.push(`C4: ${phase} after the end`);
          if ((change?.end !== undefined) === wasFinal)
            findings.push(`C4: ended ${wasFinal ? 'again' : 'without an end'}`);
          must(findings, way, [...inputs, last]);
        }
      }
    },
  );
});

const finishes = [furnished.done, furnished.failed, furnished.unnamed];
const isFinal = (phase: string) => phase !== 'awaiting_init' && phase !== 'streaming';

describe('a transaction', () => {
  const inside = fc.record({ way: ways, before: saying(), actions: actionLists(), ending: endings });

  property(
    'that is rolled back leaves the very object that stood at its Begin (C1)',
    inside,
    ({ way, before, actions, ending }) => {
      const prefix = [...furnished.opening, ...before];
      const base = foldOf(way, prefix);
      const { phase, transaction } = base.conversation;
      if (phase !== 'streaming' || transaction !== 'none') return;
      const inputs = [begin, ...oneByOne(actions.filter(isContent)), ending];
      const isKept =
        'end' in ending && (way.policies.onFailure ?? (way.mode === 'warp' ? 'commit' : 'rollback')) === 'commit';
      const isHalted = way.mode === 'strict' && way.policies.onFailure === 'commit';
      if (isKept || isHalted) return;
      const fold = createFold(way);
      let state = base;
      for (const input of inputs) ({ state } = fold.take(state, input));
      const findings = state.parts.tree === base.parts.tree ? [] : ['C1: another tree than at Begin'];
      if (state.conversation.tasks !== base.conversation.tasks) findings.push('C1: other tasks than at Begin');
      if (state.conversation.suggestions !== base.conversation.suggestions)
        findings.push('C1: other suggestions than at Begin');
      must(findings, way, [...prefix, ...inputs]);
    },
  );

  property(
    'of savepoints: each level puts back what stood at its own Begin (C1)',
    fc.record({ levels: fc.array(actionLists(), { minLength: 1, maxLength: 4 }) }),
    ({ levels }) => {
      const way: Way = { mode: 'tolerant', policies: { nested: 'savepoint' } };
      const fold = createFold(way);
      const inputs: FoldInput[] = [...furnished.opening];
      let state = foldOf(way, inputs);
      const bases: FoldState[] = [];
      const take = (input: FoldInput) => {
        inputs.push(input);
        ({ state } = fold.take(state, input));
      };
      for (const actions of levels) {
        bases.push(state);
        take(begin);
        for (const input of oneByOne(actions.filter(isContent))) take(input);
      }
      for (const base of bases.toReversed()) {
        take(acted({ case: 'rollbackTransaction', value: {} }));
        must(
          state.parts.tree === base.parts.tree ? [] : ['C1: another tree than at the Begin of this level'],
          way,
          inputs,
        );
      }
    },
  );

  property(
    'that is committed stays, whatever is rolled back or ends later (C2)',
    inside,
    ({ way, before, actions, ending }) => {
      const fold = createFold(way);
      const prefix = [...furnished.opening, ...before, begin, ...oneByOne(actions.filter(isContent)), commit];
      const committed = foldOf(way, prefix);
      if (committed.conversation.transaction !== 'none') return;
      const rolledBack = [begin, ...oneByOne(actions.filter(isContent).toReversed()), ending];
      for (const later of [
        [acted({ case: 'rollbackTransaction', value: {} })],
        [ending],
        [{ end: 'cancel' } as const],
        finishes,
        rolledBack,
      ]) {
        const isKept = later === rolledBack && (way.mode === 'warp' || way.policies.onFailure === 'commit');
        let state = committed;
        for (const input of later) ({ state } = fold.take(state, input));
        if (!isKept)
          must(state.parts.tree === committed.parts.tree ? [] : ['C2: another tree than at the commit'], way, [
            ...prefix,
            ...later,
          ]);
      }
    },
  );

  property(
    'of another stream: nothing that this one does or suffers changes anything (C1, C2)',
    fc.record({ way: ways, before: saying(), actions: actionLists(), others: foldInputs() }),
    ({ way, before, actions, others }) => {
      const prefix = [...furnished.opening, ...before, begin];
      const base = foldOf(way, prefix);
      if (base.conversation.transaction === 'none' || base.conversation.phase !== 'streaming') return;
      const fold = createFold(way);
      let state = fold.open(base, 1);
      const mine = oneByOne(actions.filter(isContent));
      for (const [at, other] of others.entries()) {
        const { state: next } = fold.take(state, other, 1);
        const findings = next.parts.tree === state.parts.tree ? [] : ['another stream changed what it may not'];
        if (next.parts.levels !== state.parts.levels) findings.push('another stream moved a transaction');
        must(findings, way, [...prefix, ...others.slice(0, at + 1)]);
        state = next;
        const own = mine[at];
        if (own !== undefined) ({ state } = fold.take(state, own));
        // under strict an action of its own may have ended it
        if (state.conversation.transaction === 'none') return;
      }
    },
  );
});

describe('an action', () => {
  property(
    'applies whole or changes nothing, and shares all that it does not name (C3, C9)',
    fc.record({ way: ways, before: foldInputs(), actions: actionLists() }),
    ({ way, before, actions }) => {
      const fold = createFold(way);
      let state = foldOf(way, before);
      for (const [at, { action }] of actions.entries()) {
        const input = acted(action as never);
        const { state: next, change } = fold.take(state, input);
        must(
          [
            ...lostOrMoved(state, next, action, change),
            ...(isContent(actions[at] as ClientAction) ? sharingFaults(state, next, named(action)) : []),
          ],
          way,
          [...before, ...oneByOne(actions.slice(0, at + 1))],
        );
        state = next;
      }
    },
  );
});

describe('a stream', () => {
  for (const format of formatNames) {
    const isPlain = format === 'json';
    const sent = fc.record({ way: ways, events: responseStreams(isPlain), cuts });
    property(
      `folds to the same through ${format}, however its bytes are cut (C5, C6)`,
      sent,
      async ({ way, events, cuts }) => {
        const expected = shownOf(foldOf(way, events).conversation);
        const received = await throughBytes(format, events, cuts);
        const found = shownOf(foldOf(way, received).conversation);
        must(differences(expected, found), way, events);
      },
      0.5,
    );
  }

  property(
    'folds to the same however its actions are batched within a transaction (C6)',
    fc.record({
      actions: actionLists(),
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }),
      last: fc.constantFrom(commit, furnished.rollback, furnished.done, furnished.failed),
    }),
    ({ actions, sizes, last }) => {
      const way: Way = { mode: 'tolerant', policies: {} };
      const whole = actions.filter((action) => isContent(action) || action.action.case === 'beginTransaction');
      const single = [...furnished.opening, begin, ...oneByOne(whole), last];
      const batched = [...furnished.opening, begin, ...inBatches(whole, sizes), last];
      const [expected, found] = [single, batched].map((inputs) =>
        withoutPlaces(shownOf(foldOf(way, inputs).conversation)),
      );
      if (expected !== undefined && found !== undefined) must(differences(expected, found), way, batched);
    },
  );

  property('can be made of a state, and folds to it (C5)', history, ({ way, inputs }) => {
    const { state, rebuilt } = rebuild(way, inputs);
    must(
      differences(rebuiltOf(state), rebuiltOf(rebuilt)).map((line) => `C5: ${line}`),
      way,
      inputs,
    );
    // and what an open transaction would put back
    const { bases } = state.parts;
    for (let level = bases.length; level > 0; level--) {
      const fold = createFold({ policies: { nested: 'savepoint' } });
      let [one, other] = [state, rebuilt];
      for (let at = bases.length; at >= level; at--) {
        one = createFold(way).take(one, furnished.rollback).state;
        other = fold.take(other, furnished.rollback).state;
      }
      must(
        differences(rebuiltOf(one), rebuiltOf(other)).map((line) => `C5, rolled back: ${line}`),
        way,
        inputs,
      );
    }
  });
});

/** The state, and what its events fold to. */
function rebuild(way: Way, inputs: readonly FoldInput[]) {
  const state = foldOf(way, inputs);
  const events = toEvents(state.conversation);
  return { state, rebuilt: foldOf({ mode: 'tolerant', policies: { nested: 'savepoint' } }, events) };
}

async function throughBytes(format: Format, events: readonly ResponseEvent[], where: readonly number[]) {
  const { encode, decode } = formats[format];
  const bytes = new Uint8Array(Buffer.concat(events.map((event) => encode(event))));
  const received: ResponseEvent[] = [];
  for await (const event of decode(reusing(cutAt(bytes, where)))) received.push(event);
  return received;
}

function inBatches(actions: readonly ClientAction[], sizes: readonly number[]): ResponseEvent[] {
  const events: ResponseEvent[] = [];
  for (let at = 0, nth = 0; at < actions.length; nth++) {
    const size = sizes[nth % sizes.length] ?? 1;
    events.push(acted(...(actions.slice(at, at + size).map(({ action }) => action) as never[])));
    at += size;
  }
  return events;
}

describe('whoever is hostile', () => {
  property(
    'changes no state with what the fold gave, nor with what it was given (C11)',
    history,
    ({ way, inputs }) => {
      const fold = createFold(way);
      let state = fold.initial;
      const model = new Model(way.mode, way.policies);
      for (const [at, input] of inputs.entries()) {
        model.take(input);
        const given = 'end' in input ? { ...input } : copyOf(ResponseEventSchema, input);
        const folded = fold.take(state, given);
        ({ state } = folded);
        spoil(given);
        if (at % 4 === 3 || at === inputs.length - 1) {
          spoil(state.conversation, ...viewsOf(state), folded.change, folded.change?.end, toEvents(state.conversation));
        }
        must(
          differences(model.shown(), shownOf(state.conversation)).map((line) => `C11: ${line}`),
          way,
          inputs.slice(0, at + 1),
        );
      }
    },
    0.3,
  );

  property(
    'gets a typed error for what is no input, and nothing changes (C12)',
    fc.record({ way: ways, before: foldInputs(), junk: hostileObject }),
    ({ way, before, junk }) => {
      const fold = createFold(way);
      const state = foldOf(way, before);
      const shown = shownOf(state.conversation);
      const findings: string[] = [];
      try {
        // and what is taken can be shown
        shownOf(fold.take(state, armed(junk) as FoldInput).state.conversation);
      } catch (thrown) {
        if (!isTypedError(thrown)) findings.push(`C12: it threw ${String(thrown)}`);
      }
      must([...findings, ...differences(shown, shownOf(state.conversation))], way, before);
    },
  );

  property(
    'makes no list longer than its bound (C12)',
    fc.record({ way: ways, inputs: foldInputs(), maxDiagnostics: fc.nat(6) }),
    ({ way, inputs, maxDiagnostics }) => {
      const all = foldOf(way, inputs).conversation.diagnostics;
      const fold = createFold({ ...way, maxDiagnostics });
      let state = fold.initial;
      for (const input of inputs) ({ state } = fold.take(state, input));
      const { diagnostics, diagnosticsBeyond } = state.conversation;
      const beyond: Record<string, number> = {};
      for (const { code } of all.slice(maxDiagnostics)) beyond[code] = (beyond[code] ?? 0) + 1;
      const findings = [];
      if (JSON.stringify(diagnostics.map(placeOf)) !== JSON.stringify(all.slice(0, maxDiagnostics).map(placeOf)))
        findings.push('C12: other diagnostics than the first ones are kept');
      if (JSON.stringify(Object.entries(diagnosticsBeyond).sort()) !== JSON.stringify(Object.entries(beyond).sort()))
        findings.push(`C12: beyond the bound ${JSON.stringify(diagnosticsBeyond)}, not ${JSON.stringify(beyond)}`);
      must(findings, way, inputs);
    },
  );
});
