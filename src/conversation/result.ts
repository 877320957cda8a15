/** What a conversation came to, as plain JSON: what `commitpoint fold` prints. */
import { type DescMessage, type JsonObject, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import {
  MessageSchema,
  ResponseEvent_StreamFinished_TokenUsageSchema,
  SuggestedAgentModeWorkflowSchema,
  SuggestedRuleSchema,
} from '../../proto/index.js';
import { messageOf } from '../contract/errors.js';
import { openToolCallsOf } from './derived/open-tool-calls.js';
import { type ConversationState, treeOf } from './state.js';
import type { TaskState } from './views.js';

/** The result of a fold; messages are proto3 JSON. */
export interface ConversationResult {
  readonly phase: ConversationState['phase'];
  readonly conversationId: string;
  readonly requestId: string;
  readonly transaction: ConversationState['transaction'];
  readonly diverged: boolean;
  readonly tasks: readonly {
    readonly id: string;
    readonly parentTaskId: string;
    readonly description: string;
    readonly summary: string;
    readonly status: string;
    readonly messages: readonly JsonValue[];
  }[];
  readonly suggestions: { readonly rules: readonly JsonValue[]; readonly workflows: readonly JsonValue[] };
  readonly interrupted: readonly string[];
  readonly openToolCalls: readonly string[];
  readonly finished: {
    readonly reason: string;
    readonly message: string;
    readonly tokenUsage: readonly JsonValue[];
    readonly costExact: JsonValue;
    readonly contextWindowUsage: JsonValue;
  } | null;
  readonly diagnostics: readonly {
    readonly code: string;
    readonly event: number;
    readonly action?: number;
    readonly detail: string;
  }[];
  readonly conversations: readonly string[];
}

/** The result that a state is. */
export function resultOf(state: ConversationState): ConversationResult {
  const { finished, suggestions } = state;
  return {
    phase: state.phase,
    conversationId: state.conversationId,
    requestId: state.requestId,
    transaction: state.transaction,
    diverged: state.diverged,
    tasks: [...state.tasks.values()].map(taskResult),
    suggestions: {
      rules: (suggestions?.rules ?? []).map((rule) => jsonOf(SuggestedRuleSchema, rule)),
      workflows: (suggestions?.workflows ?? []).map((workflow) => jsonOf(SuggestedAgentModeWorkflowSchema, workflow)),
    },
    interrupted: state.interrupted,
    openToolCalls: openToolCallsOf(treeOf(state)),
    finished: finished && {
      reason: finished.reason,
      message: finished.message,
      tokenUsage: finished.tokenUsage.map((usage) => jsonOf(ResponseEvent_StreamFinished_TokenUsageSchema, usage)),
      costExact: numberOf(finished.costExact),
      contextWindowUsage: numberOf(finished.contextWindowUsage),
    },
    diagnostics: state.diagnostics.map(({ code, event, action, detail }) =>
      action === undefined ? { code, event, detail } : { code, event, action, detail },
    ),
    conversations: state.conversations,
  };
}

function taskResult({ id, parentTaskId, description, summary, status, messages }: TaskState) {
  return {
    id,
    parentTaskId,
    description,
    summary,
    status,
    messages: messages.toArray().map((message) => jsonOf(MessageSchema, message)),
  };
}

/** A message as proto3 JSON; one that has no JSON (a time that no calendar has, say) says so in its place. */
function jsonOf(schema: DescMessage, message: Message): JsonValue {
  try {
    return toJson(schema, message);
  } catch (error) {
    const id = (message as { readonly id?: string }).id;
    const json: JsonObject = { unprintable: messageOf(error) };
    return id === undefined ? json : { id, unprintable: messageOf(error) };
  }
}

/** As proto3 JSON writes a number that JSON cannot hold. */
function numberOf(value: number): JsonValue {
  return Number.isFinite(value) ? value : String(value);
}
