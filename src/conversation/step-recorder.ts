/**
 * What a journal says of the steps of a conversation: a record of the
 * conversation for each input, with those of the transactions that it moved, as
 * docs/design/journal.md has it. Who writes adds places, times and payloads;
 * who replays compares.
 *
 * Invariants kept here:
 *
 * W1. The version is a new one, greater than all before, exactly where an
 *     action has made another transactional part; a rollback gives back that of
 *     the Begin. Nothing of the part itself is looked at (C9).
 * W2. Every action that was looked at is one `apply` or one `fail`, in order,
 *     behind what was told of it and what it did to transactions.
 */
import { type TransactionSnapshot, transactionStepper } from '../../machines/index.js';
import type { RecordedEffect, RecordedFold } from '../contract/journal.js';
import type { FoldStep, FoldStepOf, TracedStep } from './step.js';

/** A record without its place, its time and its payload. */
export interface StepRecord {
  readonly kind: 'conversation' | 'transaction';
  readonly actor: string;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: RecordedEffect[];
  readonly folded: Pick<RecordedFold, 'stream' | 'version' | 'level'>;
}

/** Where a life begins. */
export interface Numbers {
  readonly version: number;
  readonly lastVersion: number;
  readonly lastTransaction: number;
}

/** Effects of the host: what there is to say of them is their places, `EVENT/ACTION`. */
export interface EffectBook {
  /** An action changed something: gives its effects, and whether they wait for a commit. */
  acted(step: FoldStepOf<'action'>): {
    readonly places: readonly string[];
    readonly held: boolean;
  };
  opened(level: number): void;
  /** Gives those that may run now. */
  kept(level: number): readonly string[];
  /** Gives those that never will. */
  dropped(level: number): readonly string[];
}

interface Level {
  readonly actor: string;
  snapshot: TransactionSnapshot;
  /** What it restores. */
  readonly base: number;
}

export class StepRecorder {
  readonly #id: string;
  readonly #book: EffectBook | undefined;
  readonly #levels: Level[] = [];
  #version: number;
  #lastVersion: number;
  #lastTransaction: number;

  /** `id`: the conversation's actor id. `book`: of who has effects. */
  constructor(id: string, { version, lastVersion, lastTransaction }: Numbers, book?: EffectBook) {
    this.#id = id;
    this.#version = version;
    this.#lastVersion = lastVersion;
    this.#lastTransaction = lastTransaction;
    this.#book = book;
  }

  /** Of the transactional part as it is shown. */
  get version(): number {
    return this.#version;
  }

  /** The records of one step of the fold; the first is the conversation's. Empty where nothing happened. */
  take(trace: readonly (FoldStep | TracedStep)[]): StepRecord[] {
    const records: StepRecord[] = [];
    const transactions: StepRecord[] = [];
    let own: (StepRecord & { readonly folded: { version: number } }) | undefined;
    let effects: ReturnType<EffectBook['acted']> | undefined;
    const complete = () => {
      if (own === undefined) return;
      own.folded.version = this.#version;
      records.push(own, ...transactions.splice(0));
    };
    for (const step of trace) {
      switch (step.of) {
        case 'input': {
          complete();
          const { type: event, from, to, stream } = step;
          own = { kind: 'conversation', actor: this.#id, event, from, to, did: [], folded: foldedOf(stream, 0, 0) };
          break;
        }
        case 'told':
          own?.did.push(effectOf('report', step.code));
          break;
        case 'asked':
          own?.did.push(this.#askedOf(step));
          break;
        case 'transaction':
          this.#moved(step, transactions);
          break;
        case 'action':
          effects = this.#book?.acted(step);
          break;
        case 'acted':
          own?.did.push(this.#actedOf(step));
          for (const place of effects?.places ?? []) {
            own?.did.push({ effect: effects?.held ? 'holdEffect' : 'releaseEffect', detail: place });
          }
          effects = undefined;
          break;
      }
    }
    complete();
    return records;
  }

  #askedOf({ effect, as }: FoldStepOf<'asked'>): RecordedEffect {
    return as === undefined ? effectOf(effect) : { effect, detail: as, version: this.#version };
  }

  #actedOf({ name, changed, failed }: FoldStepOf<'acted'>): RecordedEffect {
    if (changed) {
      this.#lastVersion++;
      this.#version = this.#lastVersion;
    }
    const version = this.#version;
    if (failed !== undefined) return { effect: 'fail', detail: failed, version };
    return name === '' ? { effect: 'apply', version } : { effect: 'apply', detail: name, version };
  }

  #moved({ level, type, snapshot, stream }: FoldStepOf<'transaction'>, records: StepRecord[]): void {
    const to = stateOf(snapshot);
    if (type === undefined) {
      this.#lastTransaction++;
      const actor = `${this.#id}/transaction-${this.#lastTransaction}`;
      this.#levels[level] = { actor, snapshot, base: this.#version };
      this.#book?.opened(level);
      const folded = foldedOf(stream, this.#version, level);
      records.push({ kind: 'transaction', actor, event: '', from: '', to, did: [], folded });
      return;
    }
    const moving = this.#levels[level] as Level;
    const from = stateOf(moving.snapshot);
    const { effects } = transactionStepper.step(moving.snapshot, type);
    moving.snapshot = snapshot;
    if (snapshot.status !== 'active') this.#levels.length = level;
    if (from === to && effects.length === 0) return;
    const did: RecordedEffect[] = [];
    for (const effect of effects) {
      did.push(effectOf(effect.type, (effect.params as { readonly note?: string } | undefined)?.note));
      if (effect.type === 'keep') {
        for (const place of this.#book?.kept(level) ?? []) did.push({ effect: 'releaseEffect', detail: place });
      } else if (effect.type === 'restore') {
        this.#version = moving.base;
        for (const place of this.#book?.dropped(level) ?? []) did.push({ effect: 'dropEffect', detail: place });
      }
    }
    const folded = foldedOf(stream, this.#version, level);
    records.push({ kind: 'transaction', actor: moving.actor, event: type, from, to, did, folded });
  }
}

function foldedOf(
  stream: number,
  version: number,
  level: number,
): { stream?: number; version: number; level?: number } {
  return { ...(stream === 0 ? {} : { stream }), version, ...(level === 0 ? {} : { level }) };
}

function stateOf({ value }: TransactionSnapshot): string {
  return typeof value === 'string' ? value : `open.${value.open}`;
}

const known = new Map<string, RecordedEffect>();

/** One object for all that are alike; names and codes are few. */
function effectOf(effect: string, detail?: string): RecordedEffect {
  const key = detail === undefined ? effect : `${effect} ${detail}`;
  let one = known.get(key);
  if (one === undefined) {
    one = Object.freeze(detail === undefined ? { effect } : { effect, detail });
    known.set(key, one);
  }
  return one;
}
