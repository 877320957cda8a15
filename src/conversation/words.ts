/** What diagnostics of streams and transactions say, in words. */
import type { LevelsAsked, ResponseStreamNote } from '../../machines/index.js';
import type { ClientAction } from '../../proto/index.js';
import { quoted } from './diagnostics.js';
import type { Received } from './input.js';

type Note = ResponseStreamNote | Extract<LevelsAsked, { readonly type: 'report' }>['note'];

/** Says what a note is about. */
export function wordsOf(note: Note, received: Received): string {
  switch (note) {
    case 'unexpected_init': {
      if (received.type !== 'init') return 'an init';
      return `init of conversation ${quoted(received.conversationId)}, request ${quoted(received.requestId)}`;
    }
    case 'bad_frame':
      return received.type === 'end' ? received.message.slice(0, maxWords) : '';
    case 'unknown_event':
      return 'an event without a type';
    case 'actions_before_init':
      return received.type === 'finished' ? 'the finish came before any init' : 'actions came before any init';
    case 'after_finished':
      return `${received.type} came after the end`;
    case 'nested_begin':
      return 'a transaction is open';
    case 'doomed_commit':
      return 'an action of the transaction had failed';
    case 'unclosed_transaction':
      return 'the finish found a transaction open';
    case 'split_in_transaction':
      return 'the split found a transaction open';
    case 'commit_without_begin':
    case 'rollback_without_begin':
      return 'no transaction is open';
  }
}

const maxWords = 400;

/** The numbers of the fields that the schema does not have, the first few; `undefined` for none. */
export function unknownFieldsIn({ $unknown }: ClientAction): string | undefined {
  if ($unknown === undefined || $unknown.length === 0) return undefined;
  const numbers = $unknown.slice(0, 8).map(({ no }) => no);
  return numbers.join(', ');
}
