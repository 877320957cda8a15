/** Server frames of OpenAI Realtime, hand-made: the fewest fields that the wire has. */

let events = 0;

const frame = (type: string, fields: object) => ({ type, event_id: `event_${++events}`, ...fields });

export const created = (id: string, fields: object = {}) =>
  frame('response.created', { response: { id, status: 'in_progress', conversation_id: 'conv_1', ...fields } });

export const text = (id: string, delta: string, type = 'response.output_text.delta') =>
  frame(type, { response_id: id, item_id: `item_${id}`, output_index: 0, content_index: 0, delta });

export const audio = (id: string, delta: string) => text(id, delta, 'response.output_audio.delta');

export const call = (id: string, callId: string, fields: object = {}) =>
  frame('response.output_item.done', {
    response_id: id,
    item: {
      id: `item_${callId}`,
      type: 'function_call',
      status: 'completed',
      call_id: callId,
      name: 'look',
      arguments: '{"a":1}',
      ...fields,
    },
  });

export const callOutput = (callId: string) => ({ type: 'function_call', status: 'completed', call_id: callId });

export const done = (id: string, response: object = {}) =>
  frame('response.done', { response: { id, status: 'completed', status_details: null, output: [], ...response } });

export const cancelled = (id: string, reason = 'turn_detected') =>
  done(id, { status: 'cancelled', status_details: { type: 'cancelled', reason } });

export const speechStarted = () => frame('input_audio_buffer.speech_started', { item_id: 'item_user' });

export const session = (type: 'session.created' | 'session.updated', fields: object = {}) =>
  frame(type, { session: fields });

export const errorFrame = (error: object) => frame('error', { error: { type: 'invalid_request_error', ...error } });

export const heard = (kind: string, itemId: string, said: string) =>
  frame(`conversation.item.input_audio_transcription.${kind}`, {
    item_id: itemId,
    [kind === 'delta' ? 'delta' : 'transcript']: said,
  });
