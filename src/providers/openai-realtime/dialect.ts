import { NotSupportedError } from '../../contract/errors.js';

/** The services that speak this protocol, each a little differently. */
export type OpenAiRealtimeDialect = 'openai' | 'azure' | 'azure-voice-live' | 'xai';

/** In what the dialects differ beyond names and missing fields, which every dialect may use and leave out. */
export interface DialectTraits {
  /** `conversation_id: null` marks a response outside the conversation. Elsewhere the field says nothing. */
  readonly nullConversationIsOutOfBand: boolean;
}

const dialects: ReadonlyMap<string, DialectTraits> = new Map([
  ['openai', { nullConversationIsOutOfBand: true }],
  ['azure', { nullConversationIsOutOfBand: true }],
  ['azure-voice-live', { nullConversationIsOutOfBand: false }],
  ['xai', { nullConversationIsOutOfBand: false }],
]);

/**
 * What a dialect does differently.
 * @throws {NotSupportedError} when there is no such dialect.
 */
export function traitsOf(dialect: OpenAiRealtimeDialect): DialectTraits {
  const traits = dialects.get(dialect);
  if (traits === undefined) throw new NotSupportedError(`dialect ${JSON.stringify(dialect)}`, 'openai-realtime');
  return traits;
}

/** Names of the beta, which Azure Voice Live and older servers still send, and the names that replaced them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['conversation.item.created', 'conversation.item.added'],
  ['response.text.delta', 'response.output_text.delta'],
  ['response.text.done', 'response.output_text.done'],
  ['response.audio.delta', 'response.output_audio.delta'],
  ['response.audio.done', 'response.output_audio.done'],
  ['response.audio_transcript.delta', 'response.output_audio_transcript.delta'],
  ['response.audio_transcript.done', 'response.output_audio_transcript.done'],
]);

/** The present name of a server event. */
export function presentName(type: string): string {
  return aliases.get(type) ?? type;
}

const ignored: ReadonlySet<string> = new Set([
  'conversation.created',
  'conversation.item.deleted',
  'conversation.item.input_audio_transcription.segment',
  'conversation.item.retrieved',
  'conversation.item.truncated',
  'input_audio_buffer.cleared',
  'input_audio_buffer.committed',
  'input_audio_buffer.dtmf_event_received',
  'input_audio_buffer.speech_stopped',
  'input_audio_buffer.timeout_triggered',
  'ping',
  'rate_limits.updated',
  'response.content_part.added',
  'response.content_part.done',
  'response.function_call_arguments.delta',
  // Also sent for calls of a cancelled response, so a call is taken from its finished item only.
  'response.function_call_arguments.done',
  'response.output_audio.done',
  'response.output_audio_transcript.done',
  'response.output_item.added',
  'response.output_text.done',
]);

/** Whether a server event is known and means nothing to us: lifecycle detail, hosted tools, and what only WebRTC and SIP use. */
export function isIgnored(name: string): boolean {
  return (
    ignored.has(name) ||
    name.startsWith('response.mcp_call') ||
    name.startsWith('mcp_list_tools.') ||
    name.startsWith('output_audio_buffer.')
  );
}
