/**
 * Writes what a conversation does into a journal: the groups of records of
 * docs/design/journal.md, "Conversations and transactions".
 *
 * Invariants kept here:
 *
 * J1. A step's records are appended as one group, after its state is set and
 *     before actors, subscribers or effects are told.
 * J2. An effect of the host is recorded before it runs.
 * J3. A journal that takes no more is asked for nothing more.
 */
import { machinesVersion, type StreamPhase } from '../../../machines/index.js';
import type { Journal, JournalEntry, PayloadPolicy, RecordedEffect } from '../../contract/journal.js';
import {
  type ConversationState,
  type Fold,
  type Folded,
  type RecoveredConversation,
  toEvents,
} from '../../conversation/index.js';
import { type EffectBook, type StepRecord, StepRecorder } from '../../conversation/step-recorder.js';
import { placeBehind } from '../../journal/place.js';
import { type EffectPlace, placeOf } from './host-effects.js';
import { initialOf, keptOf } from './payloads.js';

/** Who writes, where, and from what on. */
export interface RecordedLife {
  readonly id: string;
  readonly journal: Journal;
  readonly now: () => number;
  readonly fold: Fold;
  readonly maxDiagnostics: number;
  readonly from: RecoveredConversation | undefined;
}

const noEffects: readonly RecordedEffect[] = Object.freeze([]);
const fresh = Object.freeze({ version: 1, lastVersion: 1, lastTransaction: 0 });

export class ConversationRecorder {
  readonly #life: RecordedLife;
  readonly #steps: StepRecorder;
  readonly #policy: PayloadPolicy;
  #appended = 0;
  #lastSeq = 0;

  /** `book`: of the host's effects, if it has any. */
  constructor(life: RecordedLife, book: EffectBook | undefined) {
    this.#life = life;
    this.#policy = life.journal.payloads ?? 'hash';
    this.#steps = new StepRecorder(life.id, life.from ?? fresh, book);
  }

  /** How many records were appended. */
  get appended(): number {
    return this.#appended;
  }

  /** The life begins. @throws what the journal does */
  begin(state: ConversationState): void {
    const { journal, fold, maxDiagnostics, from } = this.#life;
    const conversation = {
      machines: machinesVersion,
      mode: fold.mode,
      policies: { ...fold.policies },
      maxDiagnostics,
      durable: journal.durable,
      ...(from !== undefined && this.#policy === 'keep' ? { initial: initialOf(toEvents(state)) } : {}),
    };
    this.#append({
      kind: 'conversation',
      event: '',
      from: '',
      to: state.phase,
      cause: 0,
      did: from === undefined ? noEffects : this.#goesOnFrom(from, state),
      data: { conversation },
    });
  }

  /**
   * A step was taken; nobody was told. Gives whether there is something in it that must be durable first: a commit, or effects
   * that may run.
   *
   * @throws what the journal does
   */
  step(folded: Folded): boolean {
    const [first, ...others] = this.#steps.take(folded.trace);
    if (first === undefined || folded.received === undefined) return false;
    const kept = keptOf(folded.received, this.#policy);
    const cause = this.#append({ ...entryOf(first, 0), data: { folded: { ...first.folded, ...kept } } });
    for (const record of others) this.#append({ ...entryOf(record, cause), data: { folded: record.folded } });
    return first.did.some(isRelease) || others.some(commits);
  }

  /** An effect is about to run. @throws what the journal does */
  effect(place: EffectPlace, phase: StreamPhase): void {
    const { stream = 0 } = place;
    this.#append({
      kind: 'conversation',
      event: 'effect',
      from: phase,
      to: phase,
      cause: 0,
      did: [{ effect: 'runEffect', detail: placeOf(place) }],
      data: { folded: { ...(stream === 0 ? {} : { stream }), version: this.#steps.version } },
    });
  }

  #append(entry: Omit<JournalEntry, 'at' | 'actor'> & { readonly actor?: string }): number {
    const { journal, now, id } = this.#life;
    const given = journal.append({ at: now(), actor: id, ...entry });
    this.#lastSeq = placeBehind(this.#lastSeq, given, `conversation ${id}`);
    this.#appended++;
    return this.#lastSeq;
  }

  /** What a life that goes on goes on from. */
  #goesOnFrom(from: RecoveredConversation, { diverged }: ConversationState): readonly RecordedEffect[] {
    const did: RecordedEffect[] = [
      { effect: 'restore', version: from.version },
      { effect: 'lastVersion', version: from.lastVersion },
      { effect: 'lastTransaction', detail: String(from.lastTransaction) },
      { effect: 'lastStream', detail: String(from.lastStream) },
      { effect: 'position', detail: String(from.position) },
    ];
    if (diverged) did.push({ effect: 'diverged' });
    if (this.#policy === 'keep') did.push({ effect: 'keep' });
    return did;
  }
}

function entryOf({ kind, actor, event, from, to, did }: StepRecord, cause: number) {
  return { kind, actor, event, from, to, cause, did: did.length === 0 ? noEffects : did };
}

function isRelease({ effect }: RecordedEffect): boolean {
  return effect === 'releaseEffect';
}

/** Whether the outermost transaction is committed by it. */
function commits({ kind, to, folded }: StepRecord): boolean {
  return kind === 'transaction' && to === 'committed' && folded.level === undefined;
}
