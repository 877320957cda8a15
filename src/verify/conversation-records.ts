/** Records of a conversation, as the judge looks at them. */
import type { JournalRecord, RecordedFold } from '../contract/journal.js';
import type { ConversationGroup, ConversationStart, ConversationStep } from './invariants/index.js';

/** What a record says was folded. */
export function foldedIn({ data }: JournalRecord): RecordedFold | undefined {
  return data !== undefined && 'folded' in data ? data.folded : undefined;
}

/** The number of the transaction of a record; `undefined` for the conversation's own. */
export function transactionOf({ kind, actor }: JournalRecord): number | undefined {
  return kind === 'transaction' ? Number(actor.slice(actor.lastIndexOf('-') + 1)) : undefined;
}

/** Records of one input as a group of steps; `undefined` where one of them does not say what was folded. */
export function conversationGroupOf(records: readonly JournalRecord[]): ConversationGroup | undefined {
  const steps: ConversationStep[] = [];
  for (const record of records) {
    const folded = foldedIn(record);
    if (folded === undefined) return undefined;
    const { event, from, to, did } = record;
    const { stream = 0, version } = folded;
    steps.push({ transaction: transactionOf(record), event, from, to, did, stream, version });
  }
  return { steps };
}

/** Where a life begins: anew, or with what another one had committed. */
export function startIn({ to, did }: JournalRecord): ConversationStart {
  const numbers = new Map(did.map(({ effect, detail, version }) => [effect, version ?? Number(detail)]));
  return {
    phase: to,
    version: numbers.get('restore') ?? 1,
    lastVersion: numbers.get('lastVersion') ?? 1,
    lastTransaction: numbers.get('lastTransaction') ?? 0,
    versionsFollow: true,
  };
}
