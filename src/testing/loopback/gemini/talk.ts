import type { Clock } from '../../../contract/clock.js';
import { Generation, type Stage } from './generation.js';
import type { GeminiFarSide } from './options.js';
import { echo, type ScriptedCall, type ToolAnswer, type UserTurn } from './script.js';
import type { LiveSetup } from './setup.js';
import { VoiceActivity } from './voice-activity.js';

/** What a conversation needs of its connection. */
export interface Line {
  readonly clock: Clock;
  readonly options: GeminiFarSide;
  send(frame: unknown): void;
  close(code: number, reason: string): void;
  cut(): void;
  /** The client did what it must not: noted, and the connection is closed. */
  violation(reason: string, code?: number): void;
  /** What was said so far can be resumed under a new handle, or cannot at this moment. */
  resumable(yes: boolean): void;
}

type CallState = 'open' | 'answered' | 'withdrawn';

interface Call {
  /** As the wire has it; `undefined` where it has none. */
  readonly id: string | undefined;
  readonly name: string;
  readonly blocking: boolean;
  state: CallState;
}

/** An answer as the client sends it. */
export interface FunctionResponse {
  readonly id?: string;
  readonly name?: string;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly scheduling?: string;
  readonly willContinue?: boolean;
}

/**
 * The conversation of one session: when the model speaks, what cuts it, and what ends a turn.
 *
 * - T1 every turn that gave content ends in one `turnComplete`; a cut one in `interrupted` and then that
 * - T2 a cut turn says nothing more, and no `generationComplete`
 * - T3 a turn that is cut while it plays has said `generationComplete`
 * - T4 on Vertex a turn is completed at its blocking calls, and the answer is a turn of its own
 */
export class Talk implements Stage {
  /** What was said, turn by turn, history included. */
  readonly context: unknown[];
  readonly #line: Line;
  readonly #setup: LiveSetup;
  readonly #calls: Call[] = [];
  readonly #voice: VoiceActivity;
  #generation: Generation | undefined;
  /** Everything is said, and is being played. */
  #playing: unknown;
  /** The turn was completed at its calls (T4). */
  #half = false;
  /** Turns that begin when the model is idle. */
  readonly #waiting: UserTurn[] = [];
  #heard = 0;
  #counter = 0;

  constructor(line: Line, setup: LiveSetup, context: readonly unknown[]) {
    this.#line = line;
    this.#setup = setup;
    this.context = [...context];
    this.#voice = new VoiceActivity(setup.silenceMs);
  }

  /** Whether a turn is owed its `turnComplete`, or waits for answers. */
  get busy(): boolean {
    return this.#generation !== undefined || this.#playing !== undefined;
  }

  // What the client sends.

  content(turns: readonly unknown[], complete: boolean): void {
    this.context.push(...turns);
    this.interrupt();
    if (complete) this.#begin({ type: 'text', text: textsIn(turns), turns });
  }

  /** History before the conversation: nothing answers it. */
  seed(turns: readonly unknown[]): void {
    this.context.push(...turns);
  }

  text(text: string): void {
    this.context.push({ role: 'user', parts: [{ text }] });
    this.interrupt();
    this.#begin({ type: 'text', text, turns: [] });
  }

