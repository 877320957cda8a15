/**
 * A scenario on the pure composition: what `simulate` does with the real
 * runtime, without one. Nothing branches; the judge sits over every step.
 *
 * What answers by itself answers between steps, one at a time, first asked,
 * first answered; the clock moves from limit to limit, by due time, then by
 * order of arming (scenarios.md).
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import { callStateOf, sessionStateOf } from '../../../../machines/index.js';
import { ScenarioError } from '../../../contract/errors.js';
import type { CallStates, Scenario, ScenarioHeader, ScenarioTool, Step } from '../../../scenario/scenario.js';
import type { Finding } from '../walk.js';
import { type SessionBounds, sessionBounds } from './bounds.js';
import { type FarReading, readFar } from './far-words.js';
import type { Happening, Verdict } from './happening.js';
import { Limits } from './limits.js';
import { isPossible } from './possible.js';
import { placeOf, type Taken } from './stage.js';
import { SessionSystem } from './system.js';
import type { World } from './world.js';

/** What has been played. */
export interface Played {
  /** Steps of the composition. */
  readonly steps: number;
  readonly findings: readonly Finding[];
  /** Where the session stands. */
  readonly state: string;
  /** Where each call stands, in order of admission. */
  readonly calls: CallStates;
}

/** Plays a scenario. @throws {ScenarioError} at a step that is impossible where the run stands; `file` names the scenario in its message */
export function playScenario(scenario: Scenario, file: string): Played {
  const player = new Player(scenario.header);
  for (const { line, step } of scenario.steps) {
    const problem = player.step(step);
    if (problem !== undefined) throw new ScenarioError(file, line, `impossible step: ${problem}`);
  }
  const { steps, findings, state, calls } = player;
  return { steps, findings, state, calls };
}

class Player {
  readonly findings: Finding[] = [];
  steps = 0;
  readonly #header: ScenarioHeader;
  readonly #tools: readonly (readonly [string, ScenarioTool])[];
  readonly #bounds: SessionBounds;
  readonly #system: SessionSystem;
  readonly #world: World;
  /** By the place of a call: its id in the scenario. */
  readonly #ids: string[] = [];
  readonly #answers: Happening[] = [];
  /** What the far side has emitted and nobody has read. */
  #emitted: (FarReading | { readonly of: 'stream'; readonly ends: boolean })[] = [];
  readonly #limits = new Limits();

