/** What the real service takes of a client, field by field. A fault is what it would answer. */
import { isRecord, type JsonRecord } from '../../../contract/wire-reading.js';

/** Why a message of the client is refused. */
export interface ClientFault {
  readonly code: string | null;
  readonly message: string;
  readonly param?: string;
}

type Check = (value: unknown, path: string) => ClientFault | undefined;

const invalid = (path: string, expected: string): ClientFault => ({
  code: 'invalid_value',
  message: `Invalid value: '${path}'. Expected ${expected}.`,
  param: path,
});

const is =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? undefined : invalid(path, expected);

const text = is('a string', (value) => typeof value === 'string');
const boolean = is('a boolean', (value) => typeof value === 'boolean');
const number = is('a number', (value) => typeof value === 'number' && Number.isFinite(value));
const count = is('a whole number from 0', (value) => Number.isInteger(value) && (value as number) >= 0);
const anything: Check = () => undefined;
const idText = is('an id of 1 to 32 characters of A-Za-z0-9_-', (value) => {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{1,32}$/.test(value);
});
const oneOf = (...values: readonly unknown[]) => is(`one of ${values.join(', ')}`, (value) => values.includes(value));
const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? undefined : check(value, path);
const either =
  (...checks: readonly Check[]): Check =>
  (value, path) =>
    checks.some((check) => check(value, path) === undefined) ? undefined : invalid(path, 'another kind of value');

function list(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return invalid(path, 'a list');
    for (const [index, entry] of value.entries()) {
      const fault = check(entry, `${path}[${index}]`);
      if (fault) return fault;
    }
    return undefined;
  };
}

/** An object with these fields and no other; those with a `!` have to be there. */
function fields(shape: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(shape).map(([name, check]) => [name.replace('!', ''), check]));
  const needed = Object.keys(shape).filter((name) => name.endsWith('!'));
  return (value, path) => {
    if (!isRecord(value)) return invalid(path, 'an object');
    for (const name of needed) {
      const field = name.slice(0, -1);
      if (!(field in value)) {
        const param = path === '' ? field : `${path}.${field}`;
        return { code: 'missing_required_parameter', message: `Missing required parameter: '${param}'.`, param };
      }
    }
    for (const [name, entry] of Object.entries(value)) {
      const param = path === '' ? name : `${path}.${name}`;
      const check = checks.get(name);
      if (check === undefined) return { code: 'unknown_parameter', message: `Unknown parameter: '${param}'.`, param };
      const fault = check(entry, param);
      if (fault) return fault;
    }
    return undefined;
  };
}

const object: Check = is('an object', isRecord);
const format = fields({ 'type!': oneOf('audio/pcm', 'audio/pcmu', 'audio/pcma'), rate: oneOf(24_000, 8_000, 16_000) });
const tool = fields({ 'type!': oneOf('function'), 'name!': text, description: text, parameters: object });
const detection = either(
  fields({
    'type!': oneOf('server_vad'),
    threshold: number,
    prefix_padding_ms: count,
    silence_duration_ms: count,
    idle_timeout_ms: nullable(count),
    create_response: boolean,
    interrupt_response: boolean,
  }),
  fields({
    'type!': oneOf('semantic_vad'),
    eagerness: oneOf('low', 'medium', 'high', 'auto'),
    create_response: boolean,
    interrupt_response: boolean,
  }),
);
const transcription = fields({ model: text, language: text, prompt: text });
const common = {
  instructions: text,
  tools: list(tool),
  tool_choice: either(oneOf('auto', 'none', 'required'), object),
  max_output_tokens: either(oneOf('inf'), count),
};

const presentSession = fields({
  'type!': oneOf('realtime'),
  ...common,
  model: text,
  output_modalities: is("['audio'] or ['text']", (value) => {
    return Array.isArray(value) && value.length === 1 && (value[0] === 'audio' || value[0] === 'text');
  }),
  audio: fields({
    input: fields({
      format,
      noise_reduction: nullable(object),
      transcription: nullable(transcription),
      turn_detection: nullable(detection),
    }),
    output: fields({ format, voice: text, speed: number }),
  }),
  parallel_tool_calls: boolean,
  truncation: either(oneOf('auto', 'disabled'), object),
  tracing: nullable(either(oneOf('auto'), object)),
  include: list(text),
  prompt: nullable(object),
  reasoning: object,
});

