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

/** Where an actor stands, without anything that cannot be sent. */
export interface SnapshotData {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly [field: string]: unknown;
}

/** An event, without anything that cannot be sent. */
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
/** A far side may name its calls as it likes. */
const longestName = 1000;
/** Where an actor stands; all else of a snapshot is content. */
const standing = new Set(['status', 'value', 'tags', 'children', 'historyValue']);

type Logic = { readonly config?: unknown } | undefined;
type Fields = Record<string, unknown>;

export class MessageWriter {
  readonly #redact: Redact | undefined;
  readonly #maxChars: number;
  readonly #now: () => number;
  readonly #lastEvent = new LastText();
  readonly #lastSnapshot = new LastText();
  /** Of a machine's configuration: its JSON as a JSON text. */
  readonly #definitions = new WeakMap<object, string>();

  /** `maxChars`: how long the contents of a message may be. */
  constructor(redact: Redact | undefined, maxChars: number, now: () => number) {
    this.#redact = redact;
    // an event and a snapshot, each with its share
    this.#maxChars = maxChars / 2;
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
    const event = `{"type":"commitpoint.dropped","messages":${count}}`;
    return `${this.#head('@xstate.event', rootId, rootId)},"event":${event}}`;
  }

  #actor({ actorRef, rootId }: Extract<InspectionEvent, { type: '@xstate.actor' }>): Written {
    const { sessionId, id, logic, _parent } = actorRef as AnyActorRef & { logic: Logic };
    const config = logic?.config;
    const hasConfig = typeof config === 'object' && config !== null;
    const own = hasConfig ? (config as { id?: unknown }).id : undefined;
    const name = bounded(id === sessionId && typeof own === 'string' ? own : id, { left: longestName }) as string;
    const parent = _parent === undefined ? '' : `,"parentId":${JSON.stringify(_parent.sessionId)}`;
    const definition = hasConfig ? this.#definitionOf(config, name) : quotedId(name);
    const snapshot = this.#snapshotText(snapshotAtBeginning(actorRef), id);
    const head = this.#head('@xstate.actor', rootId, sessionId);
    const text = `${head},"name":${JSON.stringify(name)}${parent},"snapshot":${snapshot},"definition":${definition}}`;
    return { text, isActor: true, rootId };
  }

  #event({ actorRef, sourceRef, event, rootId }: Extract<InspectionEvent, { type: '@xstate.event' }>): Written {
    const { sessionId, id } = actorRef as AnyActorRef;
    const source = sourceRef === undefined ? '' : `,"sourceId":${JSON.stringify(sourceRef.sessionId)}`;
    const head = this.#head('@xstate.event', rootId, sessionId);
    return { text: `${head}${source},"event":${this.#eventText(event, id)}}`, isActor: false, rootId };
  }

  #snapshot({ actorRef, event, snapshot, rootId }: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): Written {
    const { sessionId, id } = actorRef as AnyActorRef;
    const head = this.#head('@xstate.snapshot', rootId, sessionId);
    const text = `${head},"event":${this.#eventText(event, id)},"snapshot":${this.#snapshotText(snapshot, id)}}`;
    return { text, isActor: false, rootId };
  }

  /** The beginning of a message, without the brace that ends it. */
  #head(type: InspectionMessage['type'], rootId: string, sessionId: string): string {
    const ids = `"rootId":${JSON.stringify(rootId)},"sessionId":${JSON.stringify(sessionId)}`;
    return `{"type":"${type}","_version":"${version}","createdAt":"${this.#now()}","id":null,${ids}`;
  }

  #eventText(event: { readonly type: string }, actorId: string): string {
    return this.#lastEvent.of(event, actorId, () => {
      const allowance = { left: this.#maxChars };
      const type = bounded(event.type, allowance);
      const shown = this.#shown(event, { part: 'event', actorId }, allowance);
      if (typeof shown !== 'object' || shown === null || Array.isArray(shown)) return JSON.stringify({ type });
      const hasType = typeof (shown as { type?: unknown }).type === 'string';
      return JSON.stringify(hasType ? shown : { ...shown, type });
    });
  }

  #snapshotText(snapshot: object, actorId: string): string {
    return this.#lastSnapshot.of(snapshot, actorId, () => {
      const allowance = { left: this.#maxChars };
      const found = fieldsOf(snapshot);
      const data: Fields = {};
      const parts = Object.keys(found);
      for (const key of parts) if (standing.has(key)) data[key] = bounded(found[key], allowance);
      for (const part of parts) {
        if (standing.has(part) || part.startsWith('_') || found[part] === undefined) continue;
        data[part] = this.#shown(found[part], { part, actorId }, allowance);
      }
      return JSON.stringify(data);
    });
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
function snapshotAtBeginning(actorRef: { getSnapshot(): unknown }): object {
  let snapshot: unknown;
  try {
    snapshot = actorRef.getSnapshot();
  } catch {
    // as where it gives nothing
  }
  return (snapshot ?? unborn) as object;
}

const unborn = { status: 'active' };

/**
 * What was written last, of whom. An event is told of twice, when it is given and when it was taken; and a snapshot that many
 * events leave as it is, is told of after each. Neither is ever changed, by XState's rules.
 */
class LastText {
  #of: object | undefined;
  #actorId = '';
  #text = '';

  of(value: object, actorId: string, write: () => string): string {
    if (value !== this.#of || actorId !== this.#actorId) {
      this.#text = write();
      this.#of = value;
      this.#actorId = actorId;
    }
    return this.#text;
  }
}

const quotedId = (name: string) => JSON.stringify(JSON.stringify({ id: name }));
