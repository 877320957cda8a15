/** Where lives stand at a record, as the machines have it. */
import { type CallStateName, type EndReason, type StreamPhase, sessionStateOf } from '../../../machines/index.js';
import type { ConversationState } from '../../conversation/index.js';
import type { ConversationCase } from '../conversation-case.js';
import { callStateName } from '../invariants/call-facts.js';
import type { SessionCase } from '../session-case.js';
import type { SupervisorCase } from '../supervisors.js';

/** A call at a record. */
export interface ReplayedCall {
  readonly id: string;
  readonly name: string;
  readonly state: CallStateName;
}

/** A session at a record. */
export interface ReplayedSession {
  readonly id: string;
  /** With its substate behind a dot. */
  readonly state: string;
  /** Why it has ended, or begun to. */
  readonly reason?: EndReason;
  /** In order of admission. */
  readonly calls: readonly ReplayedCall[];
  /** The records and the machines have parted before: this is what the records say. */
  readonly hasParted?: true;
}

/** A conversation at a record. */
export interface ReplayedConversation {
  readonly id: string;
  readonly phase: StreamPhase;
  readonly transaction: 'none' | 'open' | 'doomed';
  /** Of the transactional part. */
  readonly version: number;
  /** Where the journal has kept the inputs. */
  readonly state?: ConversationState;
  readonly hasParted?: true;
}

/** A child of a supervisor at a record. */
export interface ReplayedChild {
  readonly kind: 'session' | 'conversation';
  readonly id: string;
  /** Of a session: the `sessionId` of its incarnation. */
  readonly sessionId?: string;
  /** That has ended, and the next one has not begun. */
  readonly isRestarting?: true;
}

/** A supervisor at a record. */
export interface ReplayedSupervisor {
  readonly id: string;
  readonly state: string;
  /** That live, in order of their start. */
  readonly children: readonly ReplayedChild[];
  readonly hasParted?: true;
}

/** A supervisor, where its last record left it. */
export function supervisorAt(id: string, { judge, replay }: SupervisorCase): ReplayedSupervisor {
  const children = Array.from(judge.children(), ({ kind, id, session, isWaiting }): ReplayedChild => {
    if (session === undefined) return { kind, id };
    return isWaiting ? { kind, id, sessionId: session, isRestarting: true } : { kind, id, sessionId: session };
  });
  if (replay === undefined || replay.hasParted) return { id, state: judge.state, children, hasParted: true };
  return { id, state: replay.state, children };
}

/** A session, where its last record left it. */
export function sessionAt(id: string, { judge, replay }: SessionCase): ReplayedSession {
  if (replay === undefined || replay.hasParted) return asRecorded(id, judge.facts, replay);
  const { composition, pending } = replay;
  const { reason } = composition.session.context;
  const calls = new Map<string, ReplayedCall>();
  for (const { id, name, state } of composition.coordination.calls()) calls.set(id, { id, name, state });
  let state: string = sessionStateOf(composition.session);
  let hasReason = reason !== 'none';
  // of a step whose last records are not there: those lives stand where they stood
  for (const { call, from } of pending.toReversed()) {
    if (call === undefined) {
      state = from;
      hasReason = from === 'closing';
    } else if (from === '') calls.delete(call.id);
    else calls.set(call.id, { id: call.id, name: call.name, state: from.split('.')[0] as CallStateName });
  }
  const replayed = { id, state, calls: [...calls.values()] };
  return hasReason ? { ...replayed, reason: reason as EndReason } : replayed;
}

function asRecorded(id: string, facts: SessionCase['judge']['facts'], replay: SessionCase['replay']): ReplayedSession {
  const calls: ReplayedCall[] = [];
  for (const [call, known] of facts.calls()) {
    const name = replay?.composition.coordination.find(call)?.name ?? '';
    calls.push({ id: call, name, state: callStateName(known).split('.')[0] as CallStateName });
  }
  return { id, state: facts.stateName, calls, hasParted: true };
}

/** A conversation, where its last record left it. */
export function conversationAt(id: string, { judge, replay }: ConversationCase): ReplayedConversation {
  const { facts } = judge;
  const phase = facts.stream(0).phase as StreamPhase;
  const recorded = { id, phase, version: facts.version };
  if (replay === undefined || replay.hasParted) {
    return { ...recorded, transaction: facts.levels.length > 0 ? 'open' : 'none', hasParted: true };
  }
  const { state } = replay;
  const replayed = { ...recorded, transaction: replay.transaction };
  return state === undefined ? replayed : { ...replayed, state: state.conversation };
}
