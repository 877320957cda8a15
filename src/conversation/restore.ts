/**
 * What stands of a conversation whose process is gone: what was committed. A
 * transaction that was open is gone, and a request that was under way was cut
 * off, so that the same init resumes it.
 */
import { responseStreamStepper, type StreamPhase } from '../../machines/index.js';
import { ConversationError } from '../contract/errors.js';
import type { ConversationBegan } from '../contract/journal.js';
import { RequestEnd } from './request-end.js';
import { FoldState, type StreamState } from './state.js';

/** A conversation that goes on where another process left it: what `createConversation({ from })` takes. */
export interface RecoveredConversation {
  /** The actor id under which it was written, and will be. */
  readonly id: string;
  /** The rules that it lived by: mode, policies, how many diagnostics are kept. Those of the new life are the host's to choose. */
  readonly began: ConversationBegan;
  /** What was committed; `undefined` where the journal has not kept the inputs (its `payloads` were not `keep`). */
  readonly state: FoldState | undefined;
  /** Where the current or last request of the first stream stands: `truncated` where it was under way. */
  readonly phase: StreamPhase;
  /** Of what was committed. */
  readonly version: number;
  /** The greatest version that was given: the next one is greater. */
  readonly lastVersion: number;
  /** How many events of the first stream were read. */
  readonly position: number;
  /** The number of the last further stream that was read from. */
  readonly lastStream: number;
  /** The number of the last transaction. */
  readonly lastTransaction: number;
  /** The transactions that were open, by their actor ids, the outermost first: what was done in them is gone. */
  readonly openTransactions: readonly string[];
  /**
   * Effects of the host that were released and whose start is not recorded, in order: most likely they did not run, and nobody
   * runs them but the host. Those whose start is recorded ran, to whatever end.
   */
  readonly effectsNotRun: readonly RecordedHostEffect[];
}

/** An effect of the host, by the action that it belongs to. */
export interface RecordedHostEffect {
  /** 0 for the first. */
  readonly stream: number;
  /** Of its stream, from 0. */
  readonly event: number;
  /** Of its event, from 0. */
  readonly action: number;
}

/** The last committed state: no transaction is open, further streams are gone, and the first one's request was cut off if it was under way. */
export function restoreCommitted({ parts }: FoldState): FoldState {
  const { tree, bases, names, diverged, log, first } = parts;
  const committed = { tree: bases[0] ?? tree, levels: [], bases: [], owner: 0, names, diverged, log };
  return new FoldState({ ...committed, first: cutOff(first), others: new Map() });
}

function cutOff(stream: StreamState): StreamState {
  if (stream.snapshot.value !== 'streaming') return stream;
  return { ...stream, snapshot: responseStreamStepper.step(stream.snapshot, 'end_of_input').snapshot };
}

/** How the last request of the first stream ended, as far as a state still says; `undefined` where it has not ended. */
export function endOf({ parts, conversation }: FoldState): RequestEnd | undefined {
  const { tree, log, first } = parts;
  const { phase, conversationId, requestId, finished, interrupted } = conversation;
  if (phase === 'awaiting_init' || phase === 'streaming') return undefined;
  const since = log.list.slice(first.diagnosticsBefore);
  const diagnostics = Object.freeze(since.filter(({ stream = 0 }) => stream === 0));
  return new RequestEnd({ phase, conversationId, requestId, finished, message: '', interrupted, diagnostics }, tree);
}

/** What has failed the first stream, under `strict`; `undefined` for a stream that is read. */
export function failureOf({ parts, conversation }: FoldState): ConversationError | undefined {
  if (!parts.first.isHalted) return undefined;
  const last = conversation.diagnostics.findLast(({ stream = 0 }) => stream === 0);
  return new ConversationError(
    last ?? { code: 'halted', event: parts.first.events, detail: 'a diagnostic has failed the stream' },
  );
}
