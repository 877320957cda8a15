import type { BidiEvent, TokenUsage } from '../../contract/provider.js';
import type { JsonRecord } from '../../contract/wire-reading.js';

/** The `usage` event of a `usageMetadata` (keys in camelCase), or `undefined` where it counts nothing. */
export function usageOf(metadata: JsonRecord): BidiEvent | undefined {
  const inputTokens = countIn(metadata, 'promptTokenCount');
  // Vertex has its own name for it.
  const outputTokens = countIn(metadata, 'responseTokenCount') ?? countIn(metadata, 'candidatesTokenCount');
  const totalTokens = countIn(metadata, 'totalTokenCount');
  const cachedTokens = countIn(metadata, 'cachedContentTokenCount');
  const counts: { -readonly [Key in keyof TokenUsage]: TokenUsage[Key] } = {};
  if (inputTokens !== undefined) counts.inputTokens = inputTokens;
  if (outputTokens !== undefined) counts.outputTokens = outputTokens;
  if (totalTokens !== undefined) counts.totalTokens = totalTokens;
  if (cachedTokens !== undefined) counts.cachedTokens = cachedTokens;
  return Object.keys(counts).length === 0 ? undefined : { type: 'usage', ...counts };
}

/** A whole number of tokens: the service sends nothing else. */
function countIn(metadata: JsonRecord, key: string): number | undefined {
  const value = metadata[key];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
