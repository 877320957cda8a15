/** A recording's events on their way into a conversation. */
import type { ResponseEvent } from '../../../proto/index.js';
import { ConversationError } from '../../contract/errors.js';
import { type ConversationDiagnostic, failingCodes } from '../../conversation/index.js';
import type { Conversation, ConversationStream } from '../conversation/index.js';

/** Where events go. */
export interface Target {
  /** How many events wait there. */
  readonly waiting: number;
  /** Whether the request of the recording can still be written. */
  readonly isOpen: boolean;
  push(event: ResponseEvent): void;
  end(): void;
}

const failing: ReadonlySet<string> = new Set(failingCodes);

/**
 * A request of the conversation's own stream, or of a further one where a request is open there. The first event that is refused is
 * thrown as a `ConversationError`, whatever the conversation's mode makes of it: a record with gaps is none. What comes after it,
 * which closes the recording, is only written.
 */
export function conversationTarget(conversation: Conversation, settled: () => void): Target {
  const phaseOf = () => conversation.actor.getSnapshot().value;
  let further: ConversationStream | undefined;
  if (phaseOf() === 'streaming') further = conversation.stream();
  const stream = further ?? conversation;
  const isStreaming = () => (further === undefined ? phaseOf() : further.phase) === 'streaming';
  // from within a subscriber of the conversation the init is taken later
  let hasBegun = false;
  let isRefused = false;
  return {
    waiting: 0,
    get isOpen() {
      return !hasBegun || isStreaming();
    },
    push: (event) => {
      // to look at the state costs as much as a piece of text, which is refused only where its transaction was
      const before = isRefused || isPiece(event) ? undefined : conversation.state.diagnostics;
      stream.apply(event);
      hasBegun ||= isStreaming();
      if (before === undefined) return;
      const refusal = conversation.state.diagnostics.slice(before.length).find(isOurs);
      if (refusal === undefined) return;
      isRefused = true;
      throw new ConversationError(refusal);
    },
    end: () => {
      further?.close();
      settled();
    },
  };

  function isOurs(diagnostic: ConversationDiagnostic): boolean {
    return failing.has(diagnostic.code) && (diagnostic.stream === undefined) === (further === undefined);
  }
}

/** Whether it only goes on with a message. */
function isPiece({ type }: ResponseEvent): boolean {
  return (
    type.case === 'clientActions' && type.value.actions.every(({ action }) => action.case === 'appendToMessageContent')
  );
}
