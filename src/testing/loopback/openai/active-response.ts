import type { JsonRecord } from '../../../contract/wire-reading.js';
import { pcm } from './hearing.js';
import type { OpenAiFrame, OpenAiReply } from './script.js';

/** What the frames of a response need to know of the session. */
export interface ResponseContext {
  readonly responseId: string;
  readonly modality: 'audio' | 'text';
  /** Whether the audio of an item is done after everything else of it. */
  readonly audioDoneLast: boolean;
  /** What of the response is the same in its first and its last frame. */
  readonly common: JsonRecord;
  readonly nextId: (prefix: string) => string;
}

/** An item of the response, and how far it has come. */
interface OpenItem {
  readonly id: string;
  readonly index: number;
  readonly kind: 'message' | 'call';
  readonly name: string;
  readonly callId: string;
  said: string;
  audioMs: number;
  state: 'planned' | 'open' | 'done';
  status: 'in_progress' | 'completed' | 'incomplete';
}

/** A frame to come, and what it does to its item. */
interface Planned {
  /** A function where it tells what was said until it is sent. */
  readonly frame: OpenAiFrame | (() => OpenAiFrame);
  readonly item?: OpenItem;
  readonly says?: string;
  readonly ms?: number;
  readonly opens?: boolean;
  readonly ends?: boolean;
}

/** How long one delta of audio is. */
const deltaMs = 250;

/**
 * A response of the fake, frame by frame, in the order in which the real one was recorded. It can be cut at every frame;
 * what was said until then is what its item keeps.
 */
export class ActiveResponse {
  readonly id: string;
  #plan: Planned[] = [];
  #at = 0;
  readonly #items: OpenItem[] = [];
  readonly #context: ResponseContext;
  readonly #reply: OpenAiReply;

  constructor(context: ResponseContext, reply: OpenAiReply) {
    this.id = context.responseId;
    this.#context = context;
    this.#reply = reply;
    this.#planResponse();
  }

  get isOver(): boolean {
    return this.#at >= this.#plan.length;
  }

  /** How many frames are to come. */
  get left(): number {
    return this.#plan.length - this.#at;
  }

  /** Length of the audio that was sent of an item. */
  audioMsOf(itemId: string): number {
    return this.#items.find(({ id }) => id === itemId)?.audioMs ?? 0;
  }

  /** The next frame, if there is one. */
  next(): OpenAiFrame | undefined {
    const planned = this.#plan[this.#at];
    if (planned === undefined) return undefined;
    this.#at++;
    const { frame, item, says = '', ms = 0 } = planned;
    if (item !== undefined) {
      if (planned.opens) item.state = 'open';
      if (planned.ends) item.state = 'done';
      item.said += says;
      item.audioMs += ms;
    }
    return typeof frame === 'function' ? frame() : frame;
  }

  /** The response is cut: so many deltas more, the ends of what is open, and the end. */
  cut(reason: 'turn_detected' | 'client_cancelled', stragglers: number): void {
    if (this.isOver) return;
    const rest = this.#plan.slice(this.#at);
    const plan = rest.filter(({ frame, item }) => item?.state === 'open' && typeOf(frame).endsWith('.delta'));
    plan.length = Math.min(plan.length, stragglers);
    // The response.created that the client has not seen yet comes all the same.
    if (rest[0] !== undefined && typeOf(rest[0].frame) === 'response.created') plan.unshift(rest[0]);
    for (const item of this.#items) if (item.state === 'open') plan.push(...this.#ending(item, 'incomplete'));
    plan.push({ frame: () => this.#done('cancelled', { type: 'cancelled', reason }) });
    this.#plan = plan;
    this.#at = 0;
  }

  #planResponse(): void {
    const { calls = [], text, audioMs } = this.#reply;
    const ending = this.#reply.ending ?? { status: 'completed' };
    const { responseId, common } = this.#context;
    this.#plan.push({
      frame: {
        type: 'response.created',
        response: {
          object: 'realtime.response',
          id: responseId,
          status: 'in_progress',
          status_details: null,
          output: [],
          ...common,
          usage: null,
        },
      },
    });
    if (text !== undefined || audioMs !== undefined) this.#planMessage(text ?? '', audioMs);
    for (const call of calls) {
      this.#planCall(call.name, call.arguments ?? '{}', call.callId ?? this.#context.nextId('call'));
    }
    const details =
      ending.status === 'completed'
        ? null
        : ending.status === 'incomplete'
          ? { type: 'incomplete', reason: ending.reason }
          : { type: 'failed', error: { type: 'server_error', code: ending.code, message: ending.message } };
    this.#plan.push({ frame: () => this.#done(ending.status, details) });
  }

