/** What the tests of `events()` and `events$` share: events told in words, and readers that keep them. */
import type { Observable } from 'rxjs';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import { defineTool, type Session } from '../../src/runtime/index.js';

/** A text of the far side. */
export const text = (words: string): BidiEvent => ({ type: 'text', text: words });
/** Texts of the far side. */
export const texts = (...words: string[]): BidiEvent[] => words.map(text);

/** What an event says, in one word. */
export const word = (event: BidiTurnEvent): string => ('text' in event ? event.text : event.type);

/** Reads `many` events and leaves the loop. */
export async function readSome(session: Session, many: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of session.events()) {
    seen.push(word(event));
    if (seen.length === many) break;
  }
  return seen;
}

/** Subscribes and keeps a log: words, `|` for the completion, `!` for an error. */
export function subscribe(events$: Observable<BidiTurnEvent>): { readonly log: string[]; unsubscribe(): void } {
  const log: string[] = [];
  const subscription = events$.subscribe({
    next: (event) => log.push(word(event)),
    complete: () => log.push('|'),
    error: () => log.push('!'),
  });
  return { log, unsubscribe: () => subscription.unsubscribe() };
}

/** A tool that answers at once. */
export const echo = defineTool({ name: 'echo', description: '', input: {}, execute: () => 'echo' });
