import type { BidiEvent } from '../../contract/provider.js';
import { Recent } from '../../contract/recent.js';
import type { WireDiagnosticCode, WireFact, WireMapping, WireStep } from '../../contract/wire-mapping.js';
import {
  idIn,
  isRecord,
  type JsonRecord,
  jsonText,
  kindOf,
  listIn,
  recordIn,
  textIn,
} from '../../contract/wire-reading.js';
import { type DialectTraits, isIgnored, type OpenAiRealtimeDialect, presentName, traitsOf } from './dialect.js';
import { failureText, readError } from './error-frames.js';
import { InputTranscripts } from './input-transcripts.js';
import { RepeatedDeltas } from './repeated-deltas.js';
import { configAfter, defaultConfig, expiresAtMs } from './session-config.js';
import { type ResponseOutcome, Turns } from './turns.js';
import { usageOf } from './usage.js';

/** Options of {@link openaiRealtimeMapping}. */
export interface OpenAiRealtimeMappingOptions {
  /** Which service speaks; default `openai`. Names of the beta and missing fields are understood in every dialect. */
  readonly dialect?: OpenAiRealtimeDialect;
}

/**
 * The mapping of the server events of OpenAI Realtime, and of the services that
 * speak its protocol, to the contract. One mapping serves one connection.
 * @throws {NotSupportedError} when there is no such dialect.
 */
export function openaiRealtimeMapping(options: OpenAiRealtimeMappingOptions = {}): WireMapping {
  return new RealtimeMapping(traitsOf(options.dialect ?? 'openai'));
}

const noEvents: readonly BidiEvent[] = [];
const noFacts: readonly WireFact[] = [];
const nothing: WireStep = { events: noEvents, facts: noFacts };

/** The rules of turns stand in `turns.ts` (T1–T6), those of every mapping in the port (W1–W5). */
export class RealtimeMapping implements WireMapping {
  readonly acknowledges = true;
  readonly #traits: DialectTraits;
  readonly #turns = new Turns();
  readonly #transcripts = new InputTranscripts();
  readonly #deltas = new RepeatedDeltas();
  /** Calls that were given. A session itself ends long before this many could be open or forgotten. */
  readonly #calls = new Recent<true>(65_536);
  #config = defaultConfig;
  #unnamed = 0;

  constructor(traits: DialectTraits) {
    this.#traits = traits;
  }

  frame(data: unknown): WireStep {
    if (!isRecord(data)) return malformed(`expected a JSON object, found ${kindOf(data)}`);
    const type = idIn(data, 'type');
    if (type === undefined) return malformed('expected a string `type`, found none');
    const name = presentName(type);
    switch (name) {
      case 'response.output_audio.delta':
        return this.#output(name, data, 'audio');
      case 'response.output_text.delta':
      case 'response.output_audio_transcript.delta':
        return this.#output(name, data, 'text');
      case 'response.created':
        return this.#responseCreated(data);
      case 'response.output_item.done':
        return this.#itemDone(data);
      case 'response.done':
        return this.#responseDone(data);
      case 'input_audio_buffer.speech_started':
        return this.#speechStarted();
      case 'conversation.item.input_audio_transcription.delta':
      case 'conversation.item.input_audio_transcription.updated':
      case 'conversation.item.input_audio_transcription.completed':
        return this.#transcript(name, data);
      case 'conversation.item.input_audio_transcription.failed':
        return facts(diagnostic('transcription_failed', readError(data).message));
      case 'conversation.item.added':
      case 'conversation.item.done':
        return acknowledgement(name, data);
      case 'session.created':
      case 'session.updated':
        return this.#session(name, data);
      case 'error':
        return this.#error(data);
      default:
        return isIgnored(name) ? nothing : facts(diagnostic('unknown_frame', name.slice(0, 100)));
    }
  }

  /** This protocol says when a turn is over, so nothing is ever held. */
  release(): WireStep {
    return nothing;
  }

  /** Whether the service cuts its output by itself when the user begins to speak. */
  get interruptsOnSpeech(): boolean {
    return this.#config.interruptsResponse;
  }

