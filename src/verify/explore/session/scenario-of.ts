/**
 * A path as a scenario that `simulate` runs: every answer is held back until
 * its step, and the clock moves so that exactly those limits run out that did.
 */
import type { Scenario, ScenarioHeader, ScenarioOptions, ScenarioTool, Step } from '../../../scenario/scenario.js';
import type { Happening, PlainFar, Verdict } from './happening.js';
import type { Path, PathStep, Standing } from './path.js';
import { idOf } from './stage.js';
import { answerMs, type Span, timesOf } from './times.js';

/** A scenario, and which of its steps belong to which step of the path. */
export interface Told {
  readonly scenario: Scenario;
  /** By step of the path: how many of the scenario's steps are done with it. */
  readonly done: readonly number[];
}

/** Tells a path as a scenario. `toTheEnd`: a host that has stopped reading reads on after the last step, so that the trace shows what it missed. */
export function scenarioOf(path: Path, title: string, toTheEnd = false): Told {
  const spans = spansOf(path);
  const fired = new Set(path.steps.flatMap(({ happening }, index) => (happening.of === 'timeout' ? [index + 1] : [])));
  const times = timesOf(path.steps.length, fired, spans.answers);
  const last = ({ from, to }: Span) => (times[to] as number) - (times[from] as number);
  const tools = new Tools(path, new Map([...spans.code].map(([call, span]) => [call, last(span)])));
  const connects = connectsFirst(path);
  const steps: Step[] = [];
  const done: number[] = [];
  /** What the arguments of each call come to. */
  const verdicts: Verdict[] = [];
  for (const [index, { happening }] of path.steps.entries()) {
    const passed = (times[index + 1] as number) - (times[index] as number);
    if (passed > 0) steps.push({ clock: passed });
    if (happening.of === 'tool_call') verdicts.push(happening.verdict);
    const step = index === 0 && connects ? undefined : stepOf(happening, verdicts, tools);
    if (step !== undefined) steps.push(step);
    done.push(steps.length);
  }
  if (toTheEnd && stopsReading(path)) steps.push({ host: 'resume' });
  const header: ScenarioHeader = {
    ...(tools.used.size === 0 ? {} : { tools: Object.fromEntries(tools.used) }),
    ...optional('options', optionsOf(path, spans, last)),
    ...optional('provider', {
      ...(connects ? {} : { holdConnect: true }),
      ...(ever(path, ({ calls }) => calls.length > 0) ? { holdPublish: true, abandonToolCall: true } : {}),
      ...(ever(path, ({ session }) => session.closing) ? { holdClose: true } : {}),
    }),
    ...(path.bounds.durable ? { journal: { durable: true, holdFlush: true } } : {}),
  };
  return { scenario: { title, header, steps: steps.map((step, index) => ({ line: index + 2, step })) }, done };
}

function optional<Key extends string, Value extends object>(key: Key, value: Value): { [K in Key]?: Value } {
  return Object.keys(value).length === 0 ? {} : ({ [key]: value } as { [K in Key]: Value });
}

/** Whether the session connects before all else: then nobody has to hold that back. */
function connectsFirst({ steps }: Path): boolean {
  const first = steps[0]?.happening;
  return first?.of === 'connect' && first.resolves;
}

function stopsReading({ steps }: Path): boolean {
  const acts = steps.flatMap(({ happening }) => (happening.of === 'host' ? [happening.act] : []));
  return acts.findLast((act) => act === 'pause' || act === 'resume') === 'pause';
}

function ever({ before, steps }: Path, holds: (standing: Standing) => boolean): boolean {
  return holds(before) || steps.some(({ after }) => holds(after));
}

/** From when to when limits ran; those of code only where they ran out. */
interface Spans {
  readonly connect: Span | undefined;
  readonly close: Span | undefined;
  readonly code: ReadonlyMap<number, Span>;
  readonly answers: readonly Span[];
}

function spansOf({ before, steps }: Path): Spans {
  const isTimeout = ({ happening }: PathStep, what: string, call?: number) =>
    happening.of === 'timeout' && happening.what === what && (!('call' in happening) || happening.call === call);
  const standings = [before, ...steps.map(({ after }) => after)];
  /** The spans of a limit: from where it is armed to where it is not any more. */
  const runs = (isArmed: (standing: Standing) => boolean, what: string, call?: number): Span[] => {
    const found: Span[] = [];
    let from: number | undefined;
    for (const [index, standing] of standings.entries()) {
      const armed = isArmed(standing);
      if (armed) from ??= index;
      else if (from !== undefined) {
        found.push({ from, to: index, fires: isTimeout(steps[index - 1] as PathStep, what, call) });
        from = undefined;
      }
    }
    if (from !== undefined) found.push({ from, to: standings.length - 1, fires: false });
    return found;
  };
  const fires = (spans: readonly Span[]) => spans.find((span) => span.fires);
  const code = new Map<number, Span>();
  const answers: Span[] = [];
  const calls = standings.at(-1)?.calls.length ?? 0;
  for (let call = 0; call < calls; call++) {
    const ran = fires(runs(({ calls }) => calls[call]?.timer === true, 'code', call));
    if (ran !== undefined) code.set(call, ran);
    answers.push(...runs(({ session }) => session.unconfirmed.includes(call), 'publish', call));
  }
  return {
    connect: fires(runs(({ session }) => session.connectTimer, 'connect')),
    close: fires(runs(({ session }) => session.closeTimer, 'close')),
    code,
    answers,
  };
}

