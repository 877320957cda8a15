import type { JournalRecord } from '../../contract/journal.js';
import { Bench } from '../bench.js';
import type { Finding } from '../verdict.js';
import { assertCount, recordsOf, type Verifiable } from '../verify.js';
import {
  conversationAt,
  type ReplayedConversation,
  type ReplayedSession,
  type ReplayedSupervisor,
  sessionAt,
  supervisorAt,
} from './states.js';

/** What `replay` can be told. */
export interface ReplayOptions {
  /** The `seq` of the last record to take. Default: all of them. */
  readonly at?: number;
  /** How many findings are given; those beyond are counted. Default 100. */
  readonly maxFindings?: number;
  /** How many sessions, conversations and supervisors are given that had ended; of more, the first are counted alone. Default 1,000. */
  readonly maxEnded?: number;
}

/** Where every life of a journal stands at a record. */
export interface Replayed {
  /** How many records were taken. */
  readonly records: number;
  /** The `seq` of the last one; 0 where there was none. */
  readonly at: number;
  /** In order of their end, those under way last. */
  readonly sessions: readonly ReplayedSession[];
  readonly conversations: readonly ReplayedConversation[];
  readonly supervisors: readonly ReplayedSupervisor[];
  /** Lives that had ended, beyond `maxEnded`. */
  readonly endedBeyond: number;
  /** Where records and machines part, and what else is wrong up to there. */
  readonly findings: readonly Finding[];
  readonly findingsBeyond: number;
  /** The versions of the machines that wrote it. */
  readonly machines: readonly number[];
}

/** Lives that had ended, the last of them. */
class Ended<Life> {
  #lives: Life[] = [];
  readonly #max: number;
  beyond = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(life: Life): void {
    this.#lives.push(life);
    // in one go, and seldom
    if (this.#lives.length >= 2 * this.#max + 1000) this.#cut();
  }

  #cut(): void {
    const surplus = Math.max(0, this.#lives.length - this.#max);
    this.#lives = this.#lives.slice(surplus);
    this.beyond += surplus;
  }

  get lives(): readonly Life[] {
    this.#cut();
    return this.#lives;
  }
}

/**
 * Rebuilds where everything stood at a record, from the journal alone: what happened from outside goes through the machines again.
 * Of a conversation its content comes back, too, where the journal has kept the inputs.
 *
 * Rejects as the journal does where it cannot be read, and with an `InvalidInputError` for what is no journal, or no number.
 */
export async function replay(journal: Verifiable, options: ReplayOptions = {}): Promise<Replayed> {
  const { at: until = Number.POSITIVE_INFINITY, maxFindings = 100, maxEnded = 1000 } = options;
  for (const [what, value] of Object.entries({ at: until, maxFindings, maxEnded })) assertCount(what, value);
  const sessions = new Ended<ReplayedSession>(maxEnded);
  const conversations = new Ended<ReplayedConversation>(maxEnded);
  const supervisors = new Ended<ReplayedSupervisor>(maxEnded);
  const bench = new Bench({
    maxFindings,
    replays: true,
    keepsState: true,
    onSessionGone: (id, session) => sessions.add(sessionAt(id, session)),
    onConversationGone: (id, conversation) => conversations.add(conversationAt(id, conversation)),
    onSupervisorGone: (id, supervisor) => supervisors.add(supervisorAt(id, supervisor)),
  });
  let last = 0;
  const take = (record: JournalRecord): boolean => {
    if (record.seq > until) return false;
    last = record.seq;
    bench.take(record);
    return true;
  };
  const records = recordsOf(journal);
  if (Symbol.iterator in records) {
    for (const record of records) if (!take(record)) break;
  } else for await (const record of records) if (!take(record)) break;
  const { findings, findingsBeyond, machines, records: count } = bench.finish();
  for (const [id, session] of bench.sessions.lives.all()) sessions.add(sessionAt(id, session));
  for (const [id, one] of bench.conversations.lives.all()) conversations.add(conversationAt(id, one));
  for (const [id, one] of bench.supervisors.lives.all()) supervisors.add(supervisorAt(id, one));
  const ended = { sessions: sessions.lives, conversations: conversations.lives, supervisors: supervisors.lives };
  return {
    records: count,
    at: last,
    ...ended,
    endedBeyond: sessions.beyond + conversations.beyond + supervisors.beyond,
    findings,
    findingsBeyond,
    machines,
  };
}