  constructor(header: ScenarioHeader) {
    this.#header = header;
    this.#tools = Object.entries(header.tools ?? {});
    const { journal, options = {} } = header;
    this.#bounds = sessionBounds({
      tools: this.#tools.map(([name, tool]) => ({ name, ...tool })),
      calls: 0,
      options: { maxBufferedEvents: 65_536, ...options },
      durable: journal !== undefined && journal.durable !== false,
    });
    this.#system = new SessionSystem(this.#bounds);
    this.#system.onTaken = (taken) => this.#pend(taken);
    const { world, move, findings } = this.#system.first();
    this.#world = world;
    this.findings.push(...findings);
    for (const { type } of move.did) this.#pendEffect(type, undefined);
    this.#settle();
  }

  get state(): string {
    return sessionStateOf(this.#world.session.snapshot);
  }

  get calls(): CallStates {
    return new Map(this.#world.calls.map(({ snapshot }, place) => [this.#ids[place] as string, callStateOf(snapshot)]));
  }

  /** Does a step, and all that follows by itself. Gives what is impossible about it. */
  step(step: Step): string | undefined {
    const problem = this.#do(step);
    if (problem === undefined) this.#settle();
    return problem;
  }

  #do(step: Step): string | undefined {
    if ('expect' in step) return undefined;
    if ('far' in step) this.#emitted.push(readFar(step.far));
    else if ('far_stream' in step) this.#emitted.push({ of: 'stream', ends: step.far_stream === 'end' });
    else if ('connect' in step) return this.#held({ of: 'connect', resolves: step.connect === 'resolve' });
    else if ('close' in step) return this.#held({ of: 'close', resolves: step.close === 'resolve' });
    else if ('flush' in step) return this.#held({ of: 'flush', resolves: step.flush === 'resolve' });
    else if ('tool' in step)
      return this.#held({ of: 'code', call: this.#placeOf(step.tool), resolves: 'resolve' in step });
    else if ('publish' in step) {
      return this.#held({ of: 'publish', call: this.#placeOf(step.publish), resolves: 'accept' in step });
    } else if ('clock' in step) this.#advance(step.clock);
    else return this.#hostDoes(step);
    return undefined;
  }

  #hostDoes(step: Extract<Step, { host: string }>): string | undefined {
    switch (step.host) {
      case 'approve':
      case 'deny': {
        const call = this.#placeOf(step.id);
        // of a call that there is not it is refused, and nothing changes
        if (call >= 0) this.#happens({ of: step.host, call });
        return undefined;
      }
      case 'pause':
      case 'resume':
        return this.#held({ of: 'host', act: step.host });
      case 'send':
      case 'interrupt':
        this.#happens({ of: 'host', act: 'send' });
        return undefined;
      default:
        if (isPossible(this.#world, { of: 'host', act: step.host }, this.#bounds)) {
          this.#happens({ of: 'host', act: step.host });
        }
        return undefined;
    }
  }

  #held(happening: Happening): string | undefined {
    if (!isPossible(this.#world, happening, this.#bounds)) {
      // the buffer of a session that ends decides nothing
      if (happening.of === 'host') return undefined;
      return `nothing waits for ${JSON.stringify(happening)}`;
    }
    this.#happens(happening);
    return undefined;
  }

  /** -1: no such call. */
  #placeOf(id: string): number {
    return this.#ids.indexOf(id);
  }

  /** Until nothing more can happen without a further step or the clock. */
  #settle(): void {
    for (;;) {
      this.#read();
      const answer = this.#answers.shift();
      if (answer === undefined) return;
      if (isPossible(this.#world, answer, this.#bounds)) this.#happens(answer);
    }
  }

  #read(): void {
    while (this.#world.session.reading && this.#emitted.length > 0) {
      const [next, ...others] = this.#emitted as [FarReading, ...FarReading[]];
      this.#emitted = others;
      for (const happening of this.#happeningsOf(next)) this.#happens(happening);
    }
  }

  #happeningsOf(reading: FarReading | { readonly of: 'stream'; readonly ends: boolean }): readonly Happening[] {
    if (reading.of === 'withdraw') {
      const known = reading.ids.map((id) => this.#placeOf(id)).filter((call) => call >= 0);
      return [{ of: 'withdraw', calls: [...new Set(known)] }];
    }
    if (reading.of !== 'tool_call') return [reading];
    const { id, name } = reading;
    const call = this.#placeOf(id);
    if (call >= 0) return [{ of: 'repeat', call }];
    this.#ids.push(id);
    const found = this.#tools.findIndex(([known]) => known === name);
    const tool = found < 0 ? this.#tools.length : found;
    return [{ of: 'tool_call', tool, verdict: this.#verdictOf(this.#tools[found]?.[1], reading.arguments) }];
  }

  #verdictOf(tool: ScenarioTool | undefined, text: string): Verdict {
    if (tool === undefined) return 'refused';
    let input: unknown;
    try {
      input = text === '' ? {} : JSON.parse(text);
    } catch {
      return 'refused';
    }
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return 'refused';
    const { valid } = new Validator((tool.input ?? {}) as Schema, '2020-12').validate(input);
    if (!valid) return 'refused';
    return tool.needsApproval ? 'approval' : 'accepted';
  }

  #happens(happening: Happening): void {
    this.steps++;
    for (const { invariant, what } of this.#system.step(this.#world, happening)) {
      this.findings.push({ invariant, what: this.#inIds(what) });
    }
  }

  #inIds(what: string): string {
    return what.replace(/\bt(\d+)\b/g, (whole, digits: string) => this.#ids[Number(digits) - 1] ?? whole);
  }

  // ── time ──

  #advance(ms: number): void {
    const until = this.#limits.now + ms;
    for (;;) {
      const happening = this.#limits.runOut(until);
      if (happening === undefined) return;
      this.#happens(happening);
      this.#settle();
    }
  }

  // ── what was asked for ──

  #pend({ moves }: Taken): void {
    for (const { call, did } of moves) {
      const place = call === undefined ? undefined : placeOf(call.id);
      for (const { type } of did) this.#pendEffect(type, place);
    }
  }

  #pendEffect(effect: string, place: number | undefined): void {
    const { provider = {}, options = {}, journal } = this.#header;
    const { connectTimeoutMs = 30_000, publishTimeoutMs = 30_000, closeTimeoutMs = 5_000 } = options;
    const call = place ?? -1;
    switch (effect) {
      case 'connectDriver':
        if (provider.holdConnect !== true) this.#answers.push({ of: 'connect', resolves: true });
        break;
      case 'closeDriver':
        if (provider.holdClose !== true) this.#answers.push({ of: 'close', resolves: true });
        break;
      case 'publish':
        if (provider.holdPublish !== true) this.#answers.push({ of: 'publish', call, resolves: true });
        break;
      case 'flush':
        if (journal?.holdFlush !== true) this.#answers.push({ of: 'flush', resolves: true });
        break;
      case 'execute': {
        const { throws, result } = this.#toolOf(call) ?? {};
        if (throws !== undefined) this.#answers.push({ of: 'code', call, resolves: false });
        else if (result !== undefined) this.#answers.push({ of: 'code', call, resolves: true });
        break;
      }
      case 'armConnectTimeout':
        this.#limits.arm({ of: 'timeout', what: 'connect' }, connectTimeoutMs);
        break;
      case 'disarmConnectTimeout':
        this.#limits.disarm('connect', -1);
        break;
      case 'armCloseTimeout':
        this.#limits.arm({ of: 'timeout', what: 'close' }, closeTimeoutMs);
        break;
      case 'disarmCloseTimeout':
        this.#limits.disarm('close', -1);
        break;
      case 'armTimeout':
        this.#limits.arm({ of: 'timeout', what: 'code', call }, this.#toolOf(call)?.timeoutMs ?? 0);
        break;
      case 'disarmTimeout':
        this.#limits.disarm('code', call);
        break;
      case 'armPublishTimeout':
        this.#limits.arm({ of: 'timeout', what: 'publish', call }, publishTimeoutMs);
        break;
      case 'disarmPublishTimeout':
        this.#limits.disarm('publish', call);
        break;
    }
  }

  #toolOf(call: number): ScenarioTool | undefined {
    return this.#tools[this.#world.calls[call]?.tool ?? -1]?.[1];
  }
}