  #planMessage(text: string, audioMs: number | undefined): void {
    const item = this.#newItem('message', '', '');
    const audio = this.#context.modality === 'audio';
    this.#opens(item);
    const place = this.#place(item, { content_index: 0 });
    const part = audio ? { type: 'audio', transcript: '' } : { type: 'text', text: '' };
    this.#plan.push({ frame: { type: 'response.content_part.added', ...place, part } });
    const pieces = text.match(/\s*\S+|\s+$/g) ?? [];
    const delta = audio ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
    const words: Planned[] = pieces.map((piece) => ({
      frame: { type: delta, ...place, delta: piece, obfuscation: 'x'.repeat(16 - (piece.length % 16)) },
      item,
      says: piece,
    }));
    const sounds: Planned[] = [];
    let left = audio ? (audioMs ?? Math.ceil(pieces.length / 4) * deltaMs) : 0;
    for (; left > 0; left -= deltaMs) {
      const ms = Math.min(deltaMs, left);
      sounds.push({ frame: { type: 'response.output_audio.delta', ...place, delta: pcm(ms, 'silence') }, item, ms });
    }
    // The transcript runs ahead of the audio.
    while (words.length > 0 || sounds.length > 0) this.#plan.push(...words.splice(0, 4), ...sounds.splice(0, 1));
    for (const planned of this.#ending(item, 'completed')) this.#plan.push(planned);
  }

  #planCall(name: string, text: string, callId: string): void {
    const item = this.#newItem('call', name, callId);
    this.#opens(item);
    const place = this.#place(item, { call_id: callId });
    for (const piece of text.match(/[\s\S]{1,6}/g) ?? []) {
      const frame = { type: 'response.function_call_arguments.delta', ...place, delta: piece };
      this.#plan.push({ frame, item, says: piece });
    }
    for (const planned of this.#ending(item, 'completed')) this.#plan.push(planned);
  }

  #newItem(kind: 'message' | 'call', name: string, callId: string): OpenItem {
    const index = this.#items.length;
    const id = this.#context.nextId('item');
    const item: OpenItem = {
      id,
      index,
      kind,
      name,
      callId,
      said: '',
      audioMs: 0,
      state: 'planned',
      status: 'in_progress',
    };
    this.#items.push(item);
    return item;
  }

  #opens(item: OpenItem): void {
    const shown = { ...this.#shown(item), ...(item.kind === 'message' ? { content: [] } : {}) };
    const { responseId } = this.#context;
    const added = {
      type: 'response.output_item.added',
      response_id: responseId,
      output_index: item.index,
      item: shown,
    };
    this.#plan.push({ frame: added, item, opens: true }, { frame: { type: 'conversation.item.added', item: shown } });
  }

  /** The frames that end an item, with what it has come to when each is sent. */
  #ending(item: OpenItem, status: 'completed' | 'incomplete'): Planned[] {
    const { responseId, modality, audioDoneLast } = this.#context;
    const frames: (() => OpenAiFrame)[] = [];
    if (item.kind === 'call') {
      frames.push(() => ({
        type: 'response.function_call_arguments.done',
        ...this.#place(item, { call_id: item.callId, name: item.name, arguments: item.said }),
      }));
    } else {
      const place = this.#place(item, { content_index: 0 });
      if (modality === 'audio') {
        const audioDone = () => ({ type: 'response.output_audio.done', ...place });
        if (!audioDoneLast) frames.push(audioDone);
        frames.push(() => ({ type: 'response.output_audio_transcript.done', ...place, transcript: item.said }));
        frames.push(() => partDone(place, { type: 'audio', transcript: item.said }));
        if (audioDoneLast) frames.push(audioDone);
      } else {
        frames.push(() => ({ type: 'response.output_text.done', ...place, text: item.said }));
        frames.push(() => partDone(place, { type: 'text', text: item.said }));
      }
    }
    frames.push(() => {
      item.status = status;
      return { type: 'conversation.item.done', item: this.#shown(item) };
    });
    const last = () => ({
      type: 'response.output_item.done',
      response_id: responseId,
      output_index: item.index,
      item: this.#shown(item),
    });
    return [...frames.map((frame) => ({ frame })), { frame: last, item, ends: true }];
  }

  #place(item: OpenItem, more: JsonRecord): JsonRecord {
    return { response_id: this.#context.responseId, item_id: item.id, output_index: item.index, ...more };
  }

  #shown({ id, kind, name, callId, said, status }: OpenItem): JsonRecord {
    if (kind === 'call') return { id, type: 'function_call', status, name, call_id: callId, arguments: said };
    const content =
      this.#context.modality === 'audio'
        ? [{ type: 'output_audio', transcript: said }]
        : [{ type: 'output_text', text: said }];
    return { id, type: 'message', status, role: 'assistant', content };
  }

  #done(status: string, details: unknown): OpenAiFrame {
    const output = this.#items.filter(({ state }) => state !== 'planned').map((item) => this.#shown(item));
    const tokens = this.#items.reduce((sum, { said }) => sum + Math.ceil(said.length / 4), 0);
    const usage =
      status === 'completed'
        ? {
            total_tokens: 20 + tokens,
            input_tokens: 20,
            output_tokens: tokens,
            input_token_details: { text_tokens: 20, audio_tokens: 0, cached_tokens: 0 },
            output_token_details: { text_tokens: tokens, audio_tokens: 0 },
          }
        : null;
    const { responseId, common } = this.#context;
    return {
      type: 'response.done',
      response: {
        object: 'realtime.response',
        id: responseId,
        status,
        status_details: details,
        output,
        ...common,
        usage,
      },
    };
  }
}

function partDone(place: JsonRecord, part: JsonRecord): OpenAiFrame {
  return { type: 'response.content_part.done', ...place, part };
}

/** The type of a frame that stands as it is; the empty text for one that is made when it is sent. */
function typeOf(frame: Planned['frame']): string {
  return typeof frame === 'function' ? '' : frame.type;
}
