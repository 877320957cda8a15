import type { SessionId, TurnId } from './ids.js';

/** The conversation as the host sees it: what `session.events()` and `session.events$` deliver. */
export type BidiTurnEvent =
  | { readonly type: 'text'; readonly sessionId: SessionId; readonly turnId: TurnId; readonly text: string }
  | {
      readonly type: 'audio';
      readonly sessionId: SessionId;
      readonly turnId: TurnId;
      readonly data: string;
      readonly mediaType: string;
    }
  /** A call was admitted. Exactly one of `tool_completed`, `tool_abandoned`, or an `error` that names it follows, unless the session ends first. */
  | {
      readonly type: 'tool_started';
      readonly sessionId: SessionId;
      readonly turnId: TurnId;
      readonly toolUseId: string;
      readonly toolName: string;
    }
  /** The far side accepted the result. `output` equals what was sent. */
  | {
      readonly type: 'tool_completed';
      readonly sessionId: SessionId;
      readonly turnId: TurnId;
      readonly toolUseId: string;
      readonly toolName: string;
      readonly output: string;
      readonly isError: boolean;
    }
  /** The call will not be answered: interrupted or withdrawn before its commit point. Its code may run on. */
  | {
      readonly type: 'tool_abandoned';
      readonly sessionId: SessionId;
      readonly turnId: TurnId;
      readonly toolUseId: string;
      readonly toolName: string;
    }
  | { readonly type: 'turn_complete'; readonly sessionId: SessionId; readonly turnId: TurnId }
  | { readonly type: 'interrupted'; readonly sessionId: SessionId; readonly turnId: TurnId }
  | { readonly type: 'error'; readonly sessionId: SessionId; readonly turnId: TurnId; readonly message: string }
  | { readonly type: 'closed'; readonly sessionId: SessionId; readonly turnId: TurnId; readonly reason?: string };
