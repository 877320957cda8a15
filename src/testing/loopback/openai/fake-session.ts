import type { Clock } from '../../../contract/clock.js';
import { idIn, isRecord, type JsonRecord, recordIn } from '../../../contract/wire-reading.js';
import { jsonObject, type LoopbackConnection } from '../server.js';
import { ActiveResponse } from './active-response.js';
import { type ClientFault, faultOfMessage, faultOfSession } from './client-checks.js';
import { defaultSession, type FakeDialect, inDialect, sparse, updated } from './dialects.js';
import { Ear, type Heard } from './hearing.js';
import type { OpenAiFrame, OpenAiLoopbackOptions } from './script.js';

/** An item of the conversation, as the fake keeps it. */
interface KeptItem {
  item: JsonRecord;
  /** Length of the audio that was sent of it. */
  audioMs: number;
}

const activeConflict = 'conversation_already_has_active_response';

/**
 * One connection of a client with the fake: the service's side of the protocol.
 *
 * - F1 every message of the client is checked field by field; a refused one gets the error that the service gives, and is a violation
 * - F2 one response of the conversation is active at a time
 * - F3 the frames of a response come in the order that was recorded, and nothing of it comes after its `response.done`
 * - F4 a call's output is taken once the call is an item, and only then
 */
export class OpenAiFakeSession {
  /** Every message of the client, in order. */
  readonly received: JsonRecord[] = [];
  /** What the client did that no client should: one line each. */
  readonly violations: string[] = [];
  readonly connection: LoopbackConnection;
  /** Looks at a message first; one that it answers `true` to is not looked at again. */
  intercept: ((message: JsonRecord, session: this) => boolean) | undefined;
  readonly #options: OpenAiLoopbackOptions;
  readonly #dialect: FakeDialect;
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();
  readonly #items: KeptItem[] = [];
  readonly #conversationId = 'conv_fake';
  #session: JsonRecord;
  #ear: Ear;
  #response: ActiveResponse | undefined;
  #outOfBand = false;
  #responses = 0;
  #heldAcks: OpenAiFrame[][] = [];
  #bufferedBytes = 0;
  #speechItem = '';
  #isSetUp = false;
  #audioWasSent = false;
  readonly #noSetUp: boolean;
  readonly #refuseSetUp: ClientFault | undefined;

