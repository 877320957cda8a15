/**
 * Inspection events of XState as the messages that `@statelyai/inspect` 0.7.2
 * sends to its page, field by field. Of the five kinds of event three have a
 * message; microsteps and actions stay here, as they do there.
 *
 * Unlike there, an event is read when it happens, so that the snapshot of an
 * actor is the one of that moment.
 *
 * W1. Nothing that a machine's context, an event, an output or an error holds
 *     leaves without having passed `redact`. What cannot be redacted is left out.
 * W2. A message is bounded: states, which a page cannot do without, are read
 *     before contents.
 * W3. A machine's definition is written once, however many actors run it.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { type Allowance, bounded } from './bounded.js';

/** Which part of a message {@link Redact} is given, and of which actor. */
export interface RedactedPart {
  /** `event`, or a field of a snapshot: `context`, `input`, `output`, `error`, and whatever actors of another kind have there. */
  readonly part: string;
  /** As people name it: a session's id, a call's id. */
  readonly actorId: string;
}

/**
 * Gives what may be shown of a value, without changing it. An event that comes back without a `type` keeps its own.
 * Where it throws, nothing is shown.
 */
export type Redact = (value: unknown, of: RedactedPart) => unknown;

interface Message {
  readonly _version: string;
  /** Milliseconds since the epoch, as text. */
  readonly createdAt: string;
  readonly id: null;
  readonly rootId: string;
  /** The actor's, unique in the process; of an event, who gets it. */
  readonly sessionId: string;
}

/** An actor lives. */
export interface ActorMessage extends Message {
  readonly type: '@xstate.actor';
  readonly name: string;
  readonly parentId?: string;
  /** The configuration of its machine, as JSON. */
  readonly definition: string;
  readonly snapshot: SnapshotData;
}

/** An actor is given an event. */
export interface EventMessage extends Message {
  readonly type: '@xstate.event';
  readonly sourceId?: string;
  readonly event: EventData;
}

/** An actor has taken an event, and stands so. */
export interface SnapshotMessage extends Message {
  readonly type: '@xstate.snapshot';
  readonly event: EventData;
  readonly snapshot: SnapshotData;
}

/** What goes over the wire, each as JSON in a text frame of its own. */
export type InspectionMessage = ActorMessage | EventMessage | SnapshotMessage;

export interface SnapshotData {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly [field: string]: unknown;
}

export interface EventData {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message on its way. */
export interface Written {
  readonly text: string;
  readonly isActor: boolean;
  readonly rootId: string;
}

/** The package whose page reads this. */
const version = '0.7.2';
/** Longer definitions are not sent: a page draws the actor without its states. */
const longestDefinition = 512 * 1024;
/** Where an actor stands; all else of a snapshot is content. */
const standing = new Set(['status', 'value', 'tags', 'children', 'historyValue']);

type Logic = { readonly config?: unknown } | undefined;
type Fields = Record<string, unknown>;

export class MessageWriter {
  readonly #redact: Redact | undefined;
  readonly #maxChars: number;
  readonly #now: () => number;
  /** Of a machine's configuration: its JSON as a JSON text. */
  readonly #definitions = new WeakMap<object, string>();

  constructor(redact: Redact | undefined, maxChars: number, now: () => number) {
    this.#redact = redact;
    this.#maxChars = maxChars;
    this.#now = now;
  }

  /** Nothing for an event that has no message. Throws what an actor throws when it is looked at. */
  write(inspected: InspectionEvent): Written | undefined {
    switch (inspected.type) {
      case '@xstate.actor':
        return this.#actor(inspected);
      case '@xstate.event':
        return this.#event(inspected);
      case '@xstate.snapshot':
        return this.#snapshot(inspected);
      default:
        return undefined;
    }
  }

  /** What a page is told instead of messages that were dropped: an event that no machine took. */
  dropped(count: number, rootId: string): string {
    return this.#text('@xstate.event', rootId, rootId, { event: { type: 'commitpoint.dropped', messages: count } });
  }

