/** When the service takes the user to speak: by how loud the audio is, measured in the time of the audio itself. */
export class VoiceActivity {
  #speaking = false;
  #silentMs = 0;
  #heardMs = 0;

  constructor(readonly silenceMs: number) {}

  get speaking(): boolean {
    return this.#speaking;
  }

  /** Milliseconds of speech of the stretch that goes on, or went on last. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Takes PCM, 16 bits a sample, little-endian: what it begins, what it ends, or nothing. */
  take(pcm: Buffer, rate: number): 'start' | 'end' | undefined {
    const samples = Math.floor(pcm.length / 2);
    const ms = (samples / rate) * 1000;
    let loudness = 0;
    for (let sample = 0; sample < samples; sample++) loudness += Math.abs(pcm.readInt16LE(sample * 2));
    const loud = samples > 0 && loudness / samples > 500;
    if (loud) {
      this.#silentMs = 0;
      const begins = !this.#speaking;
      if (begins) this.#heardMs = 0;
      this.#heardMs += ms;
      this.#speaking = true;
      return begins ? 'start' : undefined;
    }
    if (!this.#speaking) return undefined;
    this.#silentMs += ms;
    return this.#silentMs >= this.silenceMs ? this.end() : undefined;
  }

  /** The stream ends: so does what was being said. */
  end(): 'end' | undefined {
    if (!this.#speaking) return undefined;
    this.#speaking = false;
    this.#silentMs = 0;
    return 'end';
  }
}
