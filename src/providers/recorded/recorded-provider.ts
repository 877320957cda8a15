import { NotSupportedError } from '../../contract/errors.js';
import type { BidiConnectParams, BidiProvider, BidiSession } from '../../contract/provider.js';
import type { WireMapping } from '../../contract/wire-mapping.js';
import { play, RecordedSession } from './recorded-session.js';
import type { RecordedFrame } from './recording.js';

/** Options of {@link recordedProvider}. */
export interface RecordedProviderOptions {
  /** What `parseRecording` gave. Frames of the client are skipped. */
  readonly frames: readonly RecordedFrame[];
  /** Makes the mapping of the recorded service; asked once for each connection. */
  readonly mapping: () => WireMapping;
  /** Default `recorded`. */
  readonly id?: string;
}

/**
 * A far side that says what it said when it was recorded. Every connection
 * plays the recording from its start, in order and without waiting; at its end
 * the stream of events ends, with a `closed` event only where a close frame was
 * recorded. `connect` rejects with the reason of a signal that is aborted, and
 * with a `NotSupportedError` when it is asked to resume an earlier session.
 */
export function recordedProvider(options: RecordedProviderOptions): BidiProvider {
  return {
    id: options.id ?? 'recorded',
    async connect(params: BidiConnectParams): Promise<BidiSession> {
      if (params.signal?.aborted === true) throw params.signal.reason;
      if (params.resume !== undefined) throw new NotSupportedError('resuming a session', 'a recording');
      return new RecordedSession(play(options.frames, options.mapping()));
    },
  };
}
