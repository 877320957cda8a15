/** What a step of the fold tells of itself: what living actors mirror, what effects hang on, and what a journal says. */
import type {
  LevelStep,
  ResponseStreamEventType,
  ResponseStreamSnapshot,
  responseStreamStepper,
  StreamPhase,
  TransactionEnd,
} from '../../machines/index.js';
import type { ClientAction } from '../../proto/index.js';
import type { ConversationDiagnosticCode } from './diagnostics.js';
import type { ConversationState } from './state.js';

/** A step of a machine, or an action that changed something, in the order in which they happened. */
export type FoldStep =
  | {
      readonly of: 'stream';
      readonly stream: number;
      readonly type: ResponseStreamEventType;
      readonly snapshot: ResponseStreamSnapshot;
    }
  /** `type` is `undefined` for the first snapshot of a level. */
  | ({ readonly of: 'transaction'; readonly stream: number } & LevelStep)
  | {
      readonly of: 'action';
      readonly stream: number;
      /** Its place in the event, from 0. */
      readonly index: number;
      /** As it was received. */
      readonly action: ClientAction;
      /** The conversation right after it. */
      readonly state: () => ConversationState;
    };

/** What a journal tells beside: only with `traceRecords`. */
export type TracedStep =
  /** The machine of a stream takes something, whether it moves or not; what it asks for follows. */
  | {
      readonly of: 'input';
      readonly stream: number;
      readonly type: ResponseStreamEventType;
      readonly from: StreamPhase;
      readonly to: StreamPhase;
    }
  | { readonly of: 'told'; readonly stream: number; readonly code: ConversationDiagnosticCode }
  /** The machine of a stream, or a split, has asked for this, and it was done. */
  | {
      readonly of: 'asked';
      readonly stream: number;
      readonly effect: Exclude<AskedOfStream, 'report' | 'applyActions'>;
      /** Of `closeTransactions`: how. */
      readonly as?: TransactionEnd;
    }
  /** An action was applied, or has failed; what it did to transactions comes before. */
  | {
      readonly of: 'acted';
      readonly stream: number;
      readonly index: number;
      /** The case of the action; empty where it has none. */
      readonly name: string;
      /** Whether it made another transactional part, one that never was before. */
      readonly changed: boolean;
      readonly failed?: ConversationDiagnosticCode;
    };

/** Those of one kind. */
export type FoldStepOf<Kind extends (FoldStep | TracedStep)['of']> = Extract<
  FoldStep | TracedStep,
  { readonly of: Kind }
>;

type AskedOfStream = ReturnType<typeof responseStreamStepper.step>['effects'][number]['type'];

export function isFoldStep(step: FoldStep | TracedStep): step is FoldStep {
  return step.of === 'stream' || step.of === 'transaction' || step.of === 'action';
}
