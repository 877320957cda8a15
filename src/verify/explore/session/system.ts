/**
 * A session and its calls as a system to walk through.
 *
 * A world is a row of numbers: that of the session's part, then those of the
 * calls'. Parts are few; each is kept once.
 *
 * Which calls are interchangeable: those that the coordination has released. It
 * keeps of them an id, a name and a digest, and looks them up by id alone; what
 * can still come of one (late code, a late answer) changes nothing but itself.
 * So they stand behind the others, ordered by their parts, and two worlds that
 * differ only in which of them came first are one. Calls that are not released
 * keep their order even where their rules are alike: it says who is given a
 * place first, and who is told first of an interruption that ends at a full
 * buffer; and a fault may be about the first of them, or the last.
 */
import type { BareCall, CallSnapshot, Move, SessionSnapshot } from '../../../../machines/index.js';
import { Pool } from '../pool.js';
import type { Finding, System } from '../walk.js';
import type { SessionBounds } from './bounds.js';
import { type Happening, happenings } from './happening.js';
import { Judging } from './judging.js';
import { isPossible } from './possible.js';
import { Stage, type Taken } from './stage.js';
import { type CallPart, copyOfCall, copyOfSession, type SessionPart, type World } from './world.js';

/** Where each call stands that stood elsewhere before. */
export type Order = readonly number[];

/** Numbers snapshots: there are few, each an object of its own. */
class Numbered {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(snapshot: SessionSnapshot | CallSnapshot): number {
    let number = this.#numbers.get(snapshot);
    if (number === undefined) {
      number = ++this.#last;
      this.#numbers.set(snapshot, number);
    }
    return number;
  }
}

/** Walks a session and its calls. */
export class SessionSystem implements System {
  readonly width: number;
  /** By number. */
  readonly happenings: readonly Happening[];
  readonly stage: Stage;
  readonly bounds: SessionBounds;
  /** Is told of every step, by whoever wants to look on. */
  onTaken: ((taken: Taken) => void) | undefined;
  readonly #judging: Judging;
  readonly #snapshots = new Numbered();
  readonly #sessions = new Pool<SessionPart>();
  readonly #calls = new Pool<CallPart>();
  readonly #next: Int32Array;

  constructor(bounds: SessionBounds) {
    this.bounds = bounds;
    this.width = 1 + bounds.calls;
    this.happenings = happenings(bounds);
    this.#judging = new Judging(bounds);
    this.stage = new Stage(bounds, (taken) => {
      this.#judging.take(taken);
      this.onTaken?.(taken);
    });
    this.#next = new Int32Array(this.width);
  }

  begin(into: Int32Array): readonly Finding[] {
    const { world, findings } = this.first();
    this.write(world, into);
    return findings;
  }

  expand(row: Int32Array, visit: (code: number, next: Int32Array, findings: readonly Finding[]) => boolean): void {
    const { happenings, bounds } = this;
    const next = this.#next;
    let world = this.#read(row);
    for (let code = 0; code < happenings.length; code++) {
      const happening = happenings[code] as Happening;
      if (!isPossible(world, happening, bounds)) continue;
      const findings = this.step(world, happening);
      if (findings.length === 0) this.write(world, next);
      if (!visit(code, next, findings)) return;
      world = this.#read(row);
    }
  }

