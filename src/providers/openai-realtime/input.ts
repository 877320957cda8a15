import { InvalidInputError } from '../../contract/errors.js';
import type { BidiInput } from '../../contract/provider.js';
import { byteLength, isBase64 } from './base64.js';
import type { OpenAiAudioFormat } from './options.js';

/** The longest piece of audio that the service takes, in bytes. */
const longestAudio = 15 * 1024 * 1024;

/**
 * Checks what the host sends.
 * @throws {InvalidInputError} on what the service would not take, or would take for something else.
 */
export function assertInput(input: BidiInput, inputFormat: OpenAiAudioFormat): void {
  if (typeof input !== 'object' || input === null) throw new InvalidInputError('input', 'an object', input);
  if (input.type === 'text') {
    if (typeof input.text !== 'string') throw new InvalidInputError('input.text', 'text', input.text);
    return;
  }
  const { type, data, mediaType } = input;
  if (type !== 'audio') throw new InvalidInputError('input.type', 'text or audio', type);
  const pcm = inputFormat === 'audio/pcm' ? 'audio/pcm;rate=24000' : inputFormat;
  if (mediaType !== inputFormat && mediaType !== pcm) {
    throw new InvalidInputError('input.mediaType', `${pcm}, as the session was set up`, mediaType);
  }
  if (typeof data !== 'string' || !isBase64(data)) throw new InvalidInputError('input.data', 'base64', data);
  const bytes = byteLength(data);
  if (bytes === 0 || bytes > longestAudio) {
    throw new InvalidInputError('input.data', `1 … ${longestAudio} bytes of audio`, `${bytes} bytes`);
  }
  if (inputFormat === 'audio/pcm' && bytes % 2 !== 0) {
    throw new InvalidInputError('input.data', 'samples of 16 bits', `${bytes} bytes`);
  }
}

/**
 * Checks a time that the host gives.
 * @throws {InvalidInputError} on what is no number of milliseconds: a service refuses such a one, or stalls.
 */
export function assertMs(what: string, ms: unknown): void {
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) {
    throw new InvalidInputError(what, 'milliseconds from 0', ms);
  }
}