/** A limit that does not run out on the path is none, lest it does while the clock moves for another. */
function optionsOf({ bounds, steps }: Path, spans: Spans, last: (span: Span) => number): ScenarioOptions {
  const { maxConcurrentTools, maxOpenCalls, maxBufferedEvents, dropUnreadAudio } = bounds;
  const limits = {
    connectTimeoutMs: spans.connect === undefined ? 0 : last(spans.connect),
    publishTimeoutMs: spans.answers.some(({ fires }) => fires) ? answerMs : 0,
    closeTimeoutMs: spans.close === undefined ? 0 : last(spans.close),
  };
  return {
    ...(maxConcurrentTools === 16 ? {} : { maxConcurrentTools }),
    ...(maxOpenCalls === 256 ? {} : { maxOpenCalls }),
    ...(maxBufferedEvents === undefined ? {} : { maxBufferedEvents }),
    ...(dropUnreadAudio ? { dropUnreadAudio } : {}),
    ...(steps.some(({ happening }) => happening.of === 'timeout') ? limits : {}),
  };
}

/** The tools of a scenario: where calls of one tool differ in their limit or in what the host says to their input, each kind is a tool. */
class Tools {
  readonly used = new Map<string, ScenarioTool>();
  /** By call, in order of admission. */
  readonly #called: string[] = [];

  constructor({ bounds, nameOf, steps }: Path, limits: ReadonlyMap<number, number>) {
    for (const { happening } of steps) {
      if (happening.of !== 'tool_call') continue;
      const call = this.#called.length;
      const tool = bounds.tools[happening.tool];
      if (tool === undefined) {
        this.#called.push(nameOf(happening.tool));
        continue;
      }
      const { name, onInterruption, effect } = tool;
      const timeoutMs = limits.get(call);
      this.#called.push(
        this.#use(name, {
          ...(onInterruption === 'abandon' ? {} : { onInterruption }),
          ...(effect === 'irreversible' ? {} : { effect }),
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(happening.verdict === 'approval' ? { needsApproval: true } : {}),
        }),
      );
    }
  }

  nameOf(call: number): string {
    return this.#called[call] as string;
  }

  #use(base: string, tool: ScenarioTool): string {
    const same = JSON.stringify(tool);
    for (let copy = 1; ; copy++) {
      const name = copy === 1 ? base : `${base}_${copy}`;
      const known = this.used.get(name);
      if (known === undefined) this.used.set(name, tool);
      if (known === undefined || JSON.stringify(known) === same) return name;
    }
  }
}

/** What is written for something that happens; nothing where the clock alone makes it happen, or no step of a scenario can. `verdicts`: of the calls so far. */
function stepOf(happening: Happening, verdicts: readonly Verdict[], tools: Tools): Step | undefined {
  switch (happening.of) {
    case 'connect':
      return happening.resolves ? { connect: 'resolve' } : { connect: 'reject', message: 'no route' };
    case 'close':
      return happening.resolves ? { close: 'resolve' } : { close: 'reject', message: 'it did not close' };
    case 'flush':
      return happening.resolves ? { flush: 'resolve' } : { flush: 'reject', message: 'the disk is full' };
    case 'far':
      return { far: farEvents[happening.type] };
    case 'stream':
      return happening.ends ? { far_stream: 'end' } : { far_stream: 'fail', message: 'the line is cut' };
    case 'tool_call':
      return { far: toolCall(verdicts.length - 1, happening.verdict, tools) };
    case 'repeat':
      return { far: toolCall(happening.call, verdicts[happening.call], tools) };
    case 'withdraw': {
      const ids = happening.calls.length === 0 ? ['nobody'] : happening.calls.map(idOf);
      return { far: { type: 'tool_call_cancelled', ids } };
    }
    case 'code': {
      const tool = idOf(happening.call);
      return happening.resolves ? { tool, resolve: 'done' } : { tool, reject: 'failed' };
    }
    case 'publish': {
      const publish = idOf(happening.call);
      return happening.resolves ? { publish, accept: true } : { publish, reject: 'refused' };
    }
    case 'approve':
      return { host: 'approve', id: idOf(happening.call) };
    case 'deny':
      return { host: 'deny', id: idOf(happening.call), message: 'not today' };
    case 'host':
      if (happening.act === 'send') return { host: 'send', input: { type: 'text', text: 'go on' } };
      return { host: happening.act };
    case 'timeout':
    case 'validated':
    case 'journal_fails':
    case 'lent':
      return undefined;
  }
}

function toolCall(call: number, verdict: Verdict | undefined, tools: Tools): unknown {
  return { type: 'tool_call', id: idOf(call), name: tools.nameOf(call), arguments: verdict === 'refused' ? '{' : '{}' };
}

const farEvents: Readonly<Record<PlainFar, unknown>> = {
  text: { type: 'text', text: 'a' },
  audio: { type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' },
  turn_complete: { type: 'turn_complete' },
  interrupted: { type: 'interrupted' },
  error: { type: 'error', message: 'slow down' },
  closed: { type: 'closed' },
  malformed: { type: 'text' },
  unknown: { type: 'weather' },
  usage: { type: 'usage', totalTokens: 1 },
};
