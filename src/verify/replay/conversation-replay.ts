/**
 * A conversation, stepped again: its streams by the events that its records
 * name, its transactions by what was done in it.
 *
 * E3. Which actions were applied, and which have failed, is taken from the
 *     records, and what follows from it is compared. (An input that was kept may
 *     lack what was redacted, and that may have decided.) What kept inputs come
 *     to is given where they do what they did.
 */
import {
  type Effect,
  type ResponseStreamEventType,
  type ResponseStreamSnapshot,
  responseStreamEvents,
  responseStreamStepper,
  type StreamPhase,
} from '../../../machines/index.js';
import { messageOf } from '../../contract/errors.js';
import type { ConversationBegan, JournalRecord, RecordedEffect } from '../../contract/journal.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  type FoldState,
  JournalFold,
} from '../../conversation/index.js';
import { policiesOf, transactionRules } from '../../conversation/policies.js';
import { foldedIn, startIn, transactionOf } from '../conversation-records.js';
import type { RecordGroup } from '../record-groups.js';
import { type LevelMove, LevelReplay } from './level-replay.js';
import type { Divergence } from './session-replay.js';

const isStreamEvent: ReadonlySet<string> = new Set(responseStreamEvents);
/** What a stream asks for, beside reports and actions. */
const askedOfStream: ReadonlySet<string> = new Set([
  'startRequest',
  'resumeRequest',
  'nameConversation',
  'recordFinish',
  'closeTransactions',
  'endRequest',
]);
/** What the machines of streams and transactions tell of, and no action does. */
const notesOfMachines: ReadonlySet<string> = new Set([
  'actions_before_init',
  'unexpected_init',
  'after_finished',
  'unknown_event',
  'bad_frame',
  'nested_begin',
  'commit_without_begin',
  'rollback_without_begin',
  'doomed_commit',
  'unclosed_transaction',
  'split_in_transaction',
]);
/** What a host's own code is about; no machine knows of it. */
const ofTheHost: ReadonlySet<string> = new Set(['holdEffect', 'releaseEffect', 'dropEffect', 'runEffect']);

export class ConversationReplay {
  readonly #streams = new Map<number, ResponseStreamSnapshot>();
  readonly #levels: LevelReplay;
  readonly #fold: JournalFold | undefined;
  readonly #isStrict: boolean;
  hasParted = false;
  #missed: Divergence | undefined;

  /** `keepsState`: whether what the inputs come to is wanted, where they were kept. */
  constructor(id: string, first: JournalRecord, began: ConversationBegan, keepsState: boolean) {
    const mode = began.mode as ConversationMode;
    this.#isStrict = mode === 'strict';
    const policies = policiesOf(mode, began.policies as Partial<ConversationPolicies>);
    const { lastTransaction } = startIn(first);
    this.#levels = new LevelReplay(transactionRules(mode, policies), lastTransaction);
    this.#streams.set(0, snapshotIn(first.to));
    this.#fold = keepsState ? new JournalFold(id) : undefined;
    this.#fold?.take(first);
  }

  /** The last group lacks records: the machines do more. */
  get isCutOff(): boolean {
    return this.#missed !== undefined;
  }

  get phase(): StreamPhase {
    return this.#stream(0).value;
  }

  get transaction(): 'none' | 'open' | 'doomed' {
    return this.#levels.state;
  }

  /** What the inputs come to; `undefined` where they were not kept, or what was redacted of them decided. */
  get state(): FoldState | undefined {
    return this.#fold?.state;
  }

  /** Takes the step again. Gives where it differs, or what the group before lacks: the conversation goes on. */
  take(group: RecordGroup): Divergence | undefined {
    if (this.hasParted) return undefined;
    let found = this.#missed;
    this.#missed = undefined;
    try {
      found ??= this.#take(group);
    } catch (thrown) {
      // an input that was kept and cannot be read
      found = { record: group.records[0] as JournalRecord, what: messageOf(thrown) };
    }
    this.hasParted = found !== undefined;
    return found;
  }