  constructor(connection: LoopbackConnection, options: OpenAiLoopbackOptions, clock: Clock, index: number) {
    this.connection = connection;
    this.#options = options;
    this.#clock = clock;
    this.#dialect = options.dialect ?? 'openai';
    const fault = options.connectFault?.(index);
    this.#noSetUp = fault?.type === 'no_set_up';
    this.#refuseSetUp = fault?.type === 'refuse_set_up' ? fault : undefined;
    const expiresAt = Math.floor((clock.now() + (options.maxSessionMs ?? 3_600_000)) / 1000);
    const model = connection.request.query.get('model') ?? 'gpt-realtime';
    this.#session = defaultSession(this.#dialect, model, 'sess_fake', expiresAt);
    this.#ear = this.#newEar();
    connection.onMessage((message) => this.#message(message));
    this.#send({ type: 'session.created', session: this.#session });
  }

  /** The items of the conversation, in order. */
  get items(): readonly JsonRecord[] {
    return this.#items.map(({ item }) => item);
  }

  /** The session as it is set up. */
  get session(): JsonRecord {
    return this.#session;
  }

  /** The id of the active response. */
  get activeResponse(): string | undefined {
    return this.#response?.id;
  }

  /** How many frames of the active response are to come. */
  get framesLeft(): number {
    return this.#response?.left ?? 0;
  }

  /** Messages of one type, in order. */
  of(type: string): JsonRecord[] {
    return this.received.filter((message) => message.type === type);
  }

  /** Sends the next frames of the active response. How many there were. */
  step(frames = 1): number {
    let sent = 0;
    for (; sent < frames; sent++) if (!this.#sendNext()) break;
    return sent;
  }

  /** Sends frames of the active response until one of this type was sent. */
  stepPast(type: string): void {
    for (let last = ''; last !== type; ) {
      const frame = this.#sendNext();
      if (frame === undefined) throw new RangeError(`stepPast: no ${type} in what is left of the response`);
      last = frame.type;
    }
  }

  /** Sends the rest of the active response. */
  finish(): void {
    while (this.#sendNext() !== undefined) {
      // each one sends a frame
    }
  }

  /** The user begins to speak: the service cuts what it says, if it was set up so. */
  speechStarts(): void {
    this.#heard(this.#ear.starts());
  }

  /** The user has spoken: the service takes what it heard as an item, and answers, if it was set up so. */
  speechStops(transcript?: string): void {
    this.#heard(this.#ear.stops(), transcript);
  }

  /** The service answers of its own accord, as it does when speech has ended; or as `message` asks, a `response.create` that was held back. */
  respond(by: 'client' | 'speech' = 'speech', message: JsonRecord = {}): void {
    this.#begin(recordIn(message, 'response') ?? {}, by, undefined);
  }

  /** Sends any frame. */
  emit(frame: OpenAiFrame): void {
    this.#send(frame);
  }

  /** Sends an error. */
  error(fault: ClientFault, eventId: string | null = null): void {
    const { code, message, param = null } = fault;
    const type = 'invalid_request_error';
    this.#send({ type: 'error', error: { type, code, message, param, event_id: eventId } });
  }

  /** Ends the session as the service does when its time is up. */
  expire(): void {
    const minutes = Math.round((this.#options.maxSessionMs ?? 3_600_000) / 60_000);
    const message = `Your session hit the maximum duration of ${minutes} minutes.`;
    this.error({ code: 'session_expired', message });
    this.connection.close(1001, message);
  }

  #message(text: string): void {
    const message = jsonObject(text);
    if (typeof message === 'string') {
      this.#refuse({ code: 'invalid_json', message }, null);
      return;
    }
    this.received.push(message);
    if (this.intercept?.(message, this) === true) return;
    const eventId = idIn(message, 'event_id') ?? null;
    const fault = faultOfMessage(message) ?? this.#take(message, eventId);
    if (fault !== undefined) this.#refuse(fault, eventId);
  }

  /** Does what a message asks for. What is wrong with it here and now, if anything is. */
  #take(message: JsonRecord, eventId: string | null): ClientFault | undefined {
    switch (message.type) {
      case 'session.update':
        return this.#update(message.session as JsonRecord);
      case 'input_audio_buffer.append':
        return this.#append(message.audio as string);
      case 'input_audio_buffer.commit':
        return this.#commit();
      case 'input_audio_buffer.clear':
        this.#bufferedBytes = 0;
        this.#send({ type: 'input_audio_buffer.cleared' });
        return undefined;
      case 'conversation.item.create':
        return this.#createItem(message.item as JsonRecord);
      case 'conversation.item.delete':
      case 'conversation.item.retrieve':
        return this.#itemAct(message);
      case 'conversation.item.truncate':
        return this.#truncate(message);
      case 'response.create':
        return this.#create(recordIn(message, 'response') ?? {}, eventId);
      case 'response.cancel':
        return this.#cancel(idIn(message, 'response_id'), eventId);
      default:
        return { code: 'invalid_value', message: `${String(message.type)} is for WebRTC and SIP only.` };
    }
  }

  #update(change: JsonRecord): ClientFault | undefined {
    if (this.#noSetUp) return undefined;
    if (this.#refuseSetUp !== undefined) return this.#refuseSetUp;
    const fault = faultOfSession(change, this.#dialect);
    if (fault !== undefined) return fault;
    const model = idIn(change, 'model');
    if (model !== undefined && model !== this.#session.model) {
      return { code: 'cannot_update_model', message: 'Cannot update a session’s model.', param: 'session.model' };
    }
    const before = voiceOf(this.#session);
    const session = updated(this.#session, change);
    if (this.#audioWasSent && voiceOf(session) !== before) {
      return { code: 'cannot_update_voice', message: 'Cannot update a conversation’s voice after audio was sent.' };
    }
    this.#session = session;
    this.#ear = this.#newEar();
    if (this.#dialect === 'xai' && !this.#isSetUp) {
      this.#send({ type: 'conversation.created', conversation: { id: this.#conversationId } });
      this.#send({ type: 'ping', timestamp: this.#clock.now() });
    }
    this.#isSetUp = true;
    const { model: _model, ...shown } = session;
    this.#send({ type: 'session.updated', session: this.#dialect === 'xai' ? shown : session });
    return undefined;
  }

  #append(audio: string): ClientFault | undefined {
    const bytes = Buffer.byteLength(audio, 'base64');
    if (bytes > 15 * 1024 * 1024) return { code: 'invalid_value', message: 'audio: at most 15 MiB' };
    this.#bufferedBytes += bytes;
    if (this.#options.hearing !== false && this.#detection() !== undefined) this.#heard(this.#ear.takes(audio));
    return undefined;
  }

  #commit(): ClientFault | undefined {
    const ms = this.#bufferedBytes / this.#ear.bytesPerMs;
    if (ms < 100) {
      const found = `${ms.toFixed(2)}ms of audio`;
      const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${found}.`;
      return { code: 'input_audio_buffer_commit_empty', message };
    }
    this.#commitSpeech(this.#nextId('item'), undefined);
    return undefined;
  }

  #createItem(given: JsonRecord): ClientFault | undefined {
    const id = idIn(given, 'id') ?? this.#nextId('item');
    if (this.#kept(id) !== undefined) {
      return { code: 'item_id_already_exists', message: `Item with item_id '${id}' already exists.`, param: 'item.id' };
    }
    const callId = idIn(given, 'call_id');
    if (given.type === 'function_call_output' && !this.#items.some(({ item }) => isCall(item, callId))) {
      const message = `Tool call ID '${callId}' not found in conversation.`;
      return { code: 'invalid_tool_call_id', message, param: 'item.call_id' };
    }
    const { id: _id, ...rest } = given;
    const item = { id, status: 'completed', ...rest };
    const previous = this.#items.at(-1)?.item.id ?? null;
    this.#items.push({ item, audioMs: 0 });
    const frames = [
      { type: 'conversation.item.added', previous_item_id: previous, item },
      { type: 'conversation.item.done', previous_item_id: previous, item },
    ];
    const { acknowledge = 'now' } = this.#options.habits ?? {};
    if (acknowledge === 'never') return undefined;
    if (acknowledge === 'after_response' && this.#response !== undefined) this.#heldAcks.push(frames);
    else for (const frame of frames) this.#send(frame);
    return undefined;
  }

  #itemAct(message: JsonRecord): ClientFault | undefined {
    const id = String(message.item_id);
    const kept = this.#kept(id);
    if (kept === undefined) return noItem(id);
    if (message.type === 'conversation.item.retrieve') {
      this.#send({ type: 'conversation.item.retrieved', item: kept.item });
      return undefined;
    }
    this.#items.splice(this.#items.indexOf(kept), 1);
    this.#send({ type: 'conversation.item.deleted', item_id: id });
    return undefined;
  }

  #truncate(message: JsonRecord): ClientFault | undefined {
    if (this.#dialect === 'xai') return { code: 'invalid_value', message: 'conversation.item.truncate: no such event' };
    const id = String(message.item_id);
    const kept = this.#kept(id);
    if (kept === undefined) return noItem(id);
    const audioMs = Math.max(kept.audioMs, this.#response?.audioMsOf(id) ?? 0);
    if (kept.item.role !== 'assistant' || audioMs === 0) {
      const code = 'unsupported_content_type';
      return { code, message: 'Only model output audio messages can be truncated' };
    }
    const endMs = Number(message.audio_end_ms);
    if (endMs > audioMs) {
      return { code: null, message: `Audio content of ${audioMs}ms is already shorter than ${endMs}ms` };
    }
    kept.audioMs = endMs;
    kept.item = { ...kept.item, content: [{ type: 'output_audio' }] };
    const { content_index: index } = message;
    this.#send({ type: 'conversation.item.truncated', item_id: id, content_index: index, audio_end_ms: endMs });
    return undefined;
  }

  #create(asked: JsonRecord, eventId: string | null): ClientFault | undefined {
    if (asked.conversation !== 'none' && this.#response !== undefined && !this.#outOfBand) {
      const names = this.#options.habits?.conflictNamesMessage !== false;
      const message = `Conversation already has an active response in progress: ${this.#response.id}. Wait until the response is finished before creating a new one.`;
      // Not a violation: what the client asks crosses what the service does.
      this.error({ code: activeConflict, message }, names ? eventId : null);
      return undefined;
    }
    this.#begin(asked, 'client', asked.conversation === 'none' ? null : this.#conversationId);
    return undefined;
  }

  #cancel(id: string | undefined, eventId: string | null): ClientFault | undefined {
    if (this.#response === undefined || (id !== undefined && id !== this.#response.id)) {
      // Not a violation either.
      const message = 'Cancellation failed: no active response found';
      this.error({ code: 'response_cancel_not_active', message }, eventId);
      return undefined;
    }
    this.#cut('client_cancelled');
    return undefined;
  }

  #begin(asked: JsonRecord, by: 'client' | 'speech', conversation: string | null = this.#conversationId): void {
    const index = this.#responses++;
    const reply = this.#options.reply?.({ index, by, items: this.items }) ?? { text: 'ok' };
    this.#outOfBand = conversation === null;
    this.#response = new ActiveResponse(
      {
        responseId: this.#nextId('resp'),
        modality: this.#modality(),
        audioDoneLast: this.#dialect === 'xai',
        common: { conversation_id: conversation, metadata: asked.metadata ?? null },
        nextId: (prefix) => this.#nextId(prefix),
      },
      reply,
    );
    const { pace = 'burst' } = this.#options;
    if (pace === 'burst') this.finish();
    else if (pace !== 'stepwise') this.#play(pace.ms);
  }

  #play(ms: number): void {
    if (this.#sendNext() !== undefined) this.#clock.setTimeout(() => this.#play(ms), ms);
  }

  #cut(reason: 'turn_detected' | 'client_cancelled'): void {
    const response = this.#response;
    if (response === undefined) return;
    response.cut(reason, this.#options.habits?.stragglers ?? 0);
    this.finish();
  }

  #sendNext(): OpenAiFrame | undefined {
    const response = this.#response;
    const frame = response?.next();
    if (response === undefined || frame === undefined) return undefined;
    const { repeats = false, unknownFrames = false } = this.#options.habits ?? {};
    if (response.isOver) this.#response = undefined;
    const sent = this.#outOfBand ? frame : this.#keep(frame, response);
    const eventId = this.#nextId('event');
    this.#send(sent, eventId);
    if (repeats) this.#send(sent, eventId);
    if (unknownFrames) this.#send({ type: 'response.something.new', response_id: response.id });
    if (response.isOver) this.#afterResponse();
    return frame;
  }

  /** Makes an item of a response part of the conversation, or what it has come to. */
  #keep(frame: OpenAiFrame, response: ActiveResponse): OpenAiFrame {
    const item = recordIn(frame, 'item');
    if (item === undefined || !frame.type.startsWith('conversation.item.')) {
      if (frame.type.endsWith('audio.delta')) this.#audioWasSent = true;
      return frame;
    }
    const id = String(item.id);
    if (frame.type === 'conversation.item.added') {
      const previous = this.#items.at(-1)?.item.id ?? null;
      this.#items.push({ item, audioMs: 0 });
      return { ...frame, previous_item_id: previous };
    }
    const kept = this.#kept(id);
    if (kept !== undefined) {
      kept.item = item;
      kept.audioMs = response.audioMsOf(id);
    }
    return { ...frame, previous_item_id: null };
  }

  #afterResponse(): void {
    this.#send({
      type: 'rate_limits.updated',
      rate_limits: [{ name: 'tokens', limit: 40_000, remaining: 39_000, reset_seconds: 1 }],
    });
    const acks = this.#heldAcks;
    this.#heldAcks = [];
    for (const frames of acks) for (const frame of frames) this.#send(frame);
  }

  #heard(heard: readonly Heard[], transcript?: string): void {
    const detection = this.#detection() ?? {};
    for (const { type, atMs } of heard) {
      if (type === 'speech_started') {
        this.#speechItem = this.#nextId('item');
        const place = { audio_start_ms: atMs, item_id: this.#speechItem };
        this.#send({ type: 'input_audio_buffer.speech_started', ...place });
        if (detection.interrupt_response !== false) this.#cut('turn_detected');
      } else {
        const place = { audio_end_ms: atMs, item_id: this.#speechItem };
        this.#send({ type: 'input_audio_buffer.speech_stopped', ...place });
        this.#commitSpeech(this.#speechItem, transcript);
        if (detection.create_response !== false && this.#response === undefined) this.respond();
      }
    }
  }

  #commitSpeech(id: string, transcript: string | undefined): void {
    const previous = this.#items.at(-1)?.item.id ?? null;
    const content = [{ type: 'input_audio', transcript: null }];
    const item = { id, type: 'message', status: 'completed', role: 'user', content };
    this.#bufferedBytes = 0;
    this.#items.push({ item, audioMs: 0 });
    this.#send({ type: 'input_audio_buffer.committed', previous_item_id: previous, item_id: id });
    this.#send({ type: 'conversation.item.added', previous_item_id: previous, item });
    this.#send({ type: 'conversation.item.done', previous_item_id: previous, item });
    if (transcript === undefined) return;
    const name = 'conversation.item.input_audio_transcription';
    for (const delta of transcript.match(/\s*\S+/g) ?? []) {
      this.#send({ type: `${name}.delta`, item_id: id, content_index: 0, delta });
    }
    this.#send({ type: `${name}.completed`, item_id: id, content_index: 0, transcript });
  }

  #refuse(fault: ClientFault, eventId: string | null): void {
    if (fault !== this.#refuseSetUp) this.violations.push(fault.message);
    this.error(fault, eventId);
  }

  #send(frame: OpenAiFrame, eventId = this.#nextId('event')): void {
    const shown = inDialect(this.#options.habits?.sparse === true ? sparse(frame) : frame, this.#dialect);
    if (shown === undefined) return;
    const { type, ...rest } = shown;
    this.connection.sendJson({ type, event_id: eventId, ...rest });
  }

  #detection(): JsonRecord | undefined {
    const audio = recordIn(this.#session, 'audio');
    const input = audio && recordIn(audio, 'input');
    const detection = (input && recordIn(input, 'turn_detection')) ?? recordIn(this.#session, 'turn_detection');
    return detection === undefined || detection.type === null ? undefined : detection;
  }

  #newEar(): Ear {
    const silence = Number(this.#detection()?.silence_duration_ms ?? 200);
    const audio = recordIn(this.#session, 'audio');
    const input = audio && recordIn(audio, 'input');
    const format = input && recordIn(input, 'format');
    return new Ear(format === undefined || format.type === 'audio/pcm' ? 48 : 8, silence);
  }

  #modality(): 'audio' | 'text' {
    const given = this.#session.output_modalities ?? this.#session.modalities;
    return Array.isArray(given) && !given.includes('audio') ? 'text' : 'audio';
  }

  #kept(id: string): KeptItem | undefined {
    return this.#items.find(({ item }) => item.id === id);
  }

  #nextId(prefix: string): string {
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    return `${prefix}_${count}`;
  }
}

function noItem(id: string): ClientFault {
  const message = `Item with item_id '${id}' not found.`;
  return { code: 'item_not_found', message, param: 'item_id' };
}

function isCall(item: JsonRecord, callId: string | undefined): boolean {
  return item.type === 'function_call' && item.call_id === callId;
}

function voiceOf(session: JsonRecord): unknown {
  const audio = recordIn(session, 'audio');
  const output = audio && recordIn(audio, 'output');
  const voice = output?.voice ?? session.voice;
  return isRecord(voice) ? voice.name : voice;
}
