import type { Clock } from '../../contract/clock.js';
import { ConformanceError, InvalidInputError } from '../../contract/errors.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { BidiConnectParams } from '../../contract/provider.js';
import { callCases } from './cases/calls.js';
import { connectCases } from './cases/connect.js';
import { endCases } from './cases/ends.js';
import { turnCases } from './cases/turns.js';
import type { CaseDefinition } from './conformance-case.js';
import type { ConformanceFarSide, FarSidePlan } from './far-side.js';
import { Ground, NotOffered } from './ground.js';

/** Options of {@link providerConformance}. */
export interface ConformanceOptions {
  /**
   * Makes the far side of one case, with the driver pointed at it; asked anew for each. Give `undefined` for a situation
   * that cannot be made: its case fails, unless it is listed as a gap.
   */
  readonly farSide: (plan: FarSidePlan) => ConformanceFarSide | undefined | Promise<ConformanceFarSide | undefined>;
  /** What is handed to every `connect`, beside what a case is about. */
  readonly connect?: Partial<BidiConnectParams>;
  /**
   * Cases that this driver is known to fail, by name, each with the reason. Such a case fails the run when it does not fail:
   * then take it off the list.
   */
  readonly gaps?: Readonly<Record<string, string>>;
  /** How long the driver may take for each thing that it is asked for, in milliseconds. Default 5,000. */
  readonly patienceMs?: number;
  /** Default: the platform's. */
  readonly clock?: Clock;
}

/**
 * What a case came to, where it did not fail: the driver keeps the promise; it need not, since it offers nothing of the kind
 * (an optional method, a wire without it); or it is known not to.
 */
export type ConformanceOutcome = 'kept' | 'not_offered' | 'gap';

/** One promise of the contract, ready to be tried. */
export interface ConformanceCase {
  readonly name: string;
  /** What is promised, as a sentence. */
  readonly promise: string;
  /** Why it is known not to be kept, where it is. */
  readonly gap: string | undefined;
  /** Tries it. Rejects with a `ConformanceError` when it is not kept, and when a gap is none any more. */
  run(): Promise<ConformanceOutcome>;
}

/** The functions of a test runner that take a name and a body: those of vitest, `node:test`, jest or mocha. */
export interface ConformanceRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** What a driver has to keep, case by case. */
export interface ConformanceSuite {
  readonly cases: readonly ConformanceCase[];
  /** Hands every case to a test runner, in one group of this name. */
  register(name: string, runner: ConformanceRunner): void;
}

/** The promises of the contract that a driver keeps, in the order in which they are tried. */
const definitions: readonly CaseDefinition[] = [...connectCases, ...turnCases, ...callCases, ...endCases];

/**
 * A suite for a driver of your own: each case makes a far side, has the driver connect to it, and holds what comes to the
 * contract. Nothing in it waits longer than `patienceMs` at a time.
 * @throws {InvalidInputError} when a gap names no case, or has no reason.
 */
export function providerConformance(options: ConformanceOptions): ConformanceSuite {
  const { farSide, connect = {}, gaps = {}, patienceMs = 5_000, clock = platformClock } = options;
  for (const [name, reason] of Object.entries(gaps)) {
    if (!definitions.some((definition) => definition.name === name)) {
      throw new InvalidInputError('gaps', 'names of cases', name);
    }
    if (typeof reason !== 'string' || reason === '') throw new InvalidInputError(`gaps.${name}`, 'a reason', reason);
  }
  const cases = definitions.map(({ name, promise, run }): ConformanceCase => {
    const gap = Object.hasOwn(gaps, name) ? gaps[name] : undefined;
    const attempt = () => tried(new Ground({ name, farSide, connect, patienceMs, clock }), run);
    return { name, promise, gap, run: () => (gap === undefined ? attempt() : stillFails(name, gap, attempt)) };
  });
  return {
    cases,
    register(group, { describe, it }) {
      describe(group, () => {
        for (const { name, promise, run } of cases) {
          it(`${name}: ${promise}`, async () => {
            await run();
          });
        }
      });
    },
  };
}

async function tried(ground: Ground, run: CaseDefinition['run']): Promise<ConformanceOutcome> {
  try {
    await run(ground);
    return 'kept';
  } catch (error) {
    if (error instanceof NotOffered) return 'not_offered';
    if (error instanceof ConformanceError) throw error;
    return ground.broken(error);
  } finally {
    await ground.leave();
  }
}

async function stillFails(
  name: string,
  gap: string,
  attempt: () => Promise<ConformanceOutcome>,
): Promise<ConformanceOutcome> {
  let outcome: ConformanceOutcome;
  try {
    outcome = await attempt();
  } catch (error) {
    if (error instanceof ConformanceError) return 'gap';
    throw error;
  }
  throw new ConformanceError(name, `listed as a gap (${gap}), and ${outcome}: take it off the list`);
}
