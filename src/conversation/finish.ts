/** How a request ended, as its StreamFinished says. */
import {
  type ResponseEvent_StreamFinished,
  type ResponseEvent_StreamFinished_TokenUsage,
  ResponseEvent_StreamFinishedSchema,
} from '../../proto/index.js';
import { adoptMessage, planOf } from './message/plan.js';

/** What one model used, in tokens; its cost in US cents. */
export type ModelUsage = ResponseEvent_StreamFinished_TokenUsage;

/** The names of the reasons; the empty text stands for one that only a newer schema has. */
export type FinishReason = Exclude<ResponseEvent_StreamFinished['reason']['case'], undefined> | '';

/** What a StreamFinished says. */
export interface FinishReport {
  readonly reason: FinishReason;
  /** The text of an internal error; else empty. */
  readonly message: string;
  /** One entry for each model that took part. */
  readonly tokenUsage: readonly ModelUsage[];
  /** What the request costs its user, as told; 0 when not told. */
  readonly costExact: number;
  /** How full the context window is: a share from 0 to 1; 0 when not told. */
  readonly contextWindowUsage: number;
  /** The event itself. */
  readonly received: ResponseEvent_StreamFinished;
}

/** Whether a finish is one of success. */
export function isDone({ reason }: FinishReport): boolean {
  return reason === 'done';
}

/** Reads a StreamFinished from outside. @throws {InvalidInputError} where it is not what the schema says */
export function readFinish(value: unknown): FinishReport {
  const received = adoptMessage(
    planOf(ResponseEvent_StreamFinishedSchema),
    value,
    1,
  ) as unknown as ResponseEvent_StreamFinished;
  const { reason } = received;
  return Object.freeze({
    reason: reason.case ?? (namesNewerReason(received) ? '' : 'done'),
    message: reason.case === 'internalError' ? reason.value.message : '',
    tokenUsage: received.tokenUsage,
    costExact: received.requestCost?.exact ?? 0,
    contextWindowUsage: received.contextWindowInfo?.contextWindowUsage ?? 0,
    received,
  });
}

/** A reason is a message, so one of a newer schema comes as an unknown field that is length-delimited. */
function namesNewerReason({ $unknown }: ResponseEvent_StreamFinished): boolean {
  return $unknown?.some(({ wireType }) => wireType === lengthDelimited) ?? false;
}

const lengthDelimited = 2;
