import { countIn, idIn, type JsonRecord, recordIn } from '../../contract/wire-reading.js';

/** What the mapping has to know of how the session is set up. */
export interface SessionConfig {
  /** Media type of the audio that the service sends. */
  readonly outputMediaType: string;
  /** Whether the service itself cuts its response when the user begins to speak. */
  readonly interruptsResponse: boolean;
}

export const defaultConfig: SessionConfig = { outputMediaType: 'audio/pcm;rate=24000', interruptsResponse: true };

/** The config after a `session.created` or `session.updated`, which may leave out what did not change. */
export function configAfter(config: SessionConfig, session: JsonRecord): SessionConfig {
  return {
    outputMediaType: outputMediaType(session) ?? config.outputMediaType,
    interruptsResponse: interruptsResponse(session) ?? config.interruptsResponse,
  };
}

/** When the service will end the session, in milliseconds since the epoch; the wire has seconds. */
export function expiresAtMs(session: JsonRecord): number | undefined {
  const seconds = countIn(session, 'expires_at');
  return seconds === undefined ? undefined : seconds * 1000;
}

function outputMediaType(session: JsonRecord): string | undefined {
  const output = audioPart(session, 'output');
  const format = output && recordIn(output, 'format');
  const type = format && idIn(format, 'type');
  if (format && type !== undefined) {
    const rate = countIn(format, 'rate');
    return rate === undefined ? namedFormat(type) : `${type};rate=${rate}`;
  }
  const beta = idIn(session, 'output_audio_format');
  return beta === undefined ? undefined : betaFormat(beta);
}

function namedFormat(type: string): string {
  return type === 'audio/pcm' ? defaultConfig.outputMediaType : type;
}

/** `pcm16`, `pcm16_8000hz`, `g711_ulaw` …; a name that says no format (xAI: "not specified") gives nothing. */
function betaFormat(name: string): string | undefined {
  if (name === 'g711_ulaw') return 'audio/pcmu';
  if (name === 'g711_alaw') return 'audio/pcma';
  const pcm = /^pcm16(?:[-_](\d{4,6})hz)?$/.exec(name);
  return pcm === null ? undefined : `audio/pcm;rate=${pcm[1] ?? '24000'}`;
}

function interruptsResponse(session: JsonRecord): boolean | undefined {
  const input = audioPart(session, 'input');
  const detection = (input && recordIn(input, 'turn_detection')) ?? recordIn(session, 'turn_detection');
  const value = detection?.interrupt_response;
  return typeof value === 'boolean' ? value : undefined;
}

function audioPart(session: JsonRecord, part: 'input' | 'output'): JsonRecord | undefined {
  const audio = recordIn(session, 'audio');
  return audio && recordIn(audio, part);
}
