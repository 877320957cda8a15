/** D1, D2, D4, D12, D13, D15: the life of each call. */
import type { CallState } from '../../../src/contract/lifecycle.js';
import type { Story } from './story.js';
import { isSound } from './word.js';

/** The table of the design page, by hand: where a call may go from where it is. */
const legal: Readonly<Record<CallState, readonly CallState[]>> = {
  admitted: ['awaiting_approval', 'queued', 'committing', 'publishing', 'abandoned', 'cancelled'],
  awaiting_approval: ['queued', 'committing', 'publishing', 'abandoned', 'cancelled'],
  queued: ['starting', 'executing', 'abandoned', 'cancelled'],
  starting: ['executing', 'abandoned', 'cancelled'],
  executing: ['committing', 'publishing', 'abandoned', 'cancelled'],
  committing: ['publishing', 'abandoned', 'cancelled'],
  publishing: ['completed', 'rejected', 'unconfirmed'],
  completed: [],
  rejected: [],
  unconfirmed: [],
  abandoned: [],
  cancelled: [],
};

export function checkCalls(story: Story): string[] {
  const reported = new Map(story.report?.calls.map(({ id, state }) => [id, state]));
  return [...story.asked.keys()].flatMap((id) => checkCall(story, id, reported.get(id)));
}

function checkCall(story: Story, id: string, state: CallState | undefined): string[] {
  const findings: string[] = [];
  const find = (invariant: string, what: string) => void findings.push(`${invariant}: call ${id} ${what}`);
  const events = story.events.filter(({ event }) => 'toolUseId' in event && event.toolUseId === id);
  const named = story.events.filter(
    ({ event }) => event.type === 'error' && event.message.includes(id) && !event.message.startsWith('protocol'),
  );
  const of = (type: string) => events.filter(({ event }) => event.type === type);
  const [started, completed, abandoned] = [of('tool_started'), of('tool_completed'), of('tool_abandoned')];
  const results = story.driverCalls('sendToolResult', id);
  const starts = story.codeOf(id, 'started');
  const answers = story.all('answered').filter((fact) => fact.answered === 'sendToolResult' && fact.id === id);

  // D1: one start, one end, in that order
  if (started.length > 1) find('D1', `was started ${started.length} times`);
  const ends = [...completed, ...abandoned, ...named];
  if (ends.length > 1) find('D1', `has ${ends.length} ends`);
  if (ends[0] !== undefined && (started[0] === undefined || ends[0].index < started[0].index)) {
    find('D1', 'ended before it was started');
  }

  // D2, D4
  if (starts.length > 1) find('D2', `was executed ${starts.length} times`);
  if (results.length > 1) find('D2', `was published ${results.length} times`);
  const [result] = results;
  const after = (index: number | undefined) => index ?? Number.POSITIVE_INFINITY;
  if (story.isPrompt) {
    if (result !== undefined && result.index < after(started[0]?.index))
      find('D2', 'was published before it was started');
    if (result !== undefined && result.index > after(abandoned[0]?.index))
      find('D2', 'was published after its abandonment');
    if (abandoned[0] !== undefined && abandoned[0].index > after(result?.index))
      find('D4', 'was abandoned after its commit point');
    if (starts[0] !== undefined && starts[0].index > after(abandoned[0]?.index))
      find('D2', 'was executed after its abandonment');
  }
  if (starts[0] !== undefined && starts[0].index > story.fence) find('D2', 'was executed after the end');
  for (const { event, index } of completed) {
    if (event.type !== 'tool_completed') continue;
    if (event.output !== result?.output || event.isError !== result?.isError)
      find('D1', 'completed with another result than was sent');
    const accepted = answers.find(({ accepts }) => accepts);
    if (accepted === undefined || accepted.index > index) find('D1', 'completed though its result was not accepted');
  }

  // D12, D13: bad input, a call that is not approved, a call too many
  const tool = story.toolOf(id);
  const text = story.asked.get(id)?.arguments ?? '';
  const isRefused = tool === undefined || !isSound(text, tool.input !== undefined);
  if (starts.length > 0 && isRefused) find('D12', `was executed with ${text}`);
  if (result !== undefined && isRefused && result.isError !== true) find('D12', 'got a result that is no error');
  if (starts[0] !== undefined && tool?.needsApproval === true) {
    const approved = story
      .all('host')
      .some((fact) => fact.host === 'approve' && fact.id === id && fact.index < after(starts[0]?.index));
    if (!approved) find('D12', 'was executed without approval');
  }
  if (result !== undefined && result.isError !== true && starts.length === 0) find('D12', 'has a result and never ran');

  findings.push(...checkOutcome(story, id, state, { completed, abandoned, named, result, answers }));
  findings.push(...checkChanges(story, id, state));
  return findings;
}

interface Marks {
  readonly completed: readonly unknown[];
  readonly abandoned: readonly unknown[];
  readonly named: readonly unknown[];
  readonly result: { readonly index: number } | undefined;
  readonly answers: readonly { readonly accepts: boolean }[];
}

