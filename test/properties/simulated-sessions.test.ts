/** Random histories on the real runtime in virtual time: every invariant of `docs/design/duplex.md` §4 that leaves a mark, and D14. */
import fc from 'fast-check';
import { describe } from 'vitest';
import { sessionStateOf } from '../../machines/index.js';
import type { Scenario, ScenarioHeader, Step, TraceLine } from '../../src/scenario/scenario.js';
import { scenario } from '../../src/testing/arbitraries/index.js';
import { violationsOf } from '../../src/testing/check-trace.js';
import type { Simulator } from '../../src/testing/simulator.js';
import { ending } from './ending.js';
import { fileOf, type Onlooker, play } from './played.js';
import { Broken, property } from './property.js';
import { listenersOf } from './stray.js';

/** How many timers a session may hold where it stands: one for each thing that it waits for with a limit, and no other (D14). */
function timersDue({ session, header }: Simulator): number {
  const { connectTimeoutMs = 30_000, publishTimeoutMs = 30_000, closeTimeoutMs = 5_000 } = header.options ?? {};
  const state = sessionStateOf(session.actor.getSnapshot());
  if (state === 'connecting') return connectTimeoutMs > 0 ? 1 : 0;
  if (state === 'closing') return closeTimeoutMs > 0 ? 1 : 0;
  if (state === 'closed') return 0;
  const limited = session.calls().filter(({ name, state }) => {
    if (state === 'executing') return (header.tools?.[name]?.timeoutMs ?? 0) > 0;
    return state === 'publishing' && publishTimeoutMs > 0;
  });
  return limited.length;
}

/** What has no reason to wait, and waits (§2, the table of a call): nothing else will ever move it. */
function stuckIn({ session, header }: Simulator): string[] {
  if (!sessionStateOf(session.actor.getSnapshot()).startsWith('open')) return [];
  const { tools = {}, options = {}, provider = {}, journal = {} } = header;
  const calls = session.calls();
  const placesHeld = calls.filter(({ state }) => state === 'starting' || state === 'executing').length;
  const waitsFor = (name: string, state: string): boolean => {
    switch (state) {
      case 'admitted':
        return false;
      case 'queued':
        return placesHeld >= (options.maxConcurrentTools ?? 16);
      case 'starting':
      case 'committing':
        return journal.holdFlush === true;
      case 'executing':
        return tools[name]?.result === undefined && tools[name]?.throws === undefined;
      case 'publishing':
        return provider.holdPublish === true;
      default:
        return true;
    }
  };
  return calls
    .filter(({ name, state }) => !waitsFor(name, state))
    .map(({ id, state }) => `call ${id} is stuck in ${state}`);
}

/** What a host that reads must be given at once for one event of the far side, where that is easy to say. */
function expectedOf(event: unknown): readonly TraceLine[] | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const { type, text, data, mediaType, message, inputTokens, final, inMs } = event as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') return [{ event: { type, text } }];
  if (type === 'audio' && typeof mediaType === 'string') return [{ event: { type, data: data as string, mediaType } }];
  if (type === 'error' && typeof message === 'string') return [{ event: { type, message } }];
  if (type === 'turn_complete') return [{ event: { type } }];
  const isNote = [inputTokens, final, inMs].some((field) => field !== undefined);
  return isNote || type === 'something_new' || type === '' || type === 'toString' ? [] : undefined;
}

class Watch implements Onlooker {
  readonly findings: string[] = [];
  #reading = true;
  #ended = false;
  #wasOpen = false;

  begins(simulator: Simulator): void {
    this.#look(simulator);
  }

