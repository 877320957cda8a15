/**
 * The events that the host has still to be given because of the far side, in
 * the order of the far side: its own, and those that follow from one at once
 * (the start of a call, an abandonment, the last error).
 */
import type { TraceEvent } from '../../scenario/scenario.js';
import { alike } from './alike.js';

/** One such event. */
export interface AwaitedEvent {
  /** The invariant that is broken when it stays away. */
  readonly invariant: string;
  /** How a finding names it. */
  readonly what: string;
  readonly event: TraceEvent;
  /** Nobody misses it when it stays away. */
  optional: boolean;
  /** The last event of a session that ends with an error of the runtime, whose text is free. */
  readonly last?: boolean;
  /** The group of entries that made it. */
  readonly group: number;
}

/** The queue of them. */
export class AwaitedEvents {
  private queue: AwaitedEvent[] = [];

  get length(): number {
    return this.queue.length;
  }

  push(event: AwaitedEvent): void {
    this.queue.push(event);
  }

  /** The first that is this event, if there is one. */
  find(event: TraceEvent): AwaitedEvent | undefined {
    return this.queue.find((awaited) => sameEvent(awaited.event, event));
  }

  /**
   * Takes one out of the queue. Gives the first that should have come before it:
   * once, for from then on that one is not missed any more.
   */
  take(awaited: AwaitedEvent): AwaitedEvent | undefined {
    const index = this.queue.indexOf(awaited);
    if (index === 0) {
      this.queue.shift();
      return undefined;
    }
    const skipped = this.queue.slice(0, index).filter(({ optional }) => !optional);
    for (const other of skipped) other.optional = true;
    this.queue.splice(index, 1);
    return skipped[0];
  }

  /** Those made by this group may stay away. */
  makeOptional(group: number): void {
    for (const awaited of this.queue) if (awaited.group === group) awaited.optional = true;
  }

  /** The audio among them is thrown away, or, where it may have been read before, is not to be missed. */
  dropAudio(mayBeRead: boolean): void {
    if (mayBeRead) {
      for (const awaited of this.queue) if (awaited.event.type === 'audio') awaited.optional = true;
    } else {
      this.queue = this.queue.filter((awaited) => awaited.event.type !== 'audio');
    }
  }

  /** Empties the queue; gives what should have come. */
  clear(): readonly AwaitedEvent[] {
    const missed = this.queue.filter((awaited) => !awaited.optional);
    this.queue = [];
    return missed;
  }
}

function sameEvent(awaited: TraceEvent, found: TraceEvent): boolean {
  switch (awaited.type) {
    case 'text':
      return found.type === 'text' && alike(awaited.text, found.text);
    case 'audio':
      return found.type === 'audio' && alike(awaited.data, found.data) && alike(awaited.mediaType, found.mediaType);
    case 'error':
      return found.type === 'error' && alike(awaited.message, found.message);
    case 'closed':
      return found.type === 'closed' && alike(awaited.reason ?? '', found.reason ?? '');
    case 'tool_started':
    case 'tool_abandoned':
      return found.type === awaited.type && found.toolUseId === awaited.toolUseId && found.toolName === awaited.toolName;
    default:
      return found.type === awaited.type;
  }
}
