/**
 * The real runtime in virtual time, driven by the steps of a scenario
 * (scenarios.md, `simulate`). Scripted tools, the scripted driver and the
 * scripted journal answer between steps, one at a time, first asked, first
 * answered; whatever a header holds back waits for its step.
 */

import { sessionStateOf } from '../../machines/index.js';
import { messageOf } from '../contract/errors.js';
import type { JournalRecord, PayloadPolicy } from '../contract/journal.js';
import type { Tool, ToolContext } from '../contract/tool.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';
import { type DriverAnswer, type DriverCall, ScriptedProvider } from '../providers/scripted/index.js';
import { defineTool } from '../runtime/index.js';
import type { Session } from '../runtime/session.js';
import { openSession } from '../runtime/start-session.js';
import type { RefusedAct, ScenarioHeader, ScenarioTool, Step, TimelineEntry, TraceLine } from '../scenario/scenario.js';
import { violationsOf } from './check-trace.js';
import { HandJournal } from './hand-journal.js';
import { quiet } from './quiet.js';
import { VirtualClock } from './virtual-clock.js';

/** A step that cannot be done where the run stands. */
export class ImpossibleStep {
  constructor(readonly problem: string) {}
}

/** Code of a scripted tool that waits for its step. */
interface RunningCode {
  resolve(value: string): void;
  reject(error: unknown): void;
}

/** One run, step by step; `simulate` runs a whole scenario. */
export class Simulator {
  readonly header: ScenarioHeader;
  readonly clock = new VirtualClock();
  readonly entries: TimelineEntry[] = [];
  readonly session: Session;
  readonly #journal: HandJournal;
  readonly #far: ScriptedProvider;
  readonly #abort = new AbortController();
  /** What answers by itself, first asked first. */
  readonly #answers: (() => void)[] = [];
  readonly #code = new Map<string, RunningCode>();
  readonly #publishes = new Map<string, DriverAnswer>();
  readonly #flushes: DriverAnswer[] = [];
  #connect: DriverAnswer | undefined;
  #close: DriverAnswer | undefined;
  #reading: { unsubscribe(): void } | undefined;

