import type { BidiEvent } from '../../contract/provider.js';
import { Recent } from '../../contract/recent.js';
import type { WireDiagnosticCode, WireFact, WireHold, WireMapping, WireStep } from '../../contract/wire-mapping.js';
import { idIn, isRecord, type JsonRecord, jsonText, kindOf, listIn, textIn } from '../../contract/wire-reading.js';
import { isBase64 } from './base64.js';
import { durationMs } from './duration.js';
import { InputTranscript } from './input-transcript.js';
import { camelKeys } from './keys.js';
import { Turns } from './turns.js';
import { usageOf } from './usage.js';

/** Options of {@link geminiLiveMapping}. */
export interface GeminiLiveMappingOptions {
  /** Names of the tools that were declared `NON_BLOCKING`: the model goes on while they run, so a turn may end right after their call. */
  readonly nonBlocking?: readonly string[];
}

/** The mapping of Gemini Live, which can also be told that the host interrupts. */
export interface GeminiLiveMapping extends WireMapping {
  /**
   * The host asks for the output to stop. The wire has no message that the service would have to answer, so the mapping
   * answers: it ends the turn as an `interrupted` of the service would (G1, G2), and what the service still says of it is dropped.
   */
  interrupt(): WireStep;
}

/** The mapping of the server messages of Gemini Live (Developer API and Vertex) to the contract. One mapping serves one connection. */
export function geminiLiveMapping(options: GeminiLiveMappingOptions = {}): GeminiLiveMapping {
  return new LiveMapping(options);
}

/** One step while it is made. */
interface Draft {
  readonly events: BidiEvent[];
  readonly facts: WireFact[];
  hold?: WireHold;
}

/** How long a `turnComplete` is held that may end only the first half of a turn, in milliseconds. */
const holdMs = 2000;

/** Top-level keys of a frame, in the order in which they are taken. */
const known = [
  'setupComplete',
  'serverContent',
  'toolCall',
  'toolCallCancellation',
  'usageMetadata',
  'goAway',
  'sessionResumptionUpdate',
  'error',
  'voiceActivity',
  'voiceActivityDetectionSignal',
] as const;

/** The rules of turns stand in `turns.ts` (G1–G4), those of every mapping in the port (W1–W5). */
class LiveMapping implements GeminiLiveMapping {
  /** There is no acknowledgement of a tool result on this wire. */
  readonly acknowledges = false;
  readonly #turns = new Turns();
  readonly #heard = new InputTranscript();
  readonly #calls = new Recent<true>(65_536);
  readonly #nonBlocking: ReadonlySet<string>;
  #holds = 0;
  #synthesised = 0;

  constructor(options: GeminiLiveMappingOptions) {
    this.#nonBlocking = new Set(options.nonBlocking);
  }

  /** One frame may hold several messages. They are taken in a fixed order: content, transcripts, calls, withdrawals, `interrupted`, usage, `turnComplete`. */
  frame(data: unknown): WireStep {
    const draft: Draft = { events: [], facts: [] };
    if (!isRecord(data)) {
      note(draft, 'malformed_frame', `expected a JSON object, found ${kindOf(data)}`);
      return draft;
    }
    const frame = camelKeys(data);
    if (!known.some((key) => key in frame)) note(draft, 'unknown_frame', Object.keys(frame).join(', ').slice(0, 100));

    if ('setupComplete' in frame) draft.facts.push({ type: 'ready' });
    const content = message(draft, frame, 'serverContent');
    const call = message(draft, frame, 'toolCall');
    const cancellation = message(draft, frame, 'toolCallCancellation');
    const usage = message(draft, frame, 'usageMetadata');
    const away = message(draft, frame, 'goAway');
    const resumption = message(draft, frame, 'sessionResumptionUpdate');

    if (content) {
      this.#parts(draft, content);
      this.#transcripts(draft, content);
    }
    if (call) this.#toolCall(draft, call);
    if (cancellation) this.#cancellation(draft, cancellation);
    if (content?.generationComplete === true) this.#turns.generated();
    if (content?.interrupted === true && this.#turns.interrupted()) draft.events.push({ type: 'interrupted' });
    const counted = usage && usageOf(usage);
    if (counted) draft.events.push(counted);
    if (content?.turnComplete === true) this.#turnComplete(draft, content);
    if (away) this.#goAway(draft, away);
    if (resumption) draft.facts.push(handleOf(resumption));
    if ('error' in frame) error(draft, frame.error);
    return draft;
  }

  release(hold?: number): WireStep {
    const due = (hold === undefined || hold === this.#holds) && this.#turns.release();
    if (due) this.#heard.answered();
    return { events: due ? [{ type: 'turn_complete' }] : [], facts: [] };
  }

  interrupt(): WireStep {
    this.#turns.interrupted();
    return { events: [{ type: 'interrupted' }], facts: [] };
  }

  #parts(draft: Draft, content: JsonRecord): void {
    const turn = message(draft, content, 'modelTurn');
    if (turn === undefined) return;
    for (const value of listIn(turn, 'parts')) {
      if (!isRecord(value)) {
        note(draft, 'malformed_frame', `modelTurn.parts: expected an object, found ${kindOf(value)}`);
        continue;
      }
      const event = outputOf(draft, camelKeys(value));
      // Thoughts and code that the service runs itself are no output, but show that the model is at work.
      if (event === undefined) this.#turns.working();
      else if (this.#turns.content()) draft.events.push(event);
    }
  }

  #transcripts(draft: Draft, content: JsonRecord): void {
    const output = message(draft, content, 'outputTranscription');
    const said = output && idIn(output, 'text');
    if (said !== undefined && this.#turns.transcript()) draft.events.push({ type: 'text', text: said });
    const input = message(draft, content, 'inputTranscription');
    const heard = input && this.#heard.take(idIn(input, 'text') ?? '', input.finished === true);
    // a guess that the next guess or the transcript replaces: it is no piece, but shows that somebody speaks
    const guess = message(draft, content, 'interimInputTranscription');
    if (heard !== undefined || (guess && idIn(guess, 'text') !== undefined)) this.#turns.heard();
    if (heard !== undefined) draft.events.push(heard);
  }

  #toolCall(draft: Draft, toolCall: JsonRecord): void {
    if (!Array.isArray(toolCall.functionCalls)) note(draft, 'malformed_frame', 'toolCall: expected `functionCalls`');
    for (const value of listIn(toolCall, 'functionCalls')) {
      const call = isRecord(value) ? value : {};
      const name = idIn(call, 'name');
      const args = jsonText(call.args ?? {});
      if (name === undefined || args === undefined) {
        note(draft, 'malformed_frame', 'toolCall.functionCalls: expected a `name` and JSON `args`');
        continue;
      }
      const given = idIn(call, 'id');
      if (given !== undefined && this.#calls.has(given)) {
        note(draft, 'repeated_call', given);
        continue;
      }
      const id = given ?? this.#newId();
      if (given === undefined) draft.facts.push({ type: 'id_synthesised', callId: id });
      if (!this.#turns.call(id, !this.#nonBlocking.has(name))) {
        draft.facts.push({ type: 'call_dropped', id, name });
        continue;
      }
      this.#calls.set(id, true);
      draft.events.push({ type: 'tool_call', id, name, arguments: args });
    }
  }

  #newId(): string {
    for (;;) {
      const id = `call-without-id-${++this.#synthesised}`;
      if (!this.#calls.has(id)) return id;
    }
  }

  #cancellation(draft: Draft, cancellation: JsonRecord): void {
    const ids = listIn(cancellation, 'ids').filter((id) => typeof id === 'string' && id !== '') as string[];
    if (ids.length === 0) {
      note(draft, 'malformed_frame', 'toolCallCancellation: expected `ids`');
      return;
    }
    for (const id of ids) this.#turns.withdrawn(id);
    draft.events.push({ type: 'tool_call_cancelled', ids });
  }

