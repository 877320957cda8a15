import type { BidiEvent, TokenUsage } from '../../contract/provider.js';
import { countIn, type JsonRecord, recordIn } from '../../contract/wire-reading.js';

/** The `usage` event of a `response.done`, or `undefined` where it counts nothing. xAI reports beside the response instead of in it. */
export function usageOf(frame: JsonRecord, response: JsonRecord | undefined): BidiEvent | undefined {
  return (response && counted(recordIn(response, 'usage'))) ?? counted(recordIn(frame, 'usage'));
}

function counted(usage: JsonRecord | undefined): BidiEvent | undefined {
  if (usage === undefined) return undefined;
  const inputTokens = countIn(usage, 'input_tokens');
  const outputTokens = countIn(usage, 'output_tokens');
  const totalTokens = countIn(usage, 'total_tokens');
  const details = recordIn(usage, 'input_token_details');
  const cachedTokens = details && countIn(details, 'cached_tokens');
  const counts: { -readonly [Key in keyof TokenUsage]: TokenUsage[Key] } = {};
  if (inputTokens !== undefined) counts.inputTokens = inputTokens;
  if (outputTokens !== undefined) counts.outputTokens = outputTokens;
  if (totalTokens !== undefined) counts.totalTokens = totalTokens;
  if (cachedTokens !== undefined) counts.cachedTokens = cachedTokens;
  return Object.keys(counts).length === 0 ? undefined : { type: 'usage', ...counts };
}
