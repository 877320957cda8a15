/**
 * The order of `ResponseEvent`s that every legal writer keeps:
 *
 * 1. each event is one of the schema, and so is each action
 * 2. an init comes first, and once a request; its ids are not empty
 * 3. Begin, Commit and Rollback are balanced and not nested, and the finish of a request, whatever its reason, finds no
 *    transaction open
 * 4. nothing follows the finish but the init of another request
 * 5. an action speaks of tasks and messages that there are, makes such as there are not, and its mask has paths of the
 *    schema that can be changed in this way
 *
 * What is told of by a fold is illegal; where a fold is silent about what only a client must bear with (a repeated init, a
 * transaction that a failure rolls back), it is told of here.
 *
 * One mistake is told once: the action is left out, and what comes after it is looked at as if it had not been there.
 */
import type { ResponseEvent } from '../../proto/index.js';
import { isCommitpointError } from '../contract/errors.js';
import {
  type ConversationDiagnostic,
  type ConversationDiagnosticCode,
  type ConversationState,
  createFold,
  type FoldState,
} from '../conversation/index.js';

/** Inner transactions are taken as what they were meant to be, and none is rolled back for a mistake in it. */
const fold = createFold({ policies: { nested: 'savepoint', onDoomedCommit: 'commit' }, maxDiagnostics: 0 });

/** What a legal writer does. Codes that no list of events can lead to are left out, and `doomed_commit`: it follows from another. */
const expected: Partial<Record<ConversationDiagnosticCode, string>> = {
  actions_before_init: 'an init first',
  unexpected_init: 'one init a request, of the same conversation',
  after_finished: 'nothing after the finish but the init of another request',
  unknown_event: 'an event of the schema',
  unknown_action: 'an action of the schema',
  empty_action: 'an action that says what it is about',
  nested_begin: 'no Begin while a transaction is open',
  commit_without_begin: 'a Begin before a Commit',
  rollback_without_begin: 'a Begin before a Rollback',
  unclosed_transaction: 'a Commit or a Rollback before the finish',
  split_in_transaction: 'no new conversation while a transaction is open',
  unknown_task: 'a task that there is',
  unknown_message: 'a message that there is, and ids that are not empty',
  unknown_parent: 'a parent that there is',
  duplicate_task: 'a task and messages whose ids are new',
  duplicate_root: 'a parent, since there is a root',
  duplicate_message: 'messages whose ids are new to the conversation',
  task_id_mismatch: 'messages that name the task of their action, or none',
  missing_mask: 'a mask',
  unknown_path: 'paths of the schema',
  duplicate_path: 'each path once',
  invalid_path: 'paths that can be changed',
  unsupported_append: 'paths of texts',
  oneof_mismatch: 'the member of a oneof that the message has',
};

/** Looks at the events of a response stream, one after another. */
export class ResponseOrder {
  readonly problems: string[] = [];
  private state: FoldState = fold.initial;

  take(event: ResponseEvent, index: number): void {
    const { state } = this;
    const tell = (problem: string) => this.problems.push(`event ${index}: ${problem}`);
    try {
      const kind = kindOf(event);
      if (kind === undefined) {
        tell(`expected a ResponseEvent, found ${event === null ? 'null' : `a value of type ${typeof event}`}`);
        return;
      }
      const { state: next, change } = fold.take(state, event);
      this.state = next;
      const diagnostics = change?.diagnostics ?? [];
      for (const diagnostic of diagnostics) this.tellOf(diagnostic, index);
      if (diagnostics.length > 0) return;
      const before = state.conversation;
      if (kind === 'init') tellOfInit(before, next.conversation, tell);
      if (kind === 'finished' && before.transaction !== 'none') tell(`expected ${expected.unclosed_transaction}`);
    } catch (error) {
      if (!isCommitpointError(error)) throw error;
      tell(error.message);
    }
  }

  /** What is missing at the end of a recording that holds all of a stream. */
  finish(): void {
    const { phase, transaction } = this.state.conversation;
    if (phase === 'finished' || phase === 'failed') return;
    const open = transaction === 'none' ? '' : ', with a transaction open';
    this.problems.push(`end: expected a finish, found a request that is ${phase}${open}`);
  }

  private tellOf({ code, action, detail }: ConversationDiagnostic, index: number): void {
    if (code === 'doomed_commit') return;
    const where = action === undefined ? `event ${index}` : `event ${index}, action ${action}`;
    this.problems.push(`${where}: expected ${expected[code]}, found ${code}: ${detail}`);
  }
}

/** The case of an event; `undefined` for what is none. Reading it may throw, as anything may that a host hands in. */
function kindOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null || !('type' in event)) return undefined;
  const { type } = event;
  if (typeof type !== 'object' || type === null) return undefined;
  return String((type as { readonly case?: unknown }).case);
}

function tellOfInit(before: ConversationState, after: ConversationState, tell: (problem: string) => void): void {
  const isAgain =
    before.phase !== 'awaiting_init' &&
    before.requestId === after.requestId &&
    before.conversationId === after.conversationId;
  if (isAgain) tell(`expected ${expected.unexpected_init}, found that of ${JSON.stringify(after.requestId)} again`);
  else if (after.conversationId === '') tell('init: expected a conversationId that is not empty');
  else if (after.requestId === '') tell('init: expected a requestId that is not empty');
}
