import type { WireErrorFact, WireErrorTreatment } from '../../contract/wire-mapping.js';
import { idIn, type JsonRecord, recordIn, textIn } from '../../contract/wire-reading.js';

const fatal: ReadonlySet<string> = new Set([
  'account_deactivated',
  'billing_hard_limit_reached',
  'insufficient_quota',
  'invalid_api_key',
  'session_expired',
]);

/**
 * What an `error` frame asks for. Most errors leave the session open; some answer
 * a message of ours that was only advice (a cancel that came too late, a
 * truncation that was too long), and ending a session for those is a known way
 * to go silent in the middle of a conversation.
 */
export function readError(frame: JsonRecord): WireErrorFact {
  const inner = recordIn(frame, 'error');
  const error = inner ?? frame;
  const code = idIn(error, 'code');
  const said = idIn(error, 'message') ?? idIn(frame, 'error');
  const message = said ?? code ?? (inner && idIn(inner, 'type')) ?? 'an error without a message';
  const callId = code === 'invalid_tool_call_id' ? namedCall(message) : undefined;
  const fact: { -readonly [Key in keyof WireErrorFact]: WireErrorFact[Key] } = {
    type: 'error',
    message: code !== undefined && said !== undefined ? `${code}: ${said}` : message,
    treatment: callId === undefined ? treatmentOf(code, message) : 'refused',
  };
  if (code !== undefined) fact.code = code;
  // Beside `error` stands the server's own event id; only the one inside answers a message of ours.
  const eventId = inner && idIn(inner, 'event_id');
  if (eventId !== undefined) fact.eventId = eventId;
  if (callId !== undefined) fact.callId = callId;
  return fact;
}

function treatmentOf(code: string | undefined, message: string): WireErrorTreatment {
  if (code === 'conversation_already_has_active_response') return 'conflict';
  if (code === 'response_cancel_not_active' || message.startsWith('Cancellation failed')) return 'swallowed';
  if (/audio content of .* is already shorter than/i.test(message)) return 'swallowed';
  if (/only model output audio messages can be truncated/i.test(message)) return 'swallowed';
  return code !== undefined && fatal.has(code) ? 'fatal' : 'surfaced';
}

/** "Tool call ID 'call_…' not found in conversation." */
function namedCall(message: string): string | undefined {
  return /['"`]([^'"`]+)['"`]/.exec(message)?.[1];
}

/** What a response that did not go well says of itself, for the message of an `error` event. */
export function failureText(status: string, details: JsonRecord | undefined, reason: string | undefined): string {
  const error = details && recordIn(details, 'error');
  const parts = [`response ${status}`, error && idIn(error, 'code'), (error && textIn(error, 'message')) || reason];
  return parts.filter((part) => part !== undefined && part !== '').join(': ');
}
