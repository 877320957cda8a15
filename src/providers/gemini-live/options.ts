import type { Clock } from '../../contract/clock.js';
import { InvalidInputError } from '../../contract/errors.js';
import { isRecord } from '../../contract/wire-reading.js';
import type { ModelTraits } from './model-traits.js';

/** Options of {@link geminiLive} that say what a session is like. All of them are fixed once it is connected. */
export interface GeminiSessionOptions {
  /** What the model answers with. Default `audio`, and then its transcript comes as `text`; `text` is for the models that still can. */
  readonly modality?: 'audio' | 'text';
  /** The name of a prebuilt voice. Default: the service's. */
  readonly voice?: string;
  /** The language of speech, a BCP 47 tag. Default: the service's. */
  readonly language?: string;
  /** Whether the service writes down what the user (`input`) and the model (`output`) say. Default: both. */
  readonly transcripts?: { readonly input?: boolean; readonly output?: boolean };
  /** When the service takes the user to speak. Default: the service's. */
  readonly turnDetection?: GeminiTurnDetection;
  /** Whether the service shortens old context instead of ending the session when it is full. Default: no. */
  readonly compression?: boolean;
  /** Whether the service is asked for handles to resume with. Default: yes. */
  readonly resumable?: boolean;
  /** Names of tools that the model does not wait for. All others are blocking. Not on Vertex. */
  readonly nonBlocking?: readonly string[];
  /** When the model takes up the result of a tool that it does not wait for. Default: the service's, `when_idle`. */
  readonly scheduling?: 'interrupt' | 'when_idle' | 'silent';
  /** What is known of the model, where its name does not say it. */
  readonly traits?: Partial<ModelTraits>;
  /** Fields of the service's `setup` message that have no option here. They are laid over ours, objects key by key. */
  readonly setup?: Readonly<Record<string, unknown>>;
}

/** How the service finds out that the user speaks. */
export interface GeminiTurnDetection {
  readonly startSensitivity?: 'low' | 'high';
  readonly endSensitivity?: 'low' | 'high';
  /** How much speech is needed before its start counts, in milliseconds. */
  readonly prefixPaddingMs?: number;
  /** How much silence ends what the user says, in milliseconds. */
  readonly silenceMs?: number;
  /** Whether speech interrupts the model. Default: yes. */
  readonly interrupts?: boolean;
}

/** Something that the wire said which is of no interest to a conversation, and changed nothing. Never holds a key. */
export interface GeminiLiveDiagnostic {
  /** `malformed_frame`, `unknown_frame`, `repeated_call`, `frame_unreadable`. */
  readonly code: string;
  readonly detail: string;
}

/** What the driver waits for, and how long. Whole milliseconds from 1. */
export interface GeminiTimes {
  /** From the call of `connect` to the service's `setupComplete`. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** How long a result that was written has to stay unrefused before it is taken for accepted, where nothing shows that sooner. Default 500. */
  readonly quietMs?: number;
  /** How long a result may wait to be written to the network. Default 5,000. */
  readonly writeTimeoutMs?: number;
  /** From `close()` to the end of the connection, whatever the service does. Default 1,000. */
  readonly closeTimeoutMs?: number;
  /** Where time comes from. Default: the platform. */
  readonly clock?: Clock;
}

/** Longest time that a timer takes, in milliseconds. */
const longest = 2_147_483_647;

/**
 * A number of milliseconds that a host gave, or the default.
 * @throws {InvalidInputError} when it is none.
 */
export function milliseconds(what: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= longest) return value;
  throw new InvalidInputError(what, `whole milliseconds from 1 to ${longest}`, value);
}

/** @throws {InvalidInputError} at the first option that is not what the types say. */
export function checkSessionOptions(options: GeminiSessionOptions): void {
  const { turnDetection, transcripts, setup, traits, nonBlocking } = options;
  oneOf('modality', options.modality, ['audio', 'text']);
  oneOf('scheduling', options.scheduling, ['interrupt', 'when_idle', 'silent']);
  text('voice', options.voice);
  text('language', options.language);
  flag('compression', options.compression);
  flag('resumable', options.resumable);
  record('transcripts', transcripts);
  flag('transcripts.input', transcripts?.input);
  flag('transcripts.output', transcripts?.output);
  record('turnDetection', turnDetection);
  oneOf('turnDetection.startSensitivity', turnDetection?.startSensitivity, ['low', 'high']);
  oneOf('turnDetection.endSensitivity', turnDetection?.endSensitivity, ['low', 'high']);
  flag('turnDetection.interrupts', turnDetection?.interrupts);
  count('turnDetection.prefixPaddingMs', turnDetection?.prefixPaddingMs);
  count('turnDetection.silenceMs', turnDetection?.silenceMs);
  record('traits', traits);
  oneOf('traits.text', traits?.text, ['content', 'realtime']);
  oneOf('traits.history', traits?.history, ['initial', 'content']);
  flag('traits.declaresBlocking', traits?.declaresBlocking);
  record('setup', setup);
  if (nonBlocking !== undefined && !(Array.isArray(nonBlocking) && nonBlocking.every((n) => typeof n === 'string'))) {
    throw new InvalidInputError('nonBlocking', 'a list of names of tools', nonBlocking);
  }
}

function oneOf(what: string, value: unknown, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value as string)) {
    throw new InvalidInputError(what, allowed.join(' or '), value);
  }
}

function text(what: string, value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value === '')) {
    throw new InvalidInputError(what, 'a text that is not empty', value);
  }
}

function flag(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw new InvalidInputError(what, 'true or false', value);
}

function count(what: string, value: unknown): void {
  if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 0 && (value as number) <= longest)) {
    throw new InvalidInputError(what, `whole milliseconds from 0 to ${longest}`, value);
  }
}

function record(what: string, value: unknown): void {
  if (value !== undefined && !isRecord(value)) throw new InvalidInputError(what, 'an object', value);
}
