import { idIn, isRecord, type JsonRecord, jsonText, listIn, recordIn } from '../../contract/wire-reading.js';
import type { RecordedFrame } from './recording.js';

/**
 * The output that the recorded client sent for each call, by call id: what a
 * stub tool has to answer so that the conversation goes on as it was recorded.
 * Of several outputs for one call the first stands.
 */
export function recordedOutputs(frames: readonly RecordedFrame[]): ReadonlyMap<string, string> {
  const outputs = new Map<string, string>();
  for (const data of sent(frames, 'c2s')) {
    for (const [id, output] of outputsIn(data)) if (!outputs.has(id)) outputs.set(id, output);
  }
  return outputs;
}

/** The names of the tools that a recording declares or calls, each once, in order of appearance. */
export function recordedTools(frames: readonly RecordedFrame[]): readonly string[] {
  const names = new Set<string>();
  for (const data of sent(frames, 'c2s')) for (const name of declaredIn(data)) names.add(name);
  for (const data of sent(frames, 's2c')) for (const name of calledIn(data)) names.add(name);
  return [...names];
}

function* sent(frames: readonly RecordedFrame[], dir: 's2c' | 'c2s'): Generator<JsonRecord> {
  for (const frame of frames) if (frame.dir === dir && 'data' in frame && isRecord(frame.data)) yield frame.data;
}

function* outputsIn(data: JsonRecord): Generator<[id: string, output: string]> {
  // OpenAI Realtime
  const item = data.type === 'conversation.item.create' ? recordIn(data, 'item') : undefined;
  if (item?.type === 'function_call_output') {
    const id = idIn(item, 'call_id');
    if (id !== undefined) yield [id, textOf(item.output)];
  }
  // Gemini Live, in either spelling of its keys
  const answer = recordIn(data, 'toolResponse') ?? recordIn(data, 'tool_response');
  if (answer === undefined) return;
  for (const response of records(answer, 'functionResponses', 'function_responses')) {
    const id = idIn(response, 'id');
    const value = recordIn(response, 'response');
    if (id !== undefined && value !== undefined) yield [id, textOf('output' in value ? value.output : value)];
  }
}

function* declaredIn(data: JsonRecord): Generator<string> {
  // OpenAI Realtime; some dialects nest the declaration under `function`
  const session = data.type === 'session.update' ? recordIn(data, 'session') : undefined;
  if (session !== undefined) {
    for (const tool of records(session, 'tools')) yield* nameOf(recordIn(tool, 'function') ?? tool);
  }
  // Gemini Live
  const setup = recordIn(data, 'setup');
  if (setup === undefined) return;
  for (const tool of records(setup, 'tools')) {
    for (const declared of records(tool, 'functionDeclarations', 'function_declarations')) yield* nameOf(declared);
  }
}

function* calledIn(data: JsonRecord): Generator<string> {
  // OpenAI Realtime
  const item = recordIn(data, 'item');
  if (item?.type === 'function_call') yield* nameOf(item);
  // Gemini Live
  const call = recordIn(data, 'toolCall') ?? recordIn(data, 'tool_call');
  if (call === undefined) return;
  for (const called of records(call, 'functionCalls', 'function_calls')) yield* nameOf(called);
}

function* nameOf(record: JsonRecord): Generator<string> {
  const name = idIn(record, 'name');
  if (name !== undefined) yield name;
}

/** The objects of the list under the first of the keys that is there. */
function records(record: JsonRecord, ...keys: readonly string[]): readonly JsonRecord[] {
  const key = keys.find((name) => name in record);
  return key === undefined ? [] : listIn(record, key).filter(isRecord);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (jsonText(value) ?? '');
}