  #turnComplete(draft: Draft, content: JsonRecord): void {
    const reason = idIn(content, 'turnCompleteReason');
    const failed = reason !== undefined && failures.test(reason);
    const stated = (reason !== undefined && !reason.endsWith('_UNSPECIFIED')) || content.waitingForInput === true;
    const verdict = this.#turns.complete(stated, failed);
    if (verdict === 'hold') draft.hold = { id: ++this.#holds, ms: holdMs };
    if (verdict !== 'give') return;
    this.#heard.answered();
    if (failed) draft.events.push({ type: 'error', message: `turn failed: ${reason}` });
    draft.events.push({ type: 'turn_complete' });
  }

  #goAway(draft: Draft, away: JsonRecord): void {
    const inMs = durationMs(away.timeLeft);
    if (inMs === undefined) note(draft, 'malformed_frame', 'goAway.timeLeft: expected a Duration such as "10s"');
    // The connection will be cut all the same; without a time it may be any moment.
    draft.events.push({ type: 'expiring', inMs: inMs ?? 0 });
  }
}

/** Reasons of a turn that ended in a failure; the others say only what the model expects next. */
const failures =
  /^(MALFORMED_FUNCTION_CALL|RESPONSE_REJECTED|MAX_REGENERATION_REACHED)$|PROHIBITED|SAFETY|UNSAFE|BLOCKLIST/;

/** What a part of the model's turn gives to the host. */
function outputOf(draft: Draft, part: JsonRecord): BidiEvent | undefined {
  if (part.thought === true) return undefined;
  const text = idIn(part, 'text');
  if (text !== undefined) return { type: 'text', text };
  const inline = part.inlineData;
  if (!isRecord(inline)) return undefined;
  const blob = camelKeys(inline);
  const { data } = blob;
  const mediaType = idIn(blob, 'mimeType') ?? 'audio/pcm;rate=24000';
  if (!mediaType.startsWith('audio/') || data === undefined || data === '') return undefined;
  if (isBase64(data)) return { type: 'audio', data, mediaType };
  note(draft, 'malformed_frame', 'inlineData.data: expected base64');
  return undefined;
}

/** Only a resumable handle is worth keeping; protobuf leaves out a `false`, so no word means no. */
function handleOf(update: JsonRecord): WireFact {
  const handle = update.resumable === true ? idIn(update, 'newHandle') : undefined;
  return handle === undefined ? { type: 'resumption' } : { type: 'resumption', handle };
}

function error(draft: Draft, value: unknown): void {
  const said = isRecord(value) ? textIn(value, 'message') : value;
  const message = typeof said === 'string' && said !== '' ? said : 'an error without a message';
  draft.facts.push({ type: 'error', message, treatment: 'surfaced' });
  draft.events.push({ type: 'error', message });
}

/** The object under `key` with its keys in camelCase. What is there and no object is noted. */
function message(draft: Draft, record: JsonRecord, key: string): JsonRecord | undefined {
  const value = record[key];
  if (isRecord(value)) return camelKeys(value);
  if (value !== undefined && value !== null) {
    note(draft, 'malformed_frame', `${key}: expected an object, found ${kindOf(value)}`);
  }
  return undefined;
}

function note(draft: Draft, code: WireDiagnosticCode, detail: string): void {
  draft.facts.push({ type: 'diagnostic', code, detail });
}