  #take({ records }: RecordGroup): Divergence | undefined {
    const isHalted = records.some(({ kind, event }) => kind === 'conversation' && event === 'halted');
    for (let index = 0; index < records.length; ) {
      let next = index + 1;
      while (records[next]?.kind === 'transaction') next++;
      const own = records[index] as JournalRecord;
      const found = this.#step(own, records.slice(index + 1, next), isHalted, next === records.length);
      if (found !== undefined) return found;
      this.#fold?.take(own);
      index = next;
    }
    return undefined;
  }

  #step(
    own: JournalRecord,
    transactions: readonly JournalRecord[],
    isHalted: boolean,
    isLast: boolean,
  ): Divergence | undefined {
    if (own.event === 'effect') return undefined;
    const stream = foldedIn(own)?.stream ?? 0;
    const before = this.#stream(stream, own.from);
    const { snapshot, effects } = responseStreamStepper.step(before, own.event as ResponseStreamEventType);
    const lacksItsEnd = isLast && !isHalted && this.#mustHaveFailed(own, snapshot.value);
    if (lacksItsEnd)
      this.#missed = { record: own, what: `${own.event} fails a strict stream, and there is no record of it` };
    // what a strict stream fails of has moved it nowhere
    const isUndone = (isHalted || lacksItsEnd) && own.event !== 'halted';
    const parted = isUndone ? movesNothing(own) : this.#stepStream(own, stream, snapshot, effects);
    if (parted !== undefined) return parted;
    const moves = this.#levels.take(own.did, stream);
    return (
      this.#compareLevels(own, transactions, moves, isLast) ?? (isUndone ? undefined : this.#compareNotes(own, effects))
    );
  }

  /** Whether a strict stream has failed of what this record tells of: it does of all that it tells of while a request is under way. */
  #mustHaveFailed({ from, to, did }: JournalRecord, next: StreamPhase): boolean {
    const isUnderWay = from === 'streaming' || from === 'awaiting_init';
    const tells = did.some(({ effect }) => effect === 'report');
    return this.#isStrict && from === to && tells && (isUnderWay || next !== to);
  }

  #stepStream(
    own: JournalRecord,
    stream: number,
    snapshot: ResponseStreamSnapshot,
    effects: readonly Effect[],
  ): Divergence | undefined {
    const { event, from, to, did } = own;
    if (!isStreamEvent.has(event)) {
      return { record: own, what: `the machine of a response stream has no event ${JSON.stringify(event)}` };
    }
    const before = this.#stream(stream, from);
    // one that has ended says in its next record where it stands
    if (stream === 0 || snapshot.value === 'streaming' || snapshot.value === 'awaiting_init') {
      this.#streams.set(stream, snapshot);
    } else this.#streams.delete(stream);
    const made = effects.flatMap(({ type, params }) => {
      return askedOfStream.has(type) ? inWords(type, (params as { readonly as?: string } | undefined)?.as) : [];
    });
    const recorded = did.flatMap(({ effect, detail }) => {
      return askedOfStream.has(effect) && detail !== 'split' ? inWords(effect, detail) : [];
    });
    const [machines, record] = [
      moveInWords('the stream', event, before.value, snapshot.value, made),
      moveInWords('the stream', event, from, to, recorded),
    ];
    if (machines !== record)
      return { record: own, what: `by the machines ${machines}; the record says that ${record}` };
    const acts = did.find(({ effect }) => effect === 'apply' || effect === 'fail');
    if (acts === undefined || effects.some(({ type }) => type === 'applyActions')) return undefined;
    return {
      record: own,
      what: `the machines apply nothing at ${event}, and the record says ${inWords(acts.effect, acts.detail)}`,
    };
  }

  /** What the machines tell of themselves; actions have more to tell. */
  #compareNotes(own: JournalRecord, effects: readonly Effect[]): Divergence | undefined {
    const ofStream = effects.flatMap(({ type, params }) => {
      return type === 'report' ? (params as { readonly note: string }).note : [];
    });
    const expected = [...ofStream, ...this.#levels.notes].join(', ');
    const found = own.did.flatMap(({ effect, detail = '' }) => {
      return effect === 'report' && notesOfMachines.has(detail) ? detail : [];
    });
    if (found.join(', ') === expected) return undefined;
    const says = found.join(', ') || 'nothing';
    return { record: own, what: `the machines tell of ${expected || 'nothing'}, and the record of ${says}` };
  }

  #compareLevels(
    own: JournalRecord,
    records: readonly JournalRecord[],
    moves: readonly LevelMove[],
    isLast: boolean,
  ): Divergence | undefined {
    for (let index = 0; index < Math.max(records.length, moves.length); index++) {
      const move = moves[index];
      const record = records[index];
      if (record === undefined) {
        const what = `by the machines ${inMove(move as LevelMove)}, and there is no record of it`;
        const missed = { record: records.at(-1) ?? own, what };
        if (!isLast) return missed;
        this.#missed = missed;
        return undefined;
      }
      const says = inRecord(record);
      if (move === undefined) return { record, what: `the machines do nothing more, and the record says that ${says}` };
      const does = inMove(move);
      if (does !== says) return { record, what: `by the machines ${does}; the record says that ${says}` };
    }
    return undefined;
  }

  #stream(number: number, from = 'awaiting_init'): ResponseStreamSnapshot {
    return this.#streams.get(number) ?? snapshotIn(from === 'streaming' ? 'awaiting_init' : from);
  }
}