  #actor({ actorRef, rootId }: Extract<InspectionEvent, { type: '@xstate.actor' }>): Written {
    const { sessionId, id, logic, _parent } = actorRef as AnyActorRef & { logic: Logic };
    const config = logic?.config;
    const hasConfig = typeof config === 'object' && config !== null;
    const own = hasConfig ? (config as { id?: unknown }).id : undefined;
    const name = id === sessionId && typeof own === 'string' ? own : id;
    const found = fieldsAtBeginning(actorRef);
    const allowance = { left: this.#maxChars };
    const snapshot = this.#standing(found, allowance);
    this.#addContents(snapshot, found, id, allowance);
    const text = this.#text('@xstate.actor', rootId, sessionId, { name, parentId: _parent?.sessionId, snapshot });
    const definition = hasConfig ? this.#definitionOf(config, name) : quotedId(name);
    return { text: `${text.slice(0, -1)},"definition":${definition}}`, isActor: true, rootId };
  }

  #event({ actorRef, sourceRef, event, rootId }: Extract<InspectionEvent, { type: '@xstate.event' }>): Written {
    const { sessionId, id } = actorRef as AnyActorRef;
    const data = this.#eventData(event, id, { left: this.#maxChars });
    const text = this.#text('@xstate.event', rootId, sessionId, { event: data, sourceId: sourceRef?.sessionId });
    return { text, isActor: false, rootId };
  }

  #snapshot({ actorRef, event, snapshot, rootId }: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): Written {
    const { sessionId, id } = actorRef as AnyActorRef;
    const allowance = { left: this.#maxChars };
    const found = fieldsOf(snapshot);
    const data = this.#standing(found, allowance);
    const taken = this.#eventData(event, id, allowance);
    this.#addContents(data, found, id, allowance);
    const text = this.#text('@xstate.snapshot', rootId, sessionId, { event: taken, snapshot: data });
    return { text, isActor: false, rootId };
  }

  #text(type: InspectionMessage['type'], rootId: string, sessionId: string, own: object): string {
    const createdAt = `${this.#now()}`;
    return JSON.stringify({ type, _version: version, createdAt, id: null, rootId, sessionId, ...own });
  }

  #eventData(event: { readonly type: string }, actorId: string, allowance: Allowance): object {
    const type = bounded(event.type, allowance);
    const shown = this.#shown(event, { part: 'event', actorId }, allowance);
    if (typeof shown !== 'object' || shown === null || Array.isArray(shown)) return { type };
    return typeof (shown as { type?: unknown }).type === 'string' ? shown : { ...shown, type };
  }

  #standing(snapshot: Fields, allowance: Allowance): Fields {
    const data: Fields = {};
    for (const key of Object.keys(snapshot)) if (standing.has(key)) data[key] = bounded(snapshot[key], allowance);
    return data;
  }

  #addContents(data: Fields, snapshot: Fields, actorId: string, allowance: Allowance): void {
    for (const part of Object.keys(snapshot)) {
      if (standing.has(part) || part.startsWith('_') || snapshot[part] === undefined) continue;
      data[part] = this.#shown(snapshot[part], { part, actorId }, allowance);
    }
  }

  #shown(value: unknown, of: RedactedPart, allowance: Allowance): unknown {
    try {
      return bounded(this.#redact === undefined ? value : this.#redact(value, of), allowance);
    } catch {
      return '[not shown: it threw]';
    }
  }

  #definitionOf(config: object, name: string): string {
    let definition = this.#definitions.get(config);
    if (definition === undefined) {
      const allowance = { left: longestDefinition };
      const plain = bounded(config, allowance);
      definition = allowance.left < 0 ? quotedId(name) : JSON.stringify(JSON.stringify(plain));
      this.#definitions.set(config, definition);
    }
    return definition;
  }
}

/** Of a snapshot, without what only its machine reads. */
function fieldsOf(snapshot: unknown): Fields {
  const { toJSON } = snapshot as { toJSON?: unknown };
  return (typeof toJSON === 'function' ? toJSON.call(snapshot) : snapshot) as Fields;
}

/** XState tells of an actor of its own before it can be looked at: it gives nothing, or throws. Ours can be. */
function fieldsAtBeginning(actorRef: { getSnapshot(): unknown }): Fields {
  let snapshot: unknown;
  try {
    snapshot = actorRef.getSnapshot();
  } catch {
    // as where it gives nothing
  }
  return snapshot === undefined ? { status: 'active' } : fieldsOf(snapshot);
}

const quotedId = (name: string) => JSON.stringify(JSON.stringify({ id: name }));
