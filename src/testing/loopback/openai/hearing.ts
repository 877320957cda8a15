/** What the service hears in the audio that is appended: a crude ear, which takes loud for speech and the rest for silence. */

/** What an ear noticed, with the time since the first audio. */
export type Heard =
  | { readonly type: 'speech_started'; readonly atMs: number }
  | { readonly type: 'speech_stopped'; readonly atMs: number };

/** Samples of 16 bits louder than this are speech. */
const loud = 3000;

export class Ear {
  #totalMs = 0;
  #silentMs = 0;
  #speaks = false;

  constructor(
    readonly bytesPerMs: number,
    readonly silenceMs: number,
  ) {}

  get totalMs(): number {
    return this.#totalMs;
  }

  get speaks(): boolean {
    return this.#speaks;
  }

  /** Takes a piece of audio as it was appended: base64. */
  takes(audio: string): Heard[] {
    const bytes = Buffer.from(audio, 'base64');
    const ms = bytes.length / this.bytesPerMs;
    const startedAt = this.#totalMs;
    this.#totalMs += ms;
    if (this.bytesPerMs === 48 && isLoud(bytes)) {
      this.#silentMs = 0;
      return this.starts(startedAt);
    }
    this.#silentMs += ms;
    return this.#silentMs >= this.silenceMs ? this.stops() : [];
  }

  starts(atMs = this.#totalMs): Heard[] {
    if (this.#speaks) return [];
    this.#speaks = true;
    return [{ type: 'speech_started', atMs: Math.floor(atMs) }];
  }

  stops(): Heard[] {
    if (!this.#speaks) return [];
    this.#speaks = false;
    return [{ type: 'speech_stopped', atMs: Math.floor(this.#totalMs) }];
  }
}

function isLoud(bytes: Buffer): boolean {
  for (let at = 0; at + 1 < bytes.length; at += 2) if (Math.abs(bytes.readInt16LE(at)) > loud) return true;
  return false;
}

/** Speech, or silence, of so many milliseconds: PCM of 16 bits at 24 kHz, as base64. */
export function pcm(ms: number, kind: 'speech' | 'silence'): string {
  const samples = Math.round(ms * 24);
  const bytes = Buffer.alloc(samples * 2);
  if (kind === 'speech') {
    for (let at = 0; at < samples; at++) bytes.writeInt16LE(at % 2 === 0 ? 12_000 : -12_000, at * 2);
  }
  return bytes.toString('base64');
}
