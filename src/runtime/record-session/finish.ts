/** How a recorded session's stream finishes. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ResponseEvent_StreamFinishedSchema } from '../../../proto/index.js';
import type { CloseReason, CloseReport } from '../../contract/lifecycle.js';
import type { TokenUsage } from '../../contract/provider.js';
import type { FinishReason } from '../../conversation/index.js';
import { wellFormed } from './texts.js';

export type FinishInit = MessageInitShape<typeof ResponseEvent_StreamFinishedSchema>;

/** What a finish calls an end: the host and the far side may end a session as they like, all else is a failure. */
const reasons: Readonly<Record<CloseReason, Exclude<FinishReason, ''>>> = {
  host: 'done',
  far_side: 'done',
  aborted: 'other',
  connect_failed: 'llmUnavailable',
  stream_ended: 'llmUnavailable',
  stream_failed: 'llmUnavailable',
  protocol_failure: 'internalError',
  overflow: 'internalError',
  journal_failed: 'internalError',
};

/** The finish of a session that ended so. */
export function finishOf({ reason, message = reason }: CloseReport): FinishInit {
  // an end that only a newer session has
  const named = (reasons as Readonly<Record<string, Exclude<FinishReason, ''>>>)[reason] ?? 'other';
  return named === 'internalError' ? failedFinish(message) : ({ reason: { case: named, value: {} } } as FinishInit);
}

export function failedFinish(message: string): FinishInit {
  return { reason: { case: 'internalError', value: { message: wellFormed(message) } } };
}

/** The most that a count of the schema holds. */
const most = 0xffffffff;

/** What the far side has counted, added up. */
export class Usage {
  readonly #counts = { totalInput: 0, output: 0, inputCacheRead: 0 };
  #isKnown = false;

  add({ inputTokens = 0, outputTokens = 0, cachedTokens = 0 }: TokenUsage): void {
    this.#isKnown = true;
    const counts = this.#counts;
    counts.totalInput = sum(counts.totalInput, inputTokens);
    counts.output = sum(counts.output, outputTokens);
    counts.inputCacheRead = sum(counts.inputCacheRead, cachedTokens);
  }

  of(modelId: string): NonNullable<FinishInit['tokenUsage']> {
    return this.#isKnown ? [{ modelId, ...this.#counts }] : [];
  }
}

function sum(count: number, more: number): number {
  return Math.min(most, count + Math.max(0, Math.trunc(more) || 0));
}
