/** A path of the walk, taken once more: with the calls by the names that they have in a scenario. */
import type { BareCall, Move } from '../../../../machines/index.js';
import type { Finding } from '../walk.js';
import type { SessionBounds } from './bounds.js';
import type { Happening } from './happening.js';
import { placeOf, type Taken } from './stage.js';
import type { SessionSystem } from './system.js';
import type { CallPart, SessionPart } from './world.js';

/** What is pending after a step. */
export interface Standing {
  readonly session: SessionPart;
  /** In order of admission. */
  readonly calls: readonly CallPart[];
}

/** What one life did. */
export interface PathMove {
  /** In order of admission; `undefined`: the session. */
  readonly call: number | undefined;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  /** By name, in order. */
  readonly did: readonly string[];
}

/** A step of a path, with the calls by their order of admission. */
export interface PathStep {
  readonly happening: Happening;
  readonly after: Standing;
  /** Who moved, and what was asked for. */
  readonly moves: readonly PathMove[];
  /** What is wrong with it. */
  readonly findings: readonly Finding[];
}

/** A path and where it leads. */
export interface Path {
  readonly bounds: SessionBounds;
  /** The name under which the far side calls a tool. */
  readonly nameOf: (tool: number) => string;
  readonly before: Standing;
  readonly steps: readonly PathStep[];
}

/** Takes the path that these numbers of happenings make. */
export function retrace(system: SessionSystem, codes: readonly number[]): Path {
  const { bounds, stage } = system;
  const { world } = system.first();
  /** By its place on the walk: the place of a call in order of admission. */
  let admitted: readonly number[] = [];
  const standing = (): Standing => {
    const calls: CallPart[] = [];
    for (const [place, of] of admitted.entries()) calls[of] = { ...(world.calls[place] as CallPart) };
    const named = (place: number) => admitted[place] as number;
    const { flushes, unconfirmed } = world.session;
    return {
      session: { ...world.session, flushes: flushes.map(named), unconfirmed: unconfirmed.map(named) },
      calls,
    };
  };
  const before = standing();
  let taken: Taken[] = [];
  system.onTaken = (step) => taken.push(step);
  const steps: PathStep[] = [];
  for (const code of codes) {
    const happening = system.happenings[code] as Happening;
    const names = admitted;
    taken = [];
    const found = system.step(world, happening);
    if (world.calls.length > admitted.length) admitted = [...admitted, admitted.length];
    const findings = found.map(({ invariant, what }) => ({ invariant, what: inOrder(what, admitted) }));
    const moves = taken.flatMap(({ moves }) => moves.map((move) => moveOf(move, admitted)));
    steps.push({ happening: renamed(happening, names), after: standing(), moves, findings });
    const order = system.order(world);
    admitted = order.map((place) => admitted[place] as number);
  }
  system.onTaken = undefined;
  return { bounds, nameOf: (tool) => stage.nameOf(tool), before, steps };
}

function moveOf({ call, event, from, to, did }: Move<BareCall>, admitted: readonly number[]): PathMove {
  const of = call === undefined ? undefined : (admitted[placeOf(call.id)] as number);
  return { call: of, event, from, to, did: did.map(({ type }) => type) };
}

/** The same, of the calls as they were admitted. */
function renamed(happening: Happening, admitted: readonly number[]): Happening {
  if ('call' in happening) return { ...happening, call: admitted[happening.call] as number } as Happening;
  if (happening.of === 'withdraw') {
    return { ...happening, calls: happening.calls.map((call) => admitted[call] as number).sort((a, b) => a - b) };
  }
  return happening;
}

/** Sentences of the judge name calls by their ids. */
function inOrder(what: string, admitted: readonly number[]): string {
  return what.replace(/\bt(\d+)\b/g, (whole, digits: string) => {
    const place = admitted[Number(digits) - 1];
    return place === undefined ? whole : `t${place + 1}`;
  });
}
