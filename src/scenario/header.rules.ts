/** What the first line of a scenario may hold. */
import { atLeastOne, choice, count, fields, flag, object, type Rule, record, text } from './rule.js';

const tool = fields({
  onInterruption: choice('abandon', 'cancel', 'deliver'),
  timeoutMs: count,
  needsApproval: flag,
  effect: choice('read', 'idempotent', 'irreversible'),
  result: text,
  throws: text,
  input: object,
});

/** By key of the header. */
export const headerRules: Readonly<Record<string, Rule>> = {
  scenario: text,
  tools: record(tool),
  options: fields({
    maxConcurrentTools: atLeastOne,
    maxOpenCalls: atLeastOne,
    connectTimeoutMs: count,
    publishTimeoutMs: count,
    closeTimeoutMs: count,
    maxBufferedEvents: atLeastOne,
    dropUnreadAudio: flag,
  }),
  provider: fields({
    holdConnect: flag,
    holdPublish: flag,
    holdClose: flag,
    abandonToolCall: flag,
    interrupt: flag,
  }),
  journal: fields({ durable: flag, holdFlush: flag }),
};

/** The whole line. */
export const header = fields(headerRules);
