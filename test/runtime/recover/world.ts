/**
 * A session on a scripted far side whose process could die at any instant: what
 * was done to the world so far, and how much of the journal would be left.
 */

import type { JournalEntry, JournalRecord } from '../../../src/contract/journal.js';
import type { Tool, ToolDefinition } from '../../../src/contract/tool.js';
import { MemoryJournal } from '../../../src/journal/index.js';
import { defineTool } from '../../../src/runtime/index.js';
import { type OpenedSession, openSession } from '../../../src/runtime/start-session.js';
import { type DriverAnswer, scriptedProvider, VirtualClock } from '../../../src/testing/index.js';
import { type Held, held, quiet } from '../stage.js';

/** What was done to the world about one call. */
export interface Facts {
  readonly effect: string;
  /** How often its code was started. */
  readonly started: number;
  readonly ended: boolean;
  /** How often `sendToolResult` was entered. */
  readonly published: number;
  readonly answered: 'accepted' | 'refused' | undefined;
  /** How often `onLate` was told. */
  readonly told: number;
}

/** A moment at which the process could die. */
export interface Instant {
  /** How many records are sure to survive. */
  readonly durable: number;
  /** How many may. */
  readonly appended: number;
  readonly facts: ReadonlyMap<string, Facts>;
}

type Change = (facts: Facts) => Partial<Facts>;

/** Tells the world whenever a record is appended, and has its flushes answered by hand. */
class WatchedJournal extends MemoryJournal {
  override readonly durable: boolean;
  readonly #onAppend: () => void;
  readonly #onFlush: () => Promise<void>;

  constructor(durable: boolean, onAppend: () => void, onFlush: () => Promise<void>) {
    super({ payloads: 'keep' });
    this.durable = durable;
    this.#onAppend = onAppend;
    this.#onFlush = onFlush;
  }

  override append(entry: JournalEntry): number {
    const seq = super.append(entry);
    this.#onAppend();
    return seq;
  }

  override flush(): Promise<void> {
    return this.#onFlush();
  }
}

/** How a tool of the world is made; `effect` and policy are as the definition has them by default. */
export type WorldTool = Pick<ToolDefinition, 'onInterruption' | 'effect' | 'timeoutMs' | 'needsApproval'>;

export class World {
  readonly clock = new VirtualClock();
  readonly journal: WatchedJournal;
  readonly instants: Instant[] = [];
  readonly tools: readonly Tool[];
  readonly #opened: OpenedSession;
  readonly #far;
  readonly #code = new Map<string, Held<unknown>>();
  readonly #publishes = new Map<string, DriverAnswer>();
  readonly #flushes: { readonly covers: number; readonly flush: Held<void> }[] = [];
  #facts: ReadonlyMap<string, Facts> = new Map();
  #durable = 0;

  constructor(durable: boolean, tools: Readonly<Record<string, WorldTool>>) {
    this.journal = new WatchedJournal(
      durable,
      () => this.#mark(),
      () => {
        const flush = held<void>();
        this.#flushes.push({ covers: this.journal.records.length, flush });
        return flush.promise;
      },
    );
    this.tools = Object.entries(tools).map(([name, tool]) => this.#tool(name, tool));
    this.#far = scriptedProvider({
      abandonToolCall: true,
      onCall: (call, answer) => {
        if (call.method !== 'sendToolResult') {
          answer.resolve();
          return;
        }
        this.#note(call.id, ({ published }) => ({ published: published + 1 }));
        this.#publishes.set(call.id, answer);
      },
    });
    this.#opened = openSession({
      provider: this.#far,
      tools: this.tools,
      connect: { model: 'scripted' },
      sessionId: 'ses_world',
      turnId: 'turn_world',
      maxConcurrentTools: 2,
      maxOpenCalls: 4,
      publishTimeoutMs: 40,
      clock: this.clock,
      journal: this.journal,
    });
    this.#opened.started.catch(() => {});
    this.#opened.session.events$.subscribe(() => {});
  }

  get session() {
    return this.#opened.session;
  }

  /** The last instant. */
  get now(): Instant {
    return this.instants.at(-1) as Instant;
  }

  /** The calls whose code runs, and those whose results the far side has not answered. */
  get waiting(): { readonly code: readonly string[]; readonly publishes: readonly string[] } {
    return { code: [...this.#code.keys()], publishes: [...this.#publishes.keys()] };
  }

  /** What a reader finds after a crash that left the first `count` records. */
  left(count: number): readonly JournalRecord[] {
    return this.journal.records.slice(0, count);
  }

  async emit(...events: readonly unknown[]): Promise<void> {
    for (const event of events) this.#far.emit(event);
    await quiet();
  }

  /** The far side asks for a call. */
  call(id: string, name: string, args = '{}'): Promise<void> {
    return this.emit({ type: 'tool_call', id, name, arguments: args });
  }

  /** Everything that waits for the disk is durable. */
  async flush(): Promise<void> {
    for (let next = this.#flushes.shift(); next !== undefined; next = this.#flushes.shift()) {
      this.#durable = Math.max(this.#durable, next.covers);
      this.#mark();
      next.flush.resolve();
      await quiet();
    }
  }

  /** The code of a call ends. */
  async settle(id: string, failure?: unknown): Promise<void> {
    const code = this.#code.get(id);
    if (code === undefined) return;
    this.#code.delete(id);
    this.#note(id, () => ({ ended: true }));
    if (failure === undefined) code.resolve('done');
    else code.reject(failure);
    await quiet();
  }

  /** The far side answers the result of a call. */
  async answer(id: string, how: 'accepted' | 'refused'): Promise<void> {
    const publish = this.#publishes.get(id);
    if (publish === undefined) return;
    this.#publishes.delete(id);
    this.#note(id, () => ({ answered: how }));
    if (how === 'accepted') publish.resolve();
    else publish.reject(new TypeError('no'));
    await quiet();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, quiet);
  }

  #tool(name: string, rules: WorldTool): Tool {
    return defineTool({
      ...rules,
      name,
      description: '',
      input: {},
      onLate: (_, { id }) => this.#note(id, ({ told }) => ({ told: told + 1 })),
      execute: (_, { toolUseId }) => {
        this.#note(toolUseId, ({ started }) => ({ started: started + 1, effect: rules.effect ?? 'irreversible' }));
        const code = held();
        this.#code.set(toolUseId, code);
        return code.promise;
      },
    });
  }

  #note(id: string, change: Change): void {
    const before = this.#facts.get(id) ?? nothing;
    this.#facts = new Map([...this.#facts, [id, { ...before, ...change(before) }]]);
    this.#mark();
  }

  #mark(): void {
    this.instants.push({ durable: this.#durable, appended: this.journal.records.length, facts: this.#facts });
  }
}

/** Of a call that nothing was done about. */
export const nothing: Facts = {
  effect: 'irreversible',
  started: 0,
  ended: false,
  published: 0,
  answered: undefined,
  told: 0,
};

/** A journal that holds these records, for a recovery. */
export class LeftJournal extends MemoryJournal {
  override readonly durable = true;

  constructor(records: readonly JournalRecord[]) {
    super({ payloads: 'keep' });
    for (const { seq: _, ...entry } of records) this.append(entry);
  }
}
