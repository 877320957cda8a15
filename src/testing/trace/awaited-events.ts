/**
 * The events that the host has still to be given because of the far side, in
 * the order of the far side: its own, and those that follow from one at once
 * (the start of a call, an abandonment, the last error).
 */
import type { TraceEvent } from '../../scenario/scenario.js';
import { matchesText } from '../../scenario/text-pattern.js';

/** One such event. */
export interface AwaitedEvent {
  /** The invariant that is broken when it stays away. */
  readonly invariant: string;
  /** How a finding names it. */
  readonly what: string;
  readonly event: TraceEvent;
  /** It may have found no place in a full buffer: it, and then all behind it but the last. */
  readonly optional: boolean;
  /** Nobody misses it any more. */
  waived?: boolean;
  /** Unread audio that an interruption may have thrown away: it comes before whatever is behind it, or never. */
  mayBeDropped?: boolean;
  /** The last event of a session that ends with an error of the runtime, whose text is free. */
  readonly last?: boolean;
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

  /** The first that is this event, if there is one; the error of an end, whose text is free, only if no other is. */
  find(event: TraceEvent): AwaitedEvent | undefined {
    let last: AwaitedEvent | undefined;
    for (const awaited of this.queue) {
      if (!sameEvent(awaited, event)) continue;
      if (awaited.last !== true) return awaited;
      last ??= awaited;
    }
    return last;
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
    let skipped: AwaitedEvent | undefined;
    for (const other of this.queue.slice(0, index)) {
      const mayBeCut = other.optional && (awaited.last === true || other.last === true);
      if (other.waived === true || other.mayBeDropped === true || mayBeCut) continue;
      other.waived = true;
      skipped ??= other;
    }
    // audio that was dropped must not stand in for the same audio said again later
    this.queue = this.queue.filter((other, at) => at > index || (at < index && other.mayBeDropped !== true));
    return skipped;
  }

  /** The audio among them is thrown away, if it surely is, else nobody misses it. */
  dropAudio(surely: boolean): void {
    if (surely) this.queue = this.queue.filter(({ event }) => event.type !== 'audio');
    else for (const awaited of this.queue) if (awaited.event.type === 'audio') awaited.mayBeDropped = true;
  }

  /** Empties the queue; gives what should have come. */
  clear(): readonly AwaitedEvent[] {
    const missed = this.queue.filter(
      ({ optional, waived, mayBeDropped }) => !optional && waived !== true && mayBeDropped !== true,
    );
    this.queue = [];
    return missed;
  }
}

/** Only what was found may come from an `expect` and be a pattern. */
function sameEvent({ event, last }: AwaitedEvent, found: TraceEvent): boolean {
  if (event.type !== found.type) return false;
  switch (event.type) {
    case 'text':
      return found.type === 'text' && matchesText(found.text, event.text);
    case 'audio':
      return (
        found.type === 'audio' && matchesText(found.data, event.data) && matchesText(found.mediaType, event.mediaType)
      );
    case 'error':
      return found.type === 'error' && (last === true || matchesText(found.message, event.message));
    case 'closed':
      return found.type === 'closed' && matchesText(found.reason ?? '', event.reason ?? '');
    case 'tool_started':
    case 'tool_abandoned':
      return 'toolUseId' in found && found.toolUseId === event.toolUseId && found.toolName === event.toolName;
    default:
      return true;
  }
}
