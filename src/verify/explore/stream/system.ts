/**
 * A response stream and its transactions as a system to walk through: the
 * shipped fold with the shipped machines, small events, and the judge of
 * conversations over every step.
 *
 * What makes two states one: the phase and the ids of the request, the names of
 * the conversations, whether it has diverged, how the request has finished, the
 * machine's state of every open transaction, what the transactional part and
 * each part that a rollback would bring back say, and what the judge knows. All
 * that happens next depends on these. What was told of before, and how much was
 * read, is left out: nothing asks for it.
 */

import { InvalidInputError } from '../../../contract/errors.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  createFold,
  type Fold,
  type Folded,
  type FoldState,
} from '../../../conversation/index.js';
import type { FoldParts } from '../../../conversation/state.js';
import type { Tree } from '../../../conversation/tree.js';
import type { ConversationFacts } from '../../invariants/conversation-facts.js';
import { ConversationJudge } from '../../invariants/index.js';
import type { Finding, System } from '../walk.js';
import { staleIn } from './derived.js';
import { type StreamInput, type StreamWord, streamAlphabet, streamInputs } from './inputs.js';
import { judgedStep, Versions } from './judged.js';
import { type Doom, Oracle } from './oracle.js';

/** What a walk through a response stream is given. */
export interface StreamExploration {
  /** Default `tolerant`. */
  readonly mode?: ConversationMode;
  /** Single policies instead of those of the mode. */
  readonly policies?: Partial<ConversationPolicies>;
  /** What is put in. Default: everything. */
  readonly inputs?: readonly StreamWord[];
  /** How many transactions are open at most; a Begin beyond is left out. Default 3. */
  readonly levels?: number;
}

/** A state, with all that is known of it. */
interface StreamWorld {
  readonly state: FoldState;
  readonly facts: ConversationFacts;
  readonly dooms: readonly Doom[];
  readonly held: readonly (readonly string[])[];
  readonly open: readonly number[];
  readonly position: number;
}

/** Walks a response stream and its transactions. */
export class StreamSystem implements System {
  readonly width = 1;
  /** By number. */
  readonly inputs: readonly StreamInput[];
  readonly fold: Fold;
  readonly #maxLevels: number;
  readonly #versions = new Versions();
  readonly #numbers = new Map<string, number>();
  readonly #worlds: StreamWorld[] = [];
  readonly #next = new Int32Array(1);

  /** @throws {InvalidInputError} for what cannot be explored */
  constructor({ mode, policies, inputs = streamAlphabet, levels = 3 }: StreamExploration) {
    if (!Number.isInteger(levels) || levels < 1) throw new InvalidInputError('levels', 'an integer from 1', levels);
    this.fold = createFold({
      ...(mode === undefined ? {} : { mode }),
      ...(policies === undefined ? {} : { policies }),
      traceRecords: true,
      traceActions: true,
      maxDiagnostics: 0,
    });
    this.inputs = streamInputs(inputs);
    this.#maxLevels = levels;
  }

  begin(into: Int32Array): readonly Finding[] {
    into[0] = this.#numberOf(this.first());
    return [];
  }