  after(step: Step, lines: readonly TraceLine[], simulator: Simulator): void {
    // a text, an audio, a turn_complete or an error is handed on at once, whatever else is under way (D7, D8)
    const expected = 'far' in step && this.#wasOpen && this.#reading ? expectedOf(step.far) : undefined;
    if (expected !== undefined && JSON.stringify(expected) !== JSON.stringify(lines)) {
      this.findings.push(`D7, D8: ${JSON.stringify(step)} left ${JSON.stringify(lines)}`);
    }
    if ('host' in step && step.host === 'pause') this.#reading = false;
    if ('host' in step && step.host === 'resume') this.#reading = true;
    if (this.#ended && lines.some((line) => 'provider' in line && line.provider !== 'close')) {
      this.findings.push(`D9: after the end, ${JSON.stringify(step)} left ${JSON.stringify(lines)}`);
    }
    this.#look(simulator);
  }

  #look(simulator: Simulator): void {
    const state = sessionStateOf(simulator.session.actor.getSnapshot());
    this.#wasOpen = state.startsWith('open');
    this.#ended = state === 'closing' || state === 'closed';
    this.findings.push(...stuckIn(simulator));
    const due = timersDue(simulator);
    const { pending } = simulator.clock;
    if (pending !== due) this.findings.push(`D14: ${pending} timers are set where ${due} are due, in state ${state}`);
  }
}

/** D7 by itself: what the host was given of the far side's own words is what was said, in that order, from the first on. */
function disorder(header: ScenarioHeader, steps: readonly Step[], lines: readonly TraceLine[]): string[] {
  const said = steps.flatMap((step) => ('far' in step ? (expectedOf(step.far) ?? interruptionIn(step.far)) : []));
  const heard = lines.filter((line) => {
    if (!('event' in line)) return false;
    const { type } = line.event;
    return ['text', 'audio', 'turn_complete', 'interrupted'].includes(type) || isFarError(line);
  });
  const dropsAudio = header.options?.dropUnreadAudio === true;
  let next = 0;
  for (const line of heard) {
    const text = JSON.stringify(line);
    const at = said.findIndex((other, index) => index >= next && JSON.stringify(other) === text);
    const skipped = said.slice(next, at === -1 ? undefined : at);
    if (at === -1 || !skipped.every((other) => dropsAudio && 'event' in other && other.event.type === 'audio')) {
      return [`D7: the host was given ${text} where ${JSON.stringify(said[next])} was due`];
    }
    next = at + 1;
  }
  return [];
}

function interruptionIn(event: unknown): readonly TraceLine[] {
  const isInterruption = typeof event === 'object' && event !== null && 'type' in event && event.type === 'interrupted';
  return isInterruption ? [{ event: { type: 'interrupted' } }] : [];
}

const isFarError = (line: TraceLine) =>
  'event' in line && line.event.type === 'error' && line.event.message === 'far away';

async function check({ scenario, ending }: History): Promise<void> {
  const watch = new Watch();
  const { simulator, hostSignal, entries, stray } = await play(scenario, ending, watch);
  const findings = [...stray, ...watch.findings, ...violationsOf(entries, scenario.header)];
  const lines = entries.flatMap((entry) => ('line' in entry ? [entry.line] : []));
  const steps = entries.flatMap((entry) => ('step' in entry ? [entry.step] : []));
  findings.push(...disorder(scenario.header, steps, lines));
  const closed = lines.filter((line) => 'closed' in line).length;
  if (closed !== 1) findings.push(`D11: \`closed\` resolved ${closed} times`);
  const { pending } = simulator.clock;
  if (pending > 0) findings.push(`D14: ${pending} timers are left`);
  const listeners = listenersOf(hostSignal);
  if (listeners > 0) findings.push(`D14: ${listeners} abort listeners are left on the signal of the host`);
  if (findings.length > 0) throw new Broken(findings, fileOf(scenario.header, entries, findings.join('\n')));
}

interface History {
  readonly scenario: Scenario;
  readonly ending: Parameters<typeof play>[1];
}

const history: fc.Arbitrary<History> = fc.record({ scenario: scenario(), ending: ending });

describe('a session in virtual time', () => {
  property('breaks no invariant, whatever happens', history, check);
});
