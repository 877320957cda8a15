/** Who reads the session of a run: loops that leave and come back, subscribers in time and late. */
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import type { Session } from '../../../src/runtime/session.js';
import type { Log } from './log.js';
import type { Plan } from './plan.js';
import type { Turns } from './turns.js';

/** Begins to read. `given`: told of an event within the step that gives it to a subscriber. */
export function read(session: Session, plan: Plan, log: Log, turns: Turns, given: () => void): void {
  const { who, leaves, dawdles, ahead } = plan.readers;
  if (who === 'loop' || who === 'both') void loop();
  if (who === 'subscriber' || who === 'both') subscribe();
  if (who === 'late subscriber') void turns.wait('subscribe').then(subscribe);

  function subscribe(): void {
    session.events$.subscribe({
      next: (event: BidiTurnEvent) => {
        log.note({ event });
        given();
      },
      complete: () => log.note({ over: 'events$' }),
    });
  }

  async function loop(): Promise<void> {
    for (const leave of [...leaves, Number.POSITIVE_INFINITY]) {
      const isOver = ahead === 1 ? await readOne(leave) : await readAhead(leave);
      if (isOver) break;
      await turns.wait('open the loop again');
    }
    log.note({ over: 'loop' });
  }

  /** A loop that leaves after so many events. Gives whether there will be no more. */
  async function readOne(leave: number): Promise<boolean> {
    let count = 0;
    for await (const event of session.events()) {
      await take(event);
      count++;
      if (count >= leave) return false;
    }
    return true;
  }

  /** The same by hand, with several questions open at a time. */
  async function readAhead(leave: number): Promise<boolean> {
    const iterator = session.events()[Symbol.asyncIterator]();
    const asked = Array.from({ length: ahead }, () => iterator.next());
    for (let count = 0; count < leave; count++) {
      const result = await (asked.shift() as (typeof asked)[number]);
      if (result.done) return true;
      await take(result.value);
      asked.push(iterator.next());
    }
    await iterator.return?.();
    // what was asked for before may have been given before
    for (const result of await Promise.all(asked)) if (!result.done) log.note({ read: result.value });
    return false;
  }

  async function take(event: BidiTurnEvent): Promise<void> {
    log.note({ read: event });
    if (turns.next('dawdle', dawdles)) await turns.wait('read on');
  }
}
