/** A supervisor's steps in words. */
import type { RecordedEffect } from '../../contract/journal.js';
import type { Move } from './move.js';

/** A child as a supervisor's record names it. */
export interface OpenedChild {
  readonly actor: string;
  readonly label: string;
}

/** The children that a step opens: an incarnation of a session, or a conversation. */
export function openedBy(did: readonly RecordedEffect[]): OpenedChild[] {
  return did.flatMap(({ effect, detail = '' }) => {
    if (effect === 'openConversation' && detail !== '') return { actor: detail, label: '' };
    const [child, actor] = detail.split(' ');
    return effect === 'openIncarnation' && child !== undefined && actor !== undefined ? { actor, label: child } : [];
  });
}

export function whyOfSupervisor({ event, did }: Move): string | undefined {
  const parts = did.flatMap(({ effect, detail = '' }) => {
    const [child = '', session = '', reason = ''] = detail.split(' ');
    switch (effect) {
      case 'armRestart':
        // whoever only watches a supervisor is not told which
        return child === ''
          ? 'a session is started again: its incarnation ended'
          : `${child} is started again: its incarnation ${session} ended (${reason})`;
      case 'reportFailure':
        return child === ''
          ? 'a session has failed for good: it ended more often than it may'
          : `${child} has failed for good: it ended (${reason}) more often than it may`;
      case 'refuseStart':
        return `one more ${child || 'child'} is refused`;
      case 'armDeadline':
        return detail === ''
          ? 'what has not finished in time is closed'
          : `what has not finished in ${detail} ms is closed`;
      default:
        return [];
    }
  });
  return parts.length === 0 || event === '' ? undefined : parts.join('; ');
}
