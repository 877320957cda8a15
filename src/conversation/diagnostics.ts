/**
 * What a fold tells of: a closed list of codes, the failing ones among them,
 * and the list in which they are kept.
 *
 * D1. At most `maxDiagnostics` are kept; those beyond are counted, by code.
 * D2. What a diagnostic says is bounded: ids are cut short.
 */

import type { LevelsAsked, ResponseStreamNote } from '../../machines/index.js';
import type { ClientAction, ResponseEvent } from '../../proto/index.js';
import { Vector } from './persistent/vector.js';

/** Those that doom an open transaction, and without one make the conversation diverge. Their action changed nothing. */
export const failingCodes = [
  'unknown_task',
  'unknown_message',
  'unknown_parent',
  'duplicate_task',
  'duplicate_root',
  'missing_mask',
  'invalid_path',
  'unsupported_append',
  'oneof_mismatch',
  'transaction_busy',
] as const;

/** Those that only inform. */
export const informingCodes = [
  // of the stream
  'actions_before_init',
  'unexpected_init',
  'after_finished',
  'unknown_event',
  'bad_frame',
  // of transactions
  'nested_begin',
  'commit_without_begin',
  'rollback_without_begin',
  'doomed_commit',
  'unclosed_transaction',
  'split_in_transaction',
  // of actions
  'unknown_action',
  'empty_action',
  'duplicate_message',
  'task_id_mismatch',
  'unknown_path',
  'duplicate_path',
  // of what a host attaches: effects, and whoever looks on
  'effect_failed',
  'host_callback_threw',
  'foreign_event',
] as const;

/** A failing code. */
export type FailingCode = (typeof failingCodes)[number];
/** What a diagnostic of a conversation can be about. */
export type ConversationDiagnosticCode = FailingCode | (typeof informingCodes)[number];

/** What the machines tell of; does not compile unless every note of theirs is a code of ours. @internal */
export type MachineNote<
  Note extends ConversationDiagnosticCode =
    | ResponseStreamNote
    | Extract<LevelsAsked, { readonly type: 'report' }>['note'],
> = Note;

/** Something that a fold tells of. */
export interface ConversationDiagnostic {
  readonly code: ConversationDiagnosticCode;
  /** Which event of its stream, from 0; a bad frame counts as one. */
  readonly event: number;
  /** Which action of the event, from 0; absent where it is about the event as a whole. */
  readonly action?: number;
  /** In words, for people. */
  readonly detail: string;
  /** Which stream of the conversation; absent for its first. */
  readonly stream?: number;
  /** `unknown_action`, `unknown_event`: what came, its bytes among its unknown fields. */
  readonly received?: ClientAction | ResponseEvent;
}

/** The diagnostics that were kept, and how many were not. */
export class DiagnosticLog {
  static readonly empty = new DiagnosticLog(Vector.empty(), new Map(), 0);
  #list: readonly ConversationDiagnostic[] | undefined;

  private constructor(
    readonly kept: Vector<ConversationDiagnostic>,
    /** How many of a code came beyond `maxDiagnostics`. */
    readonly beyond: ReadonlyMap<ConversationDiagnosticCode, number>,
    /** How many there were in all. */
    readonly count: number,
  ) {}

  /** Those that were kept, as a list for hosts. */
  get list(): readonly ConversationDiagnostic[] {
    this.#list ??= Object.freeze([...this.kept]);
    return this.#list;
  }

  with(diagnostic: ConversationDiagnostic, max: number): DiagnosticLog {
    if (this.kept.size < max) return new DiagnosticLog(this.kept.push(diagnostic), this.beyond, this.count + 1);
    const beyond = new Map(this.beyond);
    beyond.set(diagnostic.code, (beyond.get(diagnostic.code) ?? 0) + 1);
    return new DiagnosticLog(this.kept, beyond, this.count + 1);
  }
}

/** An id or a path as a detail quotes it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