  /** `payloads`: what is recorded of texts, arguments and outputs. */
  constructor(header: ScenarioHeader, payloads: PayloadPolicy = 'hash') {
    this.header = header;
    const { provider = {}, options = {}, tools = {}, journal } = header;
    this.#far = new ScriptedProvider({
      abandonToolCall: provider.abandonToolCall ?? false,
      interrupt: provider.interrupt ?? false,
      onCall: (call, answer) => this.#driverCalled(call, answer),
    });
    this.#journal = this.#journalOf(payloads, journal);
    const { session, started } = openSession({
      ...options,
      provider: this.#far,
      tools: Object.entries(tools).map(([name, tool]) => this.#tool(name, tool)),
      connect: { model: 'scripted' },
      sessionId: 'ses_simulated',
      turnId: 'turn_simulated',
      signal: this.#abort.signal,
      clock: this.clock,
      journal: this.#journal,
    });
    this.session = session;
    started.catch((error) => this.#refused('start', error));
    this.#read();
    session.lifecycle$.subscribe((event) => {
      if (event.type === 'settled_late') this.#line({ tool: event.id, settled_late: event.outcome });
    });
    session.closed.then(({ reason, calls }) => {
      this.#line({ closed: { reason, calls: new Map(calls.map(({ id, state }) => [id, state])) } });
    });
  }

  /** Lines of the trace so far. */
  get trace(): TraceLine[] {
    return this.entries.flatMap((entry) => ('line' in entry ? [entry.line] : []));
  }

  /** What the session has recorded so far. */
  get journal(): readonly JournalRecord[] {
    return this.#journal.records;
  }

  /** Runs until nothing more can happen without a further step or the clock. */
  async settle(): Promise<void> {
    for (;;) {
      await quiet();
      const answer = this.#answers.shift();
      if (answer === undefined) return;
      answer();
    }
  }

  /** Does one step and runs on until nothing more can happen. Gives what is impossible about it, where it is; then nothing was done. */
  async step(step: Step): Promise<ImpossibleStep | undefined> {
    this.entries.push({ at: this.clock.now(), step });
    const problem = this.#do(step);
    if (problem !== undefined) {
      this.entries.pop();
      return new ImpossibleStep(problem);
    }
    if ('clock' in step) await this.clock.advance(step.clock, () => this.settle());
    await this.settle();
    return undefined;
  }

  /** Writes the summary, the last line of every trace. */
  finish(): void {
    const calls = new Map(this.session.calls().map(({ id, state }) => [id, state]));
    const state = sessionStateOf(this.session.actor.getSnapshot());
    const summary = { state, calls, violations: violationsOf(this.entries, this.header) };
    this.#line({ summary });
  }

  #do(step: Step): string | undefined {
    if ('far' in step) this.#far.emit(step.far);
    else if ('far_stream' in step) {
      if (step.far_stream === 'end') this.#far.end();
      else this.#far.fail(new Scripted(step.message ?? 'stream failed'));
    } else if ('connect' in step) {
      const pending = this.#connect;
      this.#connect = undefined;
      return answerHeld(pending, step.connect, messageIn(step), 'no connect is held');
    } else if ('close' in step) {
      const pending = this.#close;
      this.#close = undefined;
      return answerHeld(pending, step.close, messageIn(step), 'no close of the driver is held');
    } else if ('flush' in step) {
      return answerHeld(this.#flushes.shift(), step.flush, messageIn(step), 'no flush is held');
    } else if ('tool' in step) {
      const code = this.#code.get(step.tool);
      if (code === undefined) return `the code of ${step.tool} does not run`;
      this.#code.delete(step.tool);
      if ('resolve' in step) code.resolve(step.resolve);
      else code.reject(new Scripted(step.reject));
    } else if ('publish' in step) {
      const answer = this.#publishes.get(step.publish);
      if (answer === undefined) return `no sendToolResult of ${step.publish} is held`;
      this.#publishes.delete(step.publish);
      if ('accept' in step) answer.resolve();
      else answer.reject(new Scripted(step.reject));
    } else if ('host' in step) return this.#hostDoes(step);
    return undefined;
  }

  #hostDoes(step: Extract<Step, { host: string }>): string | undefined {
    const { session } = this;
    const act = (name: RefusedAct, promise: Promise<void>) => {
      promise.catch((error) => this.#refused(name, error));
    };
    switch (step.host) {
      case 'send':
        act('send', session.send(step.input));
        break;
      case 'close':
        act('close', session.close());
        break;
      case 'abort':
        this.#abort.abort(step.reason === undefined ? undefined : new Scripted(step.reason));
        break;
      case 'interrupt':
        act('interrupt', session.interrupt(step.playedMs === undefined ? {} : { playedMs: step.playedMs }));
        break;
      case 'approve':
        act('approve', session.approve(step.id));
        break;
      case 'deny':
        act('deny', session.deny(step.id, step.message));
        break;
      case 'pause':
        if (this.#reading === undefined) return 'the host has stopped reading already';
        this.#reading.unsubscribe();
        this.#reading = undefined;
        break;
      case 'resume':
        if (this.#reading !== undefined) return 'the host is reading already';
        this.#read();
        break;
    }
    return undefined;
  }

  #read(): void {
    this.#reading = this.session.events$.subscribe((event) => this.#line({ event: withoutIds(event) }));
  }

  #tool(name: string, tool: ScenarioTool): Tool {
    return defineTool({
      name,
      description: `the scripted tool ${name}`,
      input: (tool.input as Record<string, unknown> | undefined) ?? { type: 'object' },
      onInterruption: tool.onInterruption ?? 'abandon',
      effect: tool.effect ?? 'irreversible',
      timeoutMs: tool.timeoutMs ?? 0,
      needsApproval: tool.needsApproval ?? false,
      execute: (input, context) => this.#execute(tool, input, context),
    });
  }

  #execute(tool: ScenarioTool, input: unknown, { toolUseId, signal }: ToolContext): Promise<string> {
    this.#line({ tool: toolUseId, execute: input });
    let hasSettled = false;
    signal.addEventListener('abort', () => {
      if (!hasSettled) this.#line({ tool: toolUseId, signal: 'aborted' });
    });
    return new Promise((resolve, reject) => {
      const code: RunningCode = {
        resolve: (value) => {
          hasSettled = true;
          resolve(value);
        },
        reject: (error) => {
          hasSettled = true;
          reject(error);
        },
      };
      const { throws, result } = tool;
      if (throws !== undefined) this.#answers.push(() => code.reject(new Scripted(throws)));
      else if (result !== undefined) this.#answers.push(() => code.resolve(result));
      else this.#code.set(toolUseId, code);
    });
  }

  #driverCalled(call: DriverCall, answer: DriverAnswer): void {
    const { holdConnect, holdPublish, holdClose } = this.header.provider ?? {};
    const bySelf = () => this.#answers.push(() => answer.resolve());
    switch (call.method) {
      case 'connect':
        this.#line({ provider: 'connect' });
        if (holdConnect) this.#connect = answer;
        else bySelf();
        break;
      case 'send':
        this.#line({ provider: 'send', input: call.input });
        bySelf();
        break;
      case 'sendToolResult':
        this.#line({ provider: 'sendToolResult', id: call.id, output: call.output, isError: call.isError });
        if (holdPublish) this.#publishes.set(call.id, answer);
        else bySelf();
        break;
      case 'abandonToolCall':
        this.#line({ provider: 'abandonToolCall', id: call.id });
        bySelf();
        break;
      case 'interrupt':
        this.#line(
          call.playedMs === undefined ? { provider: 'interrupt' } : { provider: 'interrupt', playedMs: call.playedMs },
        );
        bySelf();
        break;
      case 'played':
        bySelf();
        break;
      case 'close':
        this.#line({ provider: 'close' });
        if (holdClose) this.#close = answer;
        else bySelf();
        break;
    }
  }

  /** There is one in every run, for whoever checks it afterwards; one that the header does not name is waited for by nobody. */
  #journalOf(
    payloads: PayloadPolicy,
    { durable = true, holdFlush = false }: ScenarioHeader['journal'] = { durable: false },
  ): HandJournal {
    const flush = () =>
      new Promise<void>((resolve, reject) => {
        if (holdFlush) this.#flushes.push({ resolve, reject });
        else this.#answers.push(resolve);
      });
    return new HandJournal(durable, flush, { payloads });
  }

  #refused(act: RefusedAct, error: unknown): void {
    this.#line({ host: act, rejected: messageOf(error) });
  }

  #line(line: TraceLine): void {
    this.entries.push({ at: this.clock.now(), line });
  }
}

/** Settles what a header holds back. Gives `problem` where nothing is held. */
function answerHeld(
  pending: DriverAnswer | undefined,
  how: 'resolve' | 'reject',
  message: string,
  problem: string,
): string | undefined {
  if (pending === undefined) return problem;
  if (how === 'resolve') pending.resolve();
  else pending.reject(new Scripted(message));
  return undefined;
}

function messageIn(step: Step): string {
  return 'message' in step && step.message !== undefined ? step.message : 'rejected';
}

/** What scripted parts throw: its message is what the scenario says. */
class Scripted extends Error {
  override readonly name = 'Scripted';
}

function withoutIds({
  sessionId: _session,
  turnId: _turn,
  ...event
}: BidiTurnEvent): Extract<TraceLine, { event: unknown }>['event'] {
  return event;
}