  expand(row: Int32Array, visit: (code: number, next: Int32Array, findings: readonly Finding[]) => boolean): void {
    const world = this.#worlds[row[0] as number] as StreamWorld;
    for (const [code, input] of this.inputs.entries()) {
      if (!this.#isWorthIt(world, input)) continue;
      const { world: after, findings } = this.step(world, input);
      if (findings.length === 0) this.#next[0] = this.#numberOf(after);
      if (!visit(code, this.#next, findings)) return;
    }
  }

  /** A conversation of which nothing is known. */
  first(): StreamWorld {
    const { initial } = this.fold;
    const version = this.#versions.of(initial.parts.tree);
    const start = { phase: 'awaiting_init', version, lastVersion: version, lastTransaction: 0 };
    const { facts } = new ConversationJudge(start);
    return { state: initial, facts, dooms: [], held: [], open: [], position: 0 };
  }

  /** Takes an input. */
  step(
    world: StreamWorld,
    { input }: StreamInput,
  ): { readonly world: StreamWorld; readonly findings: readonly Finding[] } {
    const { state, dooms, position, held, open } = world;
    const folded = this.fold.take(state, input);
    const judge = new ConversationJudge(world.facts.clone());
    const findings: Finding[] = [];
    const oracle = new Oracle(dooms, this.fold.policies, this.fold.mode !== 'warp');
    const place = `${position}/0`;
    const { parts } = state;
    const before = { parts, held, open, lastTransaction: judge.facts.lastTransaction, place };
    const step = judgedStep(folded, before, folded.state.parts, this.#versions);
    findings.push(...step.findings);
    for (const moved of folded.trace) if (moved.of === 'transaction') oracle.take(moved);
    findings.push(...oracle.findings);
    if (folded.trace.length > 0) {
      for (const { of, what } of judge.take({ steps: step.steps })) findings.push({ invariant: of, what });
    }
    for (const released of step.released) {
      const { phase } = folded.state.conversation;
      const did = [{ effect: 'runEffect', detail: released }];
      const run = {
        transaction: undefined,
        event: 'effect',
        from: phase,
        to: phase,
        did,
        stream: 0,
        version: judge.facts.version,
      };
      for (const { of, what } of judge.take({ steps: [run] })) findings.push({ invariant: of, what });
    }
    findings.push(...countIn(parts, folded.state.parts, folded.trace));
    findings.push(...staleIn(folded.state));
    const after = {
      state: folded.state,
      facts: judge.facts,
      dooms: oracle.dooms,
      held: step.held,
      open: step.open,
      position: position + 1,
    };
    return { world: after, findings };
  }

  /** Whether a state is to be gone on with in this way: more of what only grows is not looked at. */
  #isWorthIt({ state }: StreamWorld, { word }: StreamInput): boolean {
    const { parts } = state;
    if (word === 'begin') return parts.levels.length < this.#maxLevels || this.fold.policies.nested !== 'savepoint';
    return word !== 'split' || parts.names.list.length < 2;
  }

  #numberOf(world: StreamWorld): number {
    const { state, facts, dooms } = world;
    const key = `${partsKey(state.parts)}|${facts.key()}|${dooms.map(Number).join('')}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#worlds.push(world) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/**
 * C3: a failing action opens and closes nothing, whatever policy there is. But for a split: that ends what is open first, and
 * fails where the message that it names went with it.
 */
function countIn(before: FoldParts, after: FoldParts, trace: Folded['trace']): readonly Finding[] {
  const failed = trace.some((step) => step.of === 'acted' && step.failed !== undefined);
  const ends = trace.some((step) => step.of === 'asked' && step.as !== undefined);
  if (!failed || ends || after.levels.length === before.levels.length) return [];
  const counts = `${before.levels.length} transactions were open, ${after.levels.length} are`;
  return [{ invariant: 'C3', what: `an action has failed, and ${counts}` }];
}

function partsKey({ tree, levels, bases, names, diverged, first }: FoldParts): string {
  const { snapshot, init, finished, isHalted } = first;
  const request = init === undefined ? '' : `${init.conversationId}/${init.requestId}`;
  const finish = finished === null ? '' : finished.reason;
  const open = levels.map(({ value }) => JSON.stringify(value)).join();
  const parts = [...bases, tree].map(treeKey).join(' < ');
  const named = `${names.list.join()}${names.isNamed ? '' : '?'}`;
  return `${snapshot.value} ${request} ${finish} ${isHalted} ${diverged} ${named} [${open}] ${parts}`;
}

const treeKeys = new WeakMap<Tree, string>();

/** What a transactional part says. */
function treeKey(tree: Tree): string {
  let key = treeKeys.get(tree);
  if (key === undefined) {
    key = `${tree.ordinal}${tree.hasPlaceholder ? 'p' : ''}`;
    for (const { task, messages, start, isHidden } of tree.tasks) {
      key += `(${task.id}${isHidden ? 'h' : ''}${start}:${task.description}:`;
      for (const { id } of messages) key += `${id},`;
      key += ')';
    }
    treeKeys.set(tree, key);
  }
  return key;
}