  audio(data: string, rate: number): void {
    const pcm = Buffer.from(data, 'base64');
    if (this.#setup.manualTurns) this.#heard += (pcm.length / 2 / rate) * 1000;
    else this.#activity(this.#voice.take(pcm, rate));
  }

  audioEnd(): void {
    this.#activity(this.#voice.end());
  }

  activityStart(): void {
    this.#heard = 0;
    if (this.#setup.interruptible) this.interrupt();
  }

  activityEnd(): void {
    this.#spoke(this.#heard);
  }

  answers(responses: readonly FunctionResponse[]): void {
    for (const response of responses) if (!this.#answer(response)) return;
  }

  // What happens to the model.

  /** The model is cut, if it speaks or waits: its blocking calls are withdrawn, its turn ends. */
  interrupt(): void {
    if (!this.busy) return;
    const { options, clock } = this.#line;
    const { withdrawal = 'before', stragglers = [] } = options;
    const half = this.#half;
    this.#generation?.stop();
    this.#generation = undefined;
    clock.clearTimeout(this.#playing);
    this.#playing = undefined;
    this.#half = false;
    const open = this.#calls.filter(({ state, blocking }) => state === 'open' && blocking);
    if (withdrawal === 'before') this.#withdraw(open);
    this.#line.send({ serverContent: { interrupted: true } });
    if (withdrawal === 'after') this.#withdraw(open);
    // What was completed at its calls owes nothing more (T4).
    if (half) return;
    for (const frame of stragglers) this.#line.send(frame);
    this.#complete();
  }

  /** The service takes calls back. */
  withdraw(...ids: readonly string[]): void {
    this.#withdraw(this.#calls.filter(({ id, state }) => id !== undefined && ids.includes(id) && state === 'open'));
  }

  end(): void {
    this.#generation?.stop();
    this.#line.clock.clearTimeout(this.#playing);
  }

  // What a turn of the model does (see Stage).

  say(text: string): void {
    const { speaks, transcribed } = this.#setup;
    this.context.push({ role: 'model', parts: [{ text }] });
    if (!speaks) {
      this.#output({ modelTurn: { role: 'model', parts: [{ text }] } });
      return;
    }
    const mimeType = this.#line.options.service === 'vertex' ? 'audio/pcm' : 'audio/pcm;rate=24000';
    const words = text.match(/\S+\s*/g) ?? [text];
    const half = Math.ceil(words.length / 2);
    for (const piece of [words.slice(0, half), words.slice(half)]) {
      if (piece.length === 0) continue;
      const said = piece.join('');
      if (transcribed) this.#output({ outputTranscription: { text: said } });
      this.#output({ modelTurn: { parts: [{ inlineData: { mimeType, data: speech(said) } }] } });
    }
  }

  think(text: string): void {
    this.#output({ modelTurn: { parts: [{ text, thought: true }] } });
  }

  send(frame: unknown): void {
    this.#line.send(frame);
  }

  call(calls: readonly ScriptedCall[]): readonly string[] {
    const vertex = this.#line.options.service === 'vertex';
    const made = calls.map(({ name, args = {}, id }) => {
      const wireId = id === null ? undefined : (id ?? `function-call-${++this.#counter}`);
      const blocking = this.#setup.tools.get(name)?.blocking ?? true;
      const call: Call = { id: wireId, name, blocking, state: 'open' };
      this.#calls.push(call);
      return { call, wire: wireId === undefined ? { name, args } : { name, args, id: wireId } };
    });
    this.#line.resumable(false);
    this.#line.send({ toolCall: { functionCalls: made.map(({ wire }) => wire) } });
    const awaited = made.filter(({ call }) => call.blocking);
    if (vertex && awaited.length > 0) {
      this.#line.send({ serverContent: { generationComplete: true } });
      this.#half = true;
      this.#complete();
    }
    return awaited.map(({ call }) => keyOf(call));
  }

  spoken(failure: string | undefined): void {
    this.#generation = undefined;
    const { clock, options } = this.#line;
    if (failure !== undefined) {
      this.#complete({ turnCompleteReason: failure });
      this.#next();
      return;
    }
    this.#line.send({ serverContent: { generationComplete: true } });
    const { playbackMs = 0 } = options;
    if (playbackMs === 0) this.#played();
    else this.#playing = clock.setTimeout(() => this.#played(), playbackMs);
  }

  close(code: number, reason: string): void {
    this.#line.close(code, reason);
  }

  cut(): void {
    this.#line.cut();
  }

  // Inside.

  #begin(turn: UserTurn): void {
    const { options, clock } = this.#line;
    const { model = echo, waitsForAll = true } = options;
    this.#half = false;
    this.#generation = new Generation(model(turn), this, clock, waitsForAll);
    this.#generation.start();
  }

  /** Content of the model: after the answers of a half turn it is a turn of its own. */
  #output(content: Readonly<Record<string, unknown>>): void {
    this.#half = false;
    this.#line.send({ serverContent: content });
  }

  #played(): void {
    this.#playing = undefined;
    this.#complete();
    this.#next();
  }

  #next(): void {
    if (this.busy) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
  }

