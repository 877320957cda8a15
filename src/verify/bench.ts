/**
 * Where journals are judged: every life that is under way has its case, and
 * what has ended is let go.
 *
 * V1. Memory is bounded by the lives that are under way, however long the
 *     journal: of what has ended nothing is kept but, for a while, what code or
 *     a late connection may still do to it.
 * V2. A record of a life that is not known is a breach of D9, unless records
 *     are missing: then it is counted as not judged.
 * V3. A group that lacks its last records is a fault when its life goes on. A
 *     life that never does was cut off there, and has no end: its process was
 *     killed, or its journal took no more.
 */
import type { JournalRecord } from '../contract/journal.js';
import type { ConversationCase } from './conversation-case.js';
import { Conversations } from './conversations.js';
import { GroupReader, type RecordGroup } from './record-groups.js';
import type { SessionCase } from './session-case.js';
import { Sessions } from './sessions.js';
import { type SupervisorCase, Supervisors } from './supervisors.js';
import { Findings, type Verdict } from './verdict.js';

/** What is wanted of a bench. */
export interface BenchOptions {
  readonly maxFindings: number;
  readonly replays: boolean;
  readonly keepsState: boolean;
  /** How many sessions are kept that have ended, and of which something may still come; and how many conversations that wait for another request. */
  readonly maxLingering?: number;
  readonly onSessionGone?: (id: string, session: SessionCase) => void;
  readonly onSupervisorGone?: (id: string, supervisor: SupervisorCase) => void;
  readonly onConversationGone?: (id: string, conversation: ConversationCase) => void;
}

export class Bench {
  readonly findings: Findings;
  readonly sessions: Sessions;
  readonly conversations: Conversations;
  readonly supervisors: Supervisors;
  readonly #reader: GroupReader;
  readonly #machines = new Set<number>();
  #records = 0;
  #unjudged = 0;

  constructor(options: BenchOptions) {
    const { maxFindings, replays, keepsState, maxLingering = 10_000 } = options;
    this.findings = new Findings(maxFindings);
    this.sessions = new Sessions(this.findings, replays, maxLingering, options.onSessionGone);
    const wants = { replays, keepsState, maxLingering };
    this.conversations = new Conversations(this.findings, wants, options.onConversationGone);
    const knows = (session: string) => this.sessions.lives.find(session) !== undefined;
    this.supervisors = new Supervisors(this.findings, replays, maxLingering, knows, options.onSupervisorGone);
    this.#reader = new GroupReader(({ record, what }) => this.findings.add('structure', record, what));
  }

  take(record: JournalRecord): void {
    this.#records++;
    const group = this.#reader.take(record);
    if (group !== undefined) this.#judge(group);
  }

  finish(): Verdict {
    const last = this.#reader.finish();
    if (last !== undefined) this.#judge(last);
    const { sessions, conversations, supervisors, findings } = this;
    sessions.finish();
    conversations.finish();
    supervisors.finish();
    return {
      records: this.#records,
      sessions: sessions.begun,
      calls: sessions.calls,
      conversations: conversations.begun,
      transactions: conversations.transactions,
      supervisors: supervisors.begun,
      findings: findings.list,
      findingsBeyond: findings.beyond,
      unfinished: {
        sessions: sessions.unfinished,
        calls: sessions.unfinishedCalls,
        conversations: conversations.unfinished,
        transactions: conversations.unfinishedTransactions,
        supervisors: supervisors.unfinished,
      },
      unjudged: this.#unjudged + this.#reader.headless,
      machines: [...this.#machines],
    };
  }

  #judge(group: RecordGroup): void {
    const first = group.records[0] as JournalRecord;
    if (first.event === '') this.#note(first);
    if (group.kind === 'supervisor') {
      for (const record of group.records) this.#superviseWith(record);
      return;
    }
    const isKnown = group.kind === 'session' ? this.sessions.take(group) : this.conversations.take(group);
    if (!isKnown) this.#judgeStray(group, first);
  }

  #superviseWith(record: JournalRecord): void {
    // until there is one nobody asks for the beginnings and ends of sessions
    this.sessions.watch = this.supervisors;
    if (this.supervisors.take(record)) return;
    if (this.#reader.hasGap || this.supervisors.lives.hasForgotten) this.#unjudged++;
    else {
      const what = `supervisor ${JSON.stringify(record.actor)} never began, and there is a record of it: ${record.event}`;
      this.findings.add('structure', record, what);
    }
  }

  #note({ data }: JournalRecord): void {
    if (data === undefined) return;
    if ('session' in data) this.#machines.add(data.session.machines);
    else if ('conversation' in data) this.#machines.add(data.conversation.machines);
  }

  #judgeStray({ kind, owner, records }: RecordGroup, first: JournalRecord): void {
    const { lives } = kind === 'session' ? this.sessions : this.conversations;
    if (this.#reader.hasGap || lives.hasForgotten) {
      this.#unjudged += records.length;
      return;
    }
    const whose = `${kind} ${JSON.stringify(owner)}`;
    const what = `${whose} has ended, or never began, and there is a record of it: ${first.event || 'a life begins'}`;
    this.findings.add(kind === 'session' ? 'D9' : 'structure', first, what);
  }
}
