/** The driver and the journal of a run: what they are asked is logged, what they answer was drawn by lot. */
import type { BidiEvent, BidiProvider, BidiSession } from '../../../src/contract/provider.js';
import { EventQueue } from '../../../src/providers/scripted/event-queue.js';
import type { Step } from '../../../src/scenario/scenario.js';
import { HandJournal } from '../../../src/testing/hand-journal.js';
import type { DriverMethod, Log } from './log.js';
import type { Answer, Plan } from './plan.js';
import { Refused } from './refused.js';
import type { Turns } from './turns.js';

type Asked = { readonly id?: string; readonly output?: string; readonly isError?: boolean };

export class FarSide {
  readonly #plan: Plan;
  readonly #log: Log;
  readonly #turns: Turns;
  readonly #onCall: () => void;
  readonly #queue = new EventQueue<BidiEvent>();

  /** @param onCall is told of every call into the driver, inside of it */
  constructor(plan: Plan, log: Log, turns: Turns, onCall: () => void) {
    this.#plan = plan;
    this.#log = log;
    this.#turns = turns;
    this.#onCall = onCall;
  }

  emit(step: Step): void {
    if ('far' in step && this.#queue.push(step.far as BidiEvent)) this.#log.note({ far: step.far });
    else if ('far_stream' in step) {
      this.#log.note({ stream: step.far_stream });
      if (step.far_stream === 'end') this.#queue.end();
      else this.#queue.fail(new Refused('socket gone'));
    }
  }

  provider(): BidiProvider {
    return {
      id: 'scheduled',
      connect: ({ signal }) => {
        signal?.addEventListener('abort', () => this.#log.note({ lifetime: 'over', reason: signal.reason }));
        return this.#asked(this.#plan.connect, 'connect').then(() => this.#driver());
      },
    };
  }

  journal(durable: boolean): HandJournal {
    return new HandJournal(durable, () => {
      this.#log.note({ journal: 'flush' });
      const answer = this.#turns.next('flush', this.#plan.flushes);
      return this.#answer(answer, () => this.#log.note({ answered: 'flush', accepts: answer.accepts }));
    });
  }

  #driver(): BidiSession {
    const { header, close } = this.#plan;
    const other = (method: DriverMethod, about?: Asked) =>
      this.#asked(this.#turns.next('send', this.#plan.sends), method, about);
    const driver: BidiSession = {
      send: () => other('send'),
      sendToolResult: (id, output, isError = false) =>
        this.#asked(this.#turns.next('publish', this.#plan.publishes), 'sendToolResult', { id, output, isError }),
      events: () => eventsOf(this.#queue, this.#plan.yields),
      close: () => {
        this.#queue.end();
        return this.#asked(close, 'close');
      },
      played: () => other('played'),
    };
    if (header.provider?.abandonToolCall) driver.abandonToolCall = (id) => other('abandonToolCall', { id });
    if (header.provider?.interrupt) driver.interrupt = () => other('interrupt');
    return driver;
  }

  #asked(answer: Answer, driver: DriverMethod, about: Asked = {}): Promise<void> {
    this.#log.note({ driver, ...about });
    if (driver !== 'connect') this.#onCall();
    const { id } = about;
    return this.#answer(answer, () => {
      this.#log.note({ answered: driver, accepts: answer.accepts, ...(id === undefined ? {} : { id }) });
    });
  }

  /** Answers in the way that was drawn; `note` is told when it happens. */
  #answer({ how, accepts }: Answer, note: () => void): Promise<void> {
    const settle = () => {
      note();
      if (!accepts) throw new Refused('refused');
    };
    switch (how) {
      case 'value':
        note();
        // a driver written in JavaScript may give no promise at all
        return (accepts ? undefined : Promise.reject(new Refused('refused'))) as unknown as Promise<void>;
      case 'throws':
        settle();
        return Promise.resolve();
      case 'at once':
        note();
        return accepts ? Promise.resolve() : Promise.reject(new Refused('refused'));
      case 'later':
        return this.#turns.wait('answer').then(settle);
      case 'never':
        return new Promise(() => {});
    }
  }
}

function eventsOf(queue: EventQueue<BidiEvent>, yields: Plan['yields']): AsyncIterable<BidiEvent> {
  if (yields === 'queued') return queue;
  return yields === 'generated' ? generated(queue) : plain(queue);
}

async function* generated(queue: EventQueue<BidiEvent>): AsyncGenerator<BidiEvent> {
  yield* queue;
}

/** What a driver written in JavaScript may give: something that is good enough for `await`. */
function plain(queue: EventQueue<BidiEvent>): AsyncIterable<BidiEvent> {
  const next = (): Promise<IteratorResult<BidiEvent>> => {
    const given = queue.next();
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    return { then: given.then.bind(given) } as Promise<IteratorResult<BidiEvent>>;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
