import type { Clock } from '../../../contract/clock.js';
import type { JsonRecord } from '../../../contract/wire-reading.js';

/** What the fake's model does with one response. */
export interface OpenAiReply {
  /** What it says: text, or speech with this transcript. */
  readonly text?: string;
  /** How long the speech is, in an audio session. Default: 250 ms for each four words. */
  readonly audioMs?: number;
  /** The calls it makes, after what it says. */
  readonly calls?: readonly OpenAiScriptedCall[];
  /** How the response ends. Default `completed`. */
  readonly ending?: OpenAiReplyEnding;
}

/** A call that the fake's model makes. */
export interface OpenAiScriptedCall {
  readonly name: string;
  /** As the model writes it: JSON text with whatever blanks, or nothing. Default `{}`. */
  readonly arguments?: string;
  /** Default: an id of the fake's making. */
  readonly callId?: string;
}

/** How a response ends that is not cut. */
export type OpenAiReplyEnding =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** What a reply is asked for. */
export interface OpenAiReplyRequest {
  /** How many responses there were before, on this connection. */
  readonly index: number;
  /** Who asked: a `response.create` of the client, or the end of what the user said. */
  readonly by: 'client' | 'speech';
  /** The conversation as it stands. */
  readonly items: readonly JsonRecord[];
}

/** What goes wrong when a client connects. */
export type OpenAiConnectFault =
  /** The upgrade is answered by this status, and an error of this message. */
  | { readonly type: 'refuse'; readonly status: number; readonly message?: string }
  /** The upgrade is never answered. */
  | { readonly type: 'hang' }
  /** The connection is made and nothing is ever said. */
  | { readonly type: 'silence' }
  /** The connection is made, and an error is all that comes. */
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The connection is made and closed. */
  | { readonly type: 'close'; readonly code: number; readonly reason: string }
  /** The connection is made and cut. */
  | { readonly type: 'cut' }
  /** The greeting comes, and the set-up is never answered. */
  | { readonly type: 'no_set_up' }
  /** The greeting comes, and the set-up is answered by an error. */
  | { readonly type: 'refuse_set_up'; readonly code: string; readonly message: string };

/** How the fake behaves where the real service has been seen to behave in several ways. */
export interface OpenAiHabits {
  /** When an item of the client is acknowledged: at once; only when no response is active; never. Default `now`. */
  readonly acknowledge?: 'now' | 'after_response' | 'never';
  /** Whether the refusal of a second response says which message it answers. Default yes. */
  readonly conflictNamesMessage?: boolean;
  /** How many more deltas come of a response after it was cancelled. Default 0. */
  readonly stragglers?: number;
  /** Sends every frame of a response twice. */
  readonly repeats?: boolean;
  /** Sends frames of types that nobody knows in between. */
  readonly unknownFrames?: boolean;
  /** Leaves out the fields that a client can do without. */
  readonly sparse?: boolean;
}

/** Options of {@link openaiLoopback}. */
export interface OpenAiLoopbackOptions {
  readonly dialect?: 'openai' | 'azure' | 'azure-voice-live' | 'xai';
  /** What the model says and calls; nothing means that it says `ok`. */
  readonly reply?: (request: OpenAiReplyRequest) => OpenAiReply | undefined;
  /** Keys that are good. Default: every one. */
  readonly keys?: readonly string[];
  /** Models that there are. Default: every one. */
  readonly models?: readonly string[];
  /** What goes wrong for the connection with this number, from 0. */
  readonly connectFault?: (index: number) => OpenAiConnectFault | undefined;
  readonly habits?: OpenAiHabits;
  /**
   * When the frames of a response go out: all at once; one each `ms` by the clock; or when the test asks for them, by
   * `step` and `finish` of the session. Default `burst`.
   */
  readonly pace?: 'burst' | 'stepwise' | { readonly ms: number };
  /** How long a session may last. Default one hour. */
  readonly maxSessionMs?: number;
  /** Whether loud audio makes the service hear speech, as the real one does; else only the test says so. Default yes. */
  readonly hearing?: boolean;
  /** Default: the platform's. */
  readonly clock?: Clock;
}

/** A frame of the service before it has its `event_id`. */
export type OpenAiFrame = { readonly type: string } & JsonRecord;
