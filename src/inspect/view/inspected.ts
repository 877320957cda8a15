/**
 * What inspected machines do, as steps: for what nobody records.
 *
 * I1. Of an actor that is recorded nothing is taken: its records say it.
 * I2. An actor is told of from its first step on, or, where it was attached to
 *     late, from where it stood then.
 * I3. A life that begins is told of when what comes next does, or the step at
 *     hand is over: a record of its beginning, if there is one, comes first.
 * I4. What several observers are told, of targets one within the other, is one
 *     step: they share what they have seen.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { ActorKind, RecordedEffect } from '../../contract/journal.js';
import { ownerOf } from './actor-ids.js';
import type { InspectedMove } from './narrator.js';

/** Who is told. */
export interface InspectedWatch {
  /** Whether records tell of it. */
  isRecorded(actor: string): boolean;
  moved(move: InspectedMove): void;
  /** A session has come, or has connected. */
  sessionCame(): void;
}

/** An actor that was seen. */
interface Seen {
  readonly id: string;
  readonly kind: ActorKind;
  readonly parent: string | undefined;
  /** Empty until its first step is told. */
  state: string;
  event: string;
  did: RecordedEffect[];
}

const kinds: Readonly<Record<string, ActorKind>> = {
  session: 'session',
  'tool-invocation': 'call',
  'response-stream': 'conversation',
  transaction: 'transaction',
  supervisor: 'supervisor',
};

/** What leads to a step of a call from within its session. */
const fromAbove: ReadonlySet<string> = new Set(['', 'interrupted', 'withdrawn', 'session_ended']);

/** What the observers of all targets have seen. */
export class Sight {
  readonly actors = new WeakMap<AnyActorRef, Seen>();
  /** The event that was told of last: whoever is watched twice tells it twice. */
  last: InspectionEvent | undefined;
}

export class Inspected {
  readonly #watch: InspectedWatch;
  readonly #sight: Sight;
  /** What the target is called; its root may have a name that says nothing. */
  readonly #name: string | undefined;
  /** While the actors that live are announced. */
  isAnnouncing = false;
  /** Of a life that has just begun. */
  #held: (() => void) | undefined;

  constructor(watch: InspectedWatch, name: string | undefined, sight = new Sight()) {
    this.#watch = watch;
    this.#name = name;
    this.#sight = sight;
  }

  readonly observe = (event: InspectionEvent): void => {
    const { type, actorRef } = event;
    if (event === this.#sight.last) return;
    this.#sight.last = event;
    const seen = this.#seenOf(actorRef as AnyActorRef);
    if (seen === undefined) return;
    this.#release();
    switch (type) {
      case '@xstate.actor':
        if (this.isAnnouncing) this.#announced(seen, stateOf((actorRef as AnyActorRef).getSnapshot()));
        else if (seen.kind === 'session') this.#watch.sessionCame();
        break;
      case '@xstate.event':
        seen.event = event.event.type;
        seen.did = [];
        if (seen.kind === 'session' && seen.event === 'connected') this.#watch.sessionCame();
        break;
      case '@xstate.action':
        seen.did.push(effectOf(event.action));
        break;
      case '@xstate.snapshot':
        this.#snapshot(seen, stateOf(event.snapshot), policyOf(event.snapshot));
        break;
    }
  };

  /** Where it was watched before, it is told of again only if it has gone on since. */
  #announced(seen: Seen, to: string): void {
    if (seen.state === to) return;
    seen.state = '';
    this.#step(seen, to, undefined);
  }

  #snapshot(seen: Seen, to: string, policy: InspectedMove['policy']): void {
    const tell = () => this.#step(seen, to, policy);
    const mayBeRecorded = seen.state === '' && (seen.kind === 'session' || seen.kind === 'conversation');
    if (!mayBeRecorded) {
      tell();
      return;
    }
    this.#held = tell;
    Promise.resolve().then(
      () => {
        if (this.#held === tell) this.#release();
      },
      () => {},
    );
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.();
  }

  #step(seen: Seen, to: string, policy: InspectedMove['policy']): void {
    const { id, kind, parent, state: from, did } = seen;
    const isFirst = from === '';
    const event = isFirst || seen.event.startsWith('xstate.') ? '' : seen.event;
    seen.did = [];
    if (to === '') return;
    seen.state = to;
    // what stops an actor is no step of its machine; pieces that move nothing are told of by the tap
    if (!isFirst && (event === '' || (from === to && (event === 'text' || event === 'audio')))) return;
    if (this.#watch.isRecorded(ownerOf(id, kind))) return;
    const causedBy =
      kind === 'call' && parent !== undefined && fromAbove.has(event) && !this.isAnnouncing ? parent : undefined;
    this.#watch.moved({
      actor: id,
      kind,
      event,
      from,
      to,
      did,
      parent,
      label: undefined,
      isLate: this.isAnnouncing,
      policy,
      ...(causedBy === undefined ? {} : { causedBy }),
    });
  }

  #seenOf(ref: AnyActorRef): Seen | undefined {
    const known = this.#sight.actors.get(ref);
    if (known !== undefined) return known;
    const kind = kinds[(ref as unknown as { logic?: { id?: string } }).logic?.id ?? ''];
    if (kind === undefined) return undefined;
    const above = (ref as unknown as { _parent?: AnyActorRef })._parent;
    const parent = above === undefined ? undefined : this.#seenOf(above);
    const seen: Seen = { ...this.#placeOf(kind, ref.id, parent), kind, state: '', event: '', did: [] };
    this.#sight.actors.set(ref, seen);
    return seen;
  }

  #placeOf(
    kind: ActorKind,
    id: string,
    above: Seen | undefined,
  ): { readonly id: string; readonly parent: string | undefined } {
    switch (kind) {
      case 'call':
        return { id: `${above?.id ?? ''}/${id}`, parent: above?.id };
      case 'transaction': {
        const owner = above === undefined ? '' : ownerOf(above.id, above.kind);
        return { id: `${owner}/${id}`, parent: owner };
      }
      case 'conversation':
        if (above?.kind === 'conversation') return { id: `${above.id}/${id}`, parent: above.id };
        return { id: id === 'conversation' ? (this.#name ?? id) : id, parent: above?.id };
      default:
        return { id, parent: above?.id };
    }
  }
}

function stateOf(snapshot: unknown): string {
  let value = (snapshot as { readonly value?: unknown } | undefined)?.value;
  const path: string[] = [];
  while (typeof value === 'object' && value !== null) {
    const [inner] = Object.entries(value);
    if (inner === undefined) break;
    path.push(inner[0]);
    value = inner[1];
  }
  if (typeof value === 'string') path.push(value);
  return path.join('.');
}

function policyOf(snapshot: unknown): InspectedMove['policy'] {
  return (snapshot as { readonly context?: { readonly policy?: InspectedMove['policy'] } }).context?.policy;
}

function effectOf({ type, params }: { readonly type: string; readonly params: unknown }): RecordedEffect {
  const [detail] = typeof params === 'object' && params !== null ? Object.values(params) : [];
  return typeof detail === 'string' ? { effect: type, detail } : { effect: type };
}