  /** The host stops the far side, or the user speaks over what still plays: nothing more of the open turn is given. Whether one was open. */
  stop(): boolean {
    return this.#turns.stop();
  }

  /** A response that was stopped before it began has begun: nothing of it is given. */
  discard(responseId: string): void {
    this.#turns.discard(responseId);
  }

  #session(name: string, data: JsonRecord): WireStep {
    // xAI leaves out what did not change, so an empty session is no fault.
    const session = recordIn(data, 'session') ?? {};
    this.#config = configAfter(this.#config, session);
    const type = name === 'session.created' ? 'opened' : 'ready';
    const expires = expiresAtMs(session);
    return facts(expires === undefined ? { type } : { type, expiresAtMs: expires });
  }

  #responseCreated(data: JsonRecord): WireStep {
    const response = recordIn(data, 'response') ?? {};
    const id = responseIdIn(data, response);
    if (id === undefined) return malformed('response.created: expected a response id, found none');
    const outOfBand = this.#traits.nullConversationIsOutOfBand && response.conversation_id === null;
    if (!this.#turns.begin(id, outOfBand)) return nothing;
    return facts(opened(id, response.metadata));
  }

  #output(name: string, data: JsonRecord, kind: 'text' | 'audio'): WireStep {
    const delta = textIn(data, 'delta');
    if (delta === undefined) return malformed(`${name}: expected a string \`delta\`, found ${kindOf(data.delta)}`);
    const eventId = idIn(data, 'event_id');
    if (delta === '' || (eventId !== undefined && this.#deltas.isRepeat(eventId, name, delta))) return nothing;
    const [id, began] = this.#responseOf(data);
    if (!this.#turns.output(id)) return began;
    const event: BidiEvent =
      kind === 'text'
        ? { type: 'text', text: delta }
        : { type: 'audio', data: delta, mediaType: this.#config.outputMediaType };
    return { events: [event], facts: began.facts };
  }

  #itemDone(data: JsonRecord): WireStep {
    const item = recordIn(data, 'item');
    if (item === undefined) return malformed('response.output_item.done: expected an `item`, found none');
    if (item.type !== 'function_call' || item.status !== 'completed') return nothing;
    const callId = idIn(item, 'call_id');
    const name = idIn(item, 'name');
    if (callId === undefined || name === undefined) {
      return malformed('response.output_item.done: expected a function_call with `call_id` and `name`');
    }
    const text = argumentsOf(item.arguments);
    if (text === undefined) return malformed('response.output_item.done: expected `arguments` that are JSON text');
    // Before the turn hears of it: a repeat is no output, and opens none.
    if (this.#calls.has(callId)) return facts(diagnostic('repeated_call', callId));
    const [id, began] = this.#responseOf(data);
    if (!this.#turns.call(id)) return also(began, { type: 'call_dropped', id: callId, name });
    this.#calls.set(callId, true);
    return { events: [{ type: 'tool_call', id: callId, name, arguments: text }], facts: began.facts };
  }

  #responseDone(data: JsonRecord): WireStep {
    const response = recordIn(data, 'response');
    const id = responseIdIn(data, response) ?? this.#turns.latest();
    if (id === undefined) return malformed('response.done: expected a response id, found none');
    const status = (response && idIn(response, 'status')) ?? 'completed';
    const details = response && recordIn(response, 'status_details');
    const reason = details ? idIn(details, 'reason') : response && idIn(response, 'status_details');
    const outcome = outcomeOf(status, reason);
    const began = this.#turns.begin(id, false);
    const verdict = this.#turns.finish(id, outcome, response !== undefined && hasCalls(response));
    if (verdict === 'repeated') return nothing;

    const events: BidiEvent[] = [];
    const usage = usageOf(data, response);
    if (usage !== undefined) events.push(usage);
    if (verdict === 'turn_complete' && outcome === 'failed') {
      events.push({ type: 'error', message: failureText(status, details, reason) });
    }
    if (verdict === 'turn_complete' || verdict === 'interrupted') events.push({ type: verdict });
    const closed: WireFact = { type: 'response_closed', id, status };
    return { events, facts: began ? [opened(id, undefined), closed] : [closed] };
  }

  #speechStarted(): WireStep {
    const interrupts = this.#config.interruptsResponse && this.#turns.interrupt();
    return { events: interrupts ? [{ type: 'interrupted' }] : noEvents, facts: [{ type: 'speech_started' }] };
  }

  #transcript(name: string, data: JsonRecord): WireStep {
    const key = name.endsWith('.delta') ? 'delta' : 'transcript';
    const text = textIn(data, key);
    if (text === undefined) return malformed(`${name}: expected a string \`${key}\`, found ${kindOf(data[key])}`);
    const itemId = idIn(data, 'item_id') ?? '';
    let event: BidiEvent | undefined;
    if (name.endsWith('.completed')) event = this.#transcripts.completed(itemId, text);
    else if (name.endsWith('.updated')) event = this.#transcripts.snapshot(itemId, text);
    else {
      const eventId = idIn(data, 'event_id');
      if (eventId !== undefined && this.#deltas.isRepeat(eventId, name, text)) return nothing;
      event = this.#transcripts.piece(itemId, text);
    }
    return event === undefined ? nothing : { events: [event], facts: noFacts };
  }

  #error(data: JsonRecord): WireStep {
    const fact = readError(data);
    // A refusal is told by the `sendToolResult` it rejects, unless the call is none that was given.
    const told = fact.treatment === 'refused' ? fact.callId !== undefined && this.#calls.has(fact.callId) : false;
    if (fact.treatment === 'swallowed' || fact.treatment === 'conflict' || told) return facts(fact);
    return { events: [{ type: 'error', message: fact.message }], facts: [fact] };
  }

  /** The response that a frame is about, and the fact that it began, if this frame is the first that is seen of it. */
  #responseOf(data: JsonRecord): readonly [id: string, began: WireStep] {
    const id = responseIdIn(data, undefined) ?? this.#turns.latest() ?? `unnamed-${++this.#unnamed}`;
    return this.#turns.begin(id, false) ? [id, facts(opened(id, undefined))] : [id, nothing];
  }
}

