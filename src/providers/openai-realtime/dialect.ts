import { NotSupportedError } from '../../contract/errors.js';

/** The services that speak this protocol, each a little differently. */
export type OpenAiRealtimeDialect = 'openai' | 'azure' | 'azure-voice-live' | 'xai';

/** In what the dialects differ beyond names and missing fields, which every dialect may use and leave out. */
export interface DialectTraits {
  readonly name: OpenAiRealtimeDialect;
  /** `conversation_id: null` marks a response outside the conversation. Elsewhere the field says nothing. */
  readonly nullConversationIsOutOfBand: boolean;
  /** Where the service is, up to `/realtime`; absent where every customer has an address of their own. */
  readonly baseUrl?: string;
  /** The path to `/realtime` at a customer's own address, where `baseUrl` names none. */
  readonly basePath: string;
  /** How the set-up of a session is written: as OpenAI has it now, as in the beta, or as xAI does. */
  readonly shape: 'present' | 'beta' | 'xai';
  /** The header in which a key travels; `authorization` has `Bearer` in front of it. */
  readonly keyHeader: 'authorization' | 'api-key';
  /** How a key travels where there are no headers: as a subprotocol with this in front of it, or in the query. */
  readonly keyProtocol?: string;
  /** Whether the service can be told what of its audio was not heard. */
  readonly truncates: boolean;
  /** Whether a request for a response may carry metadata, which comes back with the response. */
  readonly metadata: boolean;
}

const dialects: ReadonlyMap<string, DialectTraits> = new Map<string, DialectTraits>([
  [
    'openai',
    {
      name: 'openai',
      nullConversationIsOutOfBand: true,
      baseUrl: 'wss://api.openai.com/v1',
      basePath: '/v1',
      shape: 'present',
      keyHeader: 'authorization',
      keyProtocol: 'openai-insecure-api-key.',
      truncates: true,
      metadata: true,
    },
  ],
  [
    'azure',
    {
      name: 'azure',
      nullConversationIsOutOfBand: true,
      basePath: '/openai/v1',
      shape: 'present',
      keyHeader: 'api-key',
      truncates: true,
      metadata: true,
    },
  ],
  [
    'azure-voice-live',
    {
      name: 'azure-voice-live',
      nullConversationIsOutOfBand: false,
      basePath: '/voice-live',
      shape: 'beta',
      keyHeader: 'api-key',
      truncates: true,
      metadata: false,
    },
  ],
  [
    'xai',
    {
      name: 'xai',
      nullConversationIsOutOfBand: false,
      baseUrl: 'wss://api.x.ai/v1',
      basePath: '/v1',
      shape: 'xai',
      keyHeader: 'authorization',
      keyProtocol: 'xai-client-secret.',
      truncates: false,
      metadata: false,
    },
  ],
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
