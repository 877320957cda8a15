/** What a session asks of its driver beside the results of calls: to connect, to act for the host, to close. */
import { DriverContractError, NotSupportedError } from '../contract/errors.js';
import type { BidiConnectParams, BidiSession } from '../contract/provider.js';
import type { LLMToolSchema, Tool } from '../contract/tool.js';
import { attempt } from './attempt.js';
import type { PendingAct } from './host-acts.js';
import type { SessionLife } from './session-life.js';

/** Connects. `lifetime` gives the session's signal, which is made when a driver asks for it. */
export function connect(life: SessionLife, lifetime: () => AbortSignal): void {
  const { provider, connect: given, tools } = life.settings;
  const params: BidiConnectParams = Object.defineProperty(
    tools.size === 0 ? { ...given } : { ...given, tools: schemasOf(tools) },
    'signal',
    { get: lifetime, enumerable: true, configurable: true },
  );
  attempt(
    () => provider.connect(params),
    (driver) => {
      const problem = driverProblem(driver);
      if (problem === undefined) life.happens('connected', { driver: driver as BidiSession });
      else life.happens('connect_rejected', { error: new DriverContractError(problem, driver) });
    },
    (error) => life.happens('connect_rejected', { error }),
  );
}

export function closeDriver(life: SessionLife): void {
  const { driver, end } = life;
  attempt(
    () => driver.close(),
    () => life.happens('close_settled'),
    (error) => {
      end.closeFailure ??= { error };
      life.happens('close_settled');
    },
  );
}

/** Passes a wish of the host on. */
export function performAct(life: SessionLife, act: PendingAct): void {
  const { driver, acts } = life;
  const answered = () => acts.resolve(act);
  const refused = (error: unknown) => acts.reject(act, error);
  acts.add(act);
  switch (act.type) {
    case 'send':
      attempt(() => driver.send(act.input), answered, refused);
      break;
    case 'interrupt': {
      const { playedMs } = act;
      attempt(
        () => {
          if (typeof driver.interrupt === 'function') {
            return driver.interrupt(playedMs === undefined ? {} : { playedMs });
          }
          throw new NotSupportedError('interrupt()', `the driver ${life.settings.provider.id}`);
        },
        // the answer is the `interrupted` event, not this promise
        () => {},
        refused,
      );
      break;
    }
    case 'played':
      attempt(
        () => (typeof driver.played === 'function' ? driver.played({ ms: act.ms }) : undefined),
        answered,
        refused,
      );
      break;
  }
}

const schemas = new WeakMap<ReadonlyMap<string, Tool>, readonly LLMToolSchema[]>();

function schemasOf(tools: ReadonlyMap<string, Tool>): readonly LLMToolSchema[] {
  let known = schemas.get(tools);
  if (known === undefined) {
    known = [...tools.values()].map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    schemas.set(tools, known);
  }
  return known;
}

/** What a connection lacks that the contract asks for. */
function driverProblem(driver: unknown): string | undefined {
  if (typeof driver !== 'object' || driver === null) return 'connect() to give a session object';
  for (const method of ['send', 'sendToolResult', 'events', 'close']) {
    if (!hasMethod(driver, method)) return `connect() to give a session with a method \`${method}\``;
  }
  return undefined;
}

function hasMethod(driver: object, method: string): boolean {
  try {
    return typeof (driver as Record<string, unknown>)[method] === 'function';
  } catch {
    return false;
  }
}