function responseIdIn(frame: JsonRecord, response: JsonRecord | undefined): string | undefined {
  return (response && idIn(response, 'id')) ?? idIn(frame, 'response_id');
}

/** A cut by the user is reported as `cancelled`, and by some servers as `incomplete`; the reason tells. */
function outcomeOf(status: string, reason: string | undefined): ResponseOutcome {
  if (status === 'cancelled' || status === 'canceled' || reason === 'turn_detected') return 'interrupted';
  return status === 'incomplete' || status === 'failed' ? 'failed' : 'completed';
}

function hasCalls(response: JsonRecord): boolean {
  return listIn(response, 'output').some((item) => isRecord(item) && item.type === 'function_call');
}

/** Arguments as the model wrote them; for a tool without parameters some models write nothing. */
function argumentsOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return '{}';
  if (typeof value !== 'string') return jsonText(value);
  return value.trim() === '' ? '{}' : value;
}

function acknowledgement(name: string, data: JsonRecord): WireStep {
  const item = recordIn(data, 'item');
  if (item === undefined) return malformed(`${name}: expected an \`item\`, found none`);
  const fact: { type: 'acknowledged'; itemId?: string; callId?: string } = { type: 'acknowledged' };
  const itemId = idIn(item, 'id');
  const callId = item.type === 'function_call_output' ? idIn(item, 'call_id') : undefined;
  if (itemId !== undefined) fact.itemId = itemId;
  if (callId !== undefined) fact.callId = callId;
  return facts(fact);
}

function opened(id: string, metadata: unknown): WireFact {
  return metadata === undefined || metadata === null
    ? { type: 'response_opened', id }
    : { type: 'response_opened', id, metadata };
}

function diagnostic(code: WireDiagnosticCode, detail: string): WireFact {
  return { type: 'diagnostic', code, detail };
}

function malformed(detail: string): WireStep {
  return facts(diagnostic('malformed_frame', detail));
}

function facts(fact: WireFact): WireStep {
  return { events: noEvents, facts: [fact] };
}

function also(step: WireStep, fact: WireFact): WireStep {
  return { events: step.events, facts: step.facts.concat(fact) };
}
