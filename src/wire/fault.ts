/**
 * What is wrong with a frame, before its place in the source is known. Thrown
 * within the decoders and never out of them: what a host gets is a
 * `BadFrameError`, which adds the place.
 */
export class Fault {
  constructor(
    readonly expected: string,
    readonly found: string,
  ) {}
}