  #complete(more: Readonly<Record<string, unknown>> = {}): void {
    const output = this.#line.options.service === 'vertex' ? 'candidatesTokenCount' : 'responseTokenCount';
    this.#line.send({
      serverContent: { turnComplete: true, ...more },
      usageMetadata: { promptTokenCount: 10, [output]: 5, totalTokenCount: 15 },
    });
    this.#line.resumable(!this.#half);
  }

  #activity(change: 'start' | 'end' | undefined): void {
    if (change === 'start' && this.#setup.interruptible) this.interrupt();
    if (change === 'end') this.#spoke(this.#voice.heardMs);
  }

  #spoke(ms: number): void {
    if (this.#setup.heard) this.#line.send({ serverContent: { inputTranscription: { text: `${Math.round(ms)} ms` } } });
    const turn: UserTurn = { type: 'audio', ms };
    if (this.busy) this.#waiting.push(turn);
    else this.#begin(turn);
  }

  /** Takes one answer; whether the connection stands. */
  #answer({ id, name = '', response, scheduling, willContinue }: FunctionResponse): boolean {
    const { options } = this.#line;
    const refuse = (reason: string, code = 1007) => {
      this.#line.violation(reason, code);
      return false;
    };
    if (response === undefined) return refuse('function_response.response: is required');
    const call = this.#calls.find((known) =>
      id === undefined ? known.id === undefined && known.name === name && known.state === 'open' : known.id === id,
    );
    if (call === undefined) return refuse('Requested entity was not found.', 1008);
    if (call.name !== name) return refuse(`function_response.name: expected ${call.name}, found ${name}`);
    if (call.state === 'answered') return refuse(`function_response.id: ${id} was answered before`);
    if (call.state === 'withdrawn') {
      // Not the client's fault: the answer may have been on its way.
      if (options.lateAnswers === 'refuse') this.#line.close(1008, 'Requested entity was not found.');
      return options.lateAnswers !== 'refuse';
    }
    const answer: ToolAnswer = { id: keyOf(call), name, response };
    if (!(willContinue === true && !call.blocking)) call.state = 'answered';
    this.context.push({ role: 'user', parts: [{ functionResponse: { id, name, response } }] });
    if (call.blocking) this.#generation?.answered(answer);
    else this.#unawaited(answer, scheduling);
    return true;
  }

  #unawaited(answer: ToolAnswer, scheduling = 'WHEN_IDLE'): void {
    if (scheduling === 'SILENT') return;
    if (scheduling === 'INTERRUPT') this.interrupt();
    const turn: UserTurn = { type: 'answers', answers: [answer] };
    if (this.busy) this.#waiting.push(turn);
    else this.#begin(turn);
  }

  #withdraw(calls: readonly Call[]): void {
    for (const call of calls) call.state = 'withdrawn';
    const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
    if (ids.length > 0) this.#line.send({ toolCallCancellation: { ids } });
  }
}

/** What a script knows a call by. */
function keyOf(call: Call): string {
  return call.id ?? `without an id: ${call.name}`;
}

function textsIn(turns: readonly unknown[]): string {
  const texts = turns.flatMap((turn) => (turn as { parts?: readonly { text?: string }[] }).parts ?? []);
  return texts.map(({ text = '' }) => text).join('');
}

/** Forty milliseconds of quiet sound that depend on the words. */
function speech(words: string): string {
  const pcm = Buffer.alloc(1920);
  for (let sample = 0; sample < 960; sample++) {
    const level = (words.codePointAt(sample % words.length) ?? 0) % 128;
    pcm.writeInt16LE(sample % 2 === 0 ? level : -level, sample * 2);
  }
  return pcm.toString('base64');
}