/** The report of `closed` says what the events and the driver bear out. */
function checkOutcome(story: Story, id: string, state: CallState | undefined, marks: Marks): string[] {
  if (story.report === undefined) return [];
  const { completed, abandoned, named, result, answers } = marks;
  const told = (list: readonly unknown[]) => list.length > 0;
  // what a reader did not get to see before a silent end, or what did not fit, proves nothing
  const isComplete = story.reason !== 'overflow' && (story.isPrompt || !story.endsSilently);
  const broken = (what: string) => [`D1: \`closed\` says that call ${id} is ${state}, but ${what}`];
  switch (state) {
    case undefined:
      return told(completed) || told(abandoned) || result !== undefined ? broken('it lived') : [];
    case 'completed':
      if (!answers.some(({ accepts }) => accepts)) return broken('the far side did not accept it');
      return isComplete && !told(completed) ? broken('the host was not told') : [];
    case 'rejected':
      if (!answers.some(({ accepts }) => !accepts)) return broken('the far side did not refuse it');
      return isComplete && !told(named) ? broken('the host was not told') : [];
    case 'unconfirmed':
      return result === undefined ? broken('its result was not sent') : [];
    case 'abandoned':
      if (result !== undefined) return broken('its result was sent');
      return isComplete && !told(abandoned) ? broken('the host was not told') : [];
    case 'cancelled':
      if (result !== undefined) return broken('its result was sent');
      return told(completed) || told(abandoned) || told(named) ? broken('the host was told otherwise') : [];
    default:
      return broken('that is no outcome');
  }
}

function checkChanges(story: Story, id: string, state: CallState | undefined): string[] {
  const findings: string[] = [];
  let stands: CallState | null = null;
  for (const { from, to } of story.changesOf(id)) {
    const isLegal = from === null ? to === 'admitted' : legal[from].includes(to);
    if (from !== stands || !isLegal) findings.push(`D1: call ${id} went from ${from} to ${to}, having been ${stands}`);
    stands = to;
  }
  if (story.report !== undefined && (stands ?? undefined) !== state) {
    findings.push(`D1: \`closed\` says that call ${id} is ${state}, \`lifecycle$\` that it is ${stands}`);
  }
  return findings;
}

/** K2, D15: places, open calls. */
export function checkLimits(story: Story): string[] {
  const { maxConcurrentTools = 16, maxOpenCalls = 256 } = story.plan.header.options ?? {};
  const states = new Map<string, CallState>();
  const draining = new Set<string>();
  const refused = new Set<string>();
  for (const { id, output } of story.driverCalls('sendToolResult')) {
    if (id !== undefined && output?.startsWith('too many calls')) refused.add(id);
  }
  for (const fact of story.facts) {
    if ('code' in fact) {
      if (fact.is === 'started') draining.add(fact.code);
      if (fact.is === 'resolved' || fact.is === 'rejected') draining.delete(fact.code);
    }
    if ('quiet' in fact) {
      const told = fact.quiet.map(({ id, state }) => `${id} ${state}`).join(', ');
      const known = [...states].map(([id, state]) => `${id} ${state}`).join(', ');
      if (told !== known) return [`session.calls() says ${told}, \`lifecycle$\` ${known}`];
    }
    if ('quiet' in fact && fact.index < story.fence) {
      const [admitted] = [...states].find(([, state]) => state === 'admitted') ?? [];
      if (admitted !== undefined && !story.plan.judgesLater) return [`D12: call ${admitted} is stuck in admitted`];
      const held = placesHeld(states);
      const [queued] = [...states].find(([, state]) => state === 'queued') ?? [];
      if (queued !== undefined && held < maxConcurrentTools) {
        return [`K2: call ${queued} is queued while ${held} of ${maxConcurrentTools} places are held`];
      }
    }
    if (!('lifecycle' in fact) || fact.lifecycle.type !== 'call') continue;
    const { id, to } = fact.lifecycle;
    states.set(id, to);
    const held = placesHeld(states);
    if (held > maxConcurrentTools)
      return [`K2: ${held} calls hold a place, maxConcurrentTools is ${maxConcurrentTools}`];
    const open = [...states].filter(([id, state]) => {
      if (refused.has(id)) return false;
      return state === 'abandoned' ? draining.has(id) : legal[state].length > 0;
    }).length;
    // a call that is refused for its number may never come to be told so
    if (to === 'executing' && open > maxOpenCalls + refusable(states, refused)) {
      return [`D15: ${open} calls are open, maxOpenCalls is ${maxOpenCalls}`];
    }
  }
  return [];
}

function placesHeld(states: ReadonlyMap<string, CallState>): number {
  return [...states.values()].filter((state) => state === 'starting' || state === 'executing').length;
}

/** Calls of which nobody can tell yet whether they were refused for their number. */
function refusable(states: ReadonlyMap<string, CallState>, refused: ReadonlySet<string>): number {
  return [...states].filter(([id, state]) => !refused.has(id) && (state === 'admitted' || state === 'committing'))
    .length;
}
