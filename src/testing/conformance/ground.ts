import type { Clock } from '../../contract/clock.js';
import { ConformanceError, messageOf } from '../../contract/errors.js';
import type { BidiConnectParams, BidiSession } from '../../contract/provider.js';
import type { LLMToolSchema } from '../../contract/tool.js';
import type { ConformanceFarSide, ConformanceTurn, FarSidePlan, FarSideSituation } from './far-side.js';
import { Reader } from './reader.js';

/** A session of one case, with both of its ends. */
export interface Opened {
  readonly far: ConformanceFarSide;
  readonly session: BidiSession;
  readonly reader: Reader;
}

/** What cases are made of. */
export interface GroundOptions {
  readonly name: string;
  readonly farSide: (plan: FarSidePlan) => ConformanceFarSide | undefined | Promise<ConformanceFarSide | undefined>;
  readonly connect: Partial<BidiConnectParams>;
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** Thrown where a driver need not offer what a case is about. */
export class NotOffered {}

/** The words of a far side that refuses. */
export const refusal = 'not on this day';

const tool = (name: string): LLMToolSchema => ({
  type: 'function',
  function: { name, description: `A tool of the suite: ${name}.`, parameters: { type: 'object', properties: {} } },
});

/** What one case stands on: makes far sides and sessions, waits within bounds, and lets go of all of it. */
export class Ground {
  readonly #options: GroundOptions;
  readonly #sessions: BidiSession[] = [];
  readonly #farSides: ConformanceFarSide[] = [];

  constructor(options: GroundOptions) {
    this.#options = options;
  }

  /** A far side with such turns. */
  async farSide(
    turns: readonly ConformanceTurn[],
    situation: FarSideSituation = 'ordinary',
  ): Promise<ConformanceFarSide> {
    const far = await this.#options.farSide({ situation, turns, reason: refusal });
    if (far === undefined) return this.fail(`the far side has no such situation: ${situation}`);
    this.#farSides.push(far);
    return far;
  }

  /** The parameters of a connect. */
  params(more: Partial<BidiConnectParams> = {}): BidiConnectParams {
    return { model: 'conformance', tools: [tool('look'), tool('book')], ...this.#options.connect, ...more };
  }

  /** Connects, and reads. */
  async open(
    turns: readonly ConformanceTurn[],
    situation: FarSideSituation = 'ordinary',
    more: Partial<BidiConnectParams> = {},
  ): Promise<Opened> {
    const far = await this.farSide(turns, situation);
    return this.join(far, more);
  }

  /** Connects to a far side that stands. */
  async join(far: ConformanceFarSide, more: Partial<BidiConnectParams> = {}): Promise<Opened> {
    const session = await this.within(far.provider.connect(this.params(more)), 'the connect');
    this.#sessions.push(session);
    return { far, session, reader: new Reader(session) };
  }

  /** The user says something: the next turn begins. */
  async go(session: BidiSession): Promise<void> {
    await this.within(session.send({ type: 'text', text: 'go' }), 'send()');
  }

  /** What a promise comes to, if it comes in time. */
  async within<T>(promise: Promise<T>, what: string): Promise<T> {
    const { clock, patienceMs } = this.#options;
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      timer = clock.setTimeout(() => {
        reject(new ConformanceError(this.#options.name, `expected ${what} within ${patienceMs} ms, found nothing`));
      }, patienceMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** What a promise rejects with. */
  async rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
    const settled = promise.then(
      () => ({ resolved: true }) as const,
      (error: unknown) => ({ resolved: false, error }) as const,
    );
    const outcome = await this.within(settled, `${what} to settle`);
    return outcome.resolved ? this.fail(`expected ${what} to reject, found that it resolved`) : outcome.error;
  }

  /** Fails the case unless it holds. */
  check(holds: boolean, problem: () => string): void {
    if (!holds) this.fail(problem());
  }

  fail(problem: string): never {
    throw new ConformanceError(this.#options.name, problem);
  }

  /** Fails the case for what the driver threw where nothing should. */
  broken(error: unknown): never {
    const { name } = this.#options;
    throw new ConformanceError(name, `expected no error here, found ${shown(error)}`, { cause: error });
  }

  /** Lets go. A driver that does not close is left behind. */
  async leave(): Promise<void> {
    for (const session of this.#sessions) {
      await this.within(
        Promise.resolve()
          .then(() => session.close())
          .catch(() => {}),
        'close()',
      ).catch(() => {});
    }
    for (const far of this.#farSides) await far.dispose();
  }
}

/** For a message: what a driver threw. */
export const shown = (error: unknown): string => `“${messageOf(error)}”`;