/** Of an input that a strict stream failed of nothing is left but what was reported, and the actions before. */
function movesNothing(record: JournalRecord): Divergence | undefined {
  const asked = record.did.find(({ effect, detail }) => askedOfStream.has(effect) && detail !== 'split');
  if (asked === undefined && record.from === record.to) return undefined;
  const what = asked === undefined ? `leads from ${record.from} to ${record.to}` : `asks for ${asked.effect}`;
  return {
    record,
    what: `${record.event} fails a strict stream, and so moves nothing; the record says that it ${what}`,
  };
}

/** The snapshot that stands in a phase. */
function snapshotIn(phase: string): ResponseStreamSnapshot {
  const { snapshot } = responseStreamStepper.initial(undefined as never);
  const streaming = responseStreamStepper.step(snapshot, 'init_next').snapshot;
  const found = [
    snapshot,
    streaming,
    ...responseStreamEvents.map((event) => responseStreamStepper.step(streaming, event).snapshot),
  ];
  return found.find(({ value }) => value === phase) ?? snapshot;
}

function inWords(effect: string, detail: string | undefined): string {
  return detail === undefined ? effect : `${effect} (${detail})`;
}

function moveInWords(whose: string, event: string, from: string, to: string, asked: readonly string[]): string {
  const how =
    event === '' ? `begins ${to}` : from === to ? `stays ${to} at ${event}` : `goes from ${from} to ${to} at ${event}`;
  return asked.length === 0 ? `${whose} ${how}` : `${whose} ${how} and asks for ${asked.join(', ')}`;
}

function inMove({ transaction, event, from, to, did }: LevelMove): string {
  const asked = did.map(({ effect, detail }) => inWords(effect, detail));
  return moveInWords(`transaction ${transaction}`, event, from, to, asked);
}

function inRecord(record: JournalRecord): string {
  const { event, from, to, did } = record;
  const asked = did.filter(isOfTheMachine).map(({ effect, detail }) => inWords(effect, detail));
  return moveInWords(`transaction ${transactionOf(record)}`, event, from, to, asked);
}

function isOfTheMachine({ effect }: RecordedEffect): boolean {
  return !ofTheHost.has(effect);
}