const betaSession = fields({
  ...common,
  model: text,
  modalities: list(oneOf('text', 'audio')),
  voice: either(text, object),
  input_audio_format: oneOf('pcm16', 'g711_ulaw', 'g711_alaw'),
  output_audio_format: oneOf('pcm16', 'g711_ulaw', 'g711_alaw'),
  input_audio_sampling_rate: count,
  input_audio_transcription: nullable(transcription),
  turn_detection: nullable(detection),
});

const xaiSession = fields({
  ...common,
  voice: text,
  turn_detection: either(detection, fields({ 'type!': oneOf(null) })),
  audio: fields({
    input: fields({ format, transcription: nullable(transcription) }),
    output: fields({ format }),
  }),
});

const content = list(
  fields({
    'type!': oneOf('input_text', 'input_audio', 'output_text', 'output_audio', 'text', 'audio'),
    text,
    audio: text,
    transcript: nullable(text),
  }),
);

const itemShapes: Readonly<Record<string, Check>> = {
  message: fields({
    id: idText,
    'type!': text,
    object: text,
    status: text,
    'role!': oneOf('user', 'assistant', 'system'),
    'content!': content,
  }),
  function_call: fields({
    id: idText,
    'type!': text,
    object: text,
    status: text,
    'call_id!': idText,
    'name!': text,
    'arguments!': text,
  }),
  function_call_output: fields({
    id: idText,
    'type!': text,
    object: text,
    status: text,
    'call_id!': text,
    'output!': text,
  }),
};

const item: Check = (value, path) => {
  if (!isRecord(value)) return invalid(path, 'an object');
  const check = itemShapes[String(value.type)];
  return check === undefined ? invalid(`${path}.type`, Object.keys(itemShapes).join(', ')) : check(value, path);
};

const response = fields({
  conversation: oneOf('auto', 'none'),
  metadata: nullable(
    is('an object of at most 16 texts', (value) => {
      return isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string' && entry.length <= 512);
    }),
  ),
  ...common,
  output_modalities: anything,
  audio: object,
  input: list(anything),
  prompt: nullable(object),
});

const base = { 'type!': text, event_id: text };
const base64 = is('base64', (value) => {
  return typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
});

const messages: Readonly<Record<string, Check>> = {
  'session.update': fields({ ...base, 'session!': object }),
  'input_audio_buffer.append': fields({ ...base, 'audio!': base64 }),
  'input_audio_buffer.commit': fields(base),
  'input_audio_buffer.clear': fields(base),
  'conversation.item.create': fields({ ...base, 'item!': item, previous_item_id: nullable(text) }),
  'conversation.item.delete': fields({ ...base, 'item_id!': text }),
  'conversation.item.retrieve': fields({ ...base, 'item_id!': text }),
  'conversation.item.truncate': fields({ ...base, 'item_id!': text, 'content_index!': count, 'audio_end_ms!': count }),
  'response.create': fields({ ...base, response }),
  'response.cancel': fields({ ...base, response_id: text }),
  'output_audio_buffer.clear': fields(base),
};

/** What is wrong with the shape of a client's message, if anything is. */
export function faultOfMessage(message: JsonRecord): ClientFault | undefined {
  const { type } = message;
  if (typeof type !== 'string') return { code: 'invalid_event', message: "The 'type' field is missing." };
  const check = messages[type];
  if (check !== undefined) return check(message, '');
  const known = Object.keys(messages).join(', ');
  return { code: 'invalid_value', message: `Invalid value: '${type}'. Supported values are: ${known}.`, param: 'type' };
}

/** What is wrong with the `session` of a `session.update`, if anything is. */
export function faultOfSession(session: unknown, dialect: string): ClientFault | undefined {
  const check = dialect === 'xai' ? xaiSession : dialect === 'azure-voice-live' ? betaSession : presentSession;
  return check(session, 'session');
}
