/** The steps of conversations and transactions in words: who speaks with whom, and why they end as they do. */
import type { Arrow } from './frames.js';
import type { Move } from './move.js';

const fromServer: Readonly<Record<string, string>> = {
  init_next: 'init',
  init_same: 'init, the same again',
  init_renames: 'init, with a new name',
  init_foreign: 'init of another conversation',
  actions: 'actions',
  finished_done: 'finished',
  finished_failed: 'finished, failed',
  untyped: 'an event without a type',
  end_of_input: 'the input ends',
  transport_error: 'the input fails',
  bad_frame: 'a frame that cannot be read',
};

export function arrowsOfConversation({ event, did }: Move): Arrow[] {
  const arrows: Arrow[] = [];
  const applied = did.flatMap(({ effect, detail }) =>
    effect === 'apply' || effect === 'fail' ? [detail ?? 'an action'] : [],
  );
  const far = fromServer[event];
  if (far !== undefined) {
    const text = event === 'actions' && applied.length > 0 ? shortList(applied) : far;
    arrows.push({ from: 'far side', to: 'session', text });
  } else if (event === 'host_cancel') arrows.push({ from: 'host', to: 'session', text: 'cancel' });
  for (const { effect, detail } of did) {
    if (effect === 'runEffect') arrows.push({ from: 'session', to: 'host', text: `effect ${detail ?? ''} runs` });
  }
  return arrows;
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 4).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown;
}

export function whyOfConversation({ event, from, to, did }: Move): string | undefined {
  const told = did.flatMap(({ effect, detail }) => (effect === 'report' || effect === 'fail' ? [detail ?? ''] : []));
  const parts: string[] = [];
  if (from !== to && to === 'truncated') {
    parts.push(
      event === 'bad_frame'
        ? 'a frame cannot be read: the request was cut off'
        : 'the input ended before the request did',
    );
  } else if (from !== to && to === 'cancelled') parts.push('the host gave up');
  else if (from !== to && to === 'failed') {
    parts.push(
      event === 'halted' ? 'strict: the first diagnostic fails the stream' : 'the server says that the request failed',
    );
  }
  if (told.length > 0) parts.push(`told of: ${shortList(told)}`);
  return parts.length === 0 ? undefined : parts.join('; ');
}

export function arrowsOfTransaction({ actor, event, to }: Move): Arrow[] {
  const lane = `actor:${actor}` as const;
  if (event === '') return [{ from: 'session', to: lane, text: 'BEGIN' }];
  if (to === 'committed') return [{ from: 'session', to: lane, text: 'COMMIT' }];
  if (to === 'rolled_back') return [{ from: 'session', to: lane, text: 'ROLLBACK' }];
  return [{ from: 'session', to: lane, text: event }];
}

const outside: Readonly<Record<string, string>> = {
  finish_done: 'the request finished with it still open',
  finish_failed: 'the request failed',
  input_ended: 'the input ended before its commit',
  split: 'the conversation was split with it still open',
  host_cancel: 'the host gave up',
};

export function whyOfTransaction({ event, from, to }: Move): string | undefined {
  if (from === to) return undefined;
  if (to === 'open.doomed') {
    return event === 'doom_inherited'
      ? 'a level inside was committed with its doom'
      : 'an action in it failed: its commit will be a rollback, unless a policy says otherwise';
  }
  const cause = outside[event];
  if (to === 'rolled_back') {
    if (event === 'rollback') return 'the server took it back: what stood at its Begin stands again';
    const doom = from === 'open.doomed' && (event === 'commit' || event === 'finish_done' || event === 'split');
    const because = doom ? 'an action in it had failed, so that its commit is a rollback' : cause;
    return [doom ? cause : undefined, because].filter((part) => part !== undefined).join('; ');
  }
  if (to === 'committed' && from === 'open.doomed')
    return `${cause ?? 'the server committed it'}; by policy it is kept, though an action in it failed`;
  return to === 'committed' ? cause && `${cause}: it is kept` : undefined;
}