  /** A session that has just begun. */
  first(): { readonly world: World; readonly move: Move<BareCall>; readonly findings: readonly Finding[] } {
    const { world, move } = this.stage.begin();
    return { world, move, findings: this.#judging.begin(world, move) };
  }

  /** Something happens; gives what is wrong about what was done. */
  step(world: World, happening: Happening): readonly Finding[] {
    this.#judging.resume(world);
    this.stage.take(world, happening);
    const findings = this.#judging.store(world);
    return findings.length > 0 ? findings : standing(world);
  }

  /** Puts released calls behind the others. Gives, by new place, where each call stood. */
  order(world: World): Order {
    const { session, calls } = world;
    const places: number[] = [];
    for (let place = 0; place < calls.length; place++) places.push(place);
    if (!calls.some(({ released }) => released)) return places;
    const numbers = calls.map((part) => (part.released ? this.#numberOfCall(part) : 0));
    const { flushes } = session;
    // those that are alike but for the intents of theirs that are still being written: by the place of the first of these
    places.sort((a, b) => (numbers[a] as number) - (numbers[b] as number) || tied(a, b, numbers[a] as number, flushes));
    if (places.every((from, to) => from === to)) return places;
    world.calls = places.map((place) => calls[place] as World['calls'][number]);
    const to = (place: number) => places.indexOf(place);
    session.flushes = flushes.map(to);
    session.unconfirmed = session.unconfirmed.map(to);
    return places;
  }

  /** The row of a world. */
  write(world: World, into: Int32Array): void {
    this.order(world);
    into[0] = this.#numberOfSession(world.session);
    for (let place = 0; place < this.bounds.calls; place++) {
      const part = world.calls[place];
      into[place + 1] = part === undefined ? 0 : this.#numberOfCall(part);
    }
  }

  #read(row: Int32Array): World {
    const world: World = { session: copyOfSession(this.#sessions.at(row[0] as number)), calls: [] };
    for (let place = 1; place < this.width && row[place] !== 0; place++) {
      world.calls.push(copyOfCall(this.#calls.at(row[place] as number)));
    }
    return world;
  }

  #numberOfSession(part: SessionPart): number {
    const { counts, flushes, unconfirmed } = part;
    let bits = 0;
    if (part.connecting) bits |= 1;
    if (part.closing) bits |= 2;
    if (part.connectTimer) bits |= 4;
    if (part.closeTimer) bits |= 8;
    if (part.reading) bits |= 16;
    if (part.aborted) bits |= 32;
    if (part.paused) bits |= 64;
    const counted = `${counts.admitted},${counts.placesHeld},${counts.queued},${counts.refusedPublishing}`;
    const lists = flushes.length + unconfirmed.length === 0 ? '' : `${flushes.join()};${unconfirmed.join()}`;
    const buffer = part.waiting === 0 ? '' : `${part.waiting},${part.audio}`;
    const lent = part.lent === 0 ? '' : `.${part.lent}`;
    const key = `${this.#snapshots.of(part.snapshot)}.${bits}.${part.facts}.${counted}.${lists}.${buffer}${lent}`;
    return this.#sessions.numberOf(key, () => copyOfSession(part));
  }

  #numberOfCall(part: CallPart): number {
    let bits = codes[part.code] | verdicts[part.verdict];
    if (part.refused) bits |= 16;
    if (part.released) bits |= 32;
    if (part.validating) bits |= 64;
    if (part.aborted) bits |= 128;
    if (part.timer) bits |= 256;
    if (part.unanswered) bits |= 512;
    const key = `${this.#snapshots.of(part.snapshot)}.${part.tool}.${bits}.${part.facts}`;
    return this.#calls.numberOf(key, () => copyOfCall(part));
  }
}

/** Calls that are not released (their number is 0) keep their order. */
function tied(a: number, b: number, number: number, flushes: readonly number[]): number {
  if (number === 0 || flushes.length === 0) return a - b;
  return flushes.indexOf(a) - flushes.indexOf(b) || a - b;
}

const codes = { none: 0, runs: 1, settled: 2 } as const;
const verdicts = { accepted: 0, approval: 4, refused: 8 } as const;

/** What is wrong with a world that stands still: an end that nothing can bring about. */
function standing({ session }: World): readonly Finding[] {
  if (session.snapshot.value !== 'closing' || session.connecting || session.closing || session.closeTimer) return fine;
  return [{ invariant: 'D11', what: 'the session is closing, and nothing that can happen will close it' }];
}

const fine: readonly Finding[] = Object.freeze([]);
