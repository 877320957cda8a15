/** D6 (legal everywhere), D7, D8, D13, B1: what the host is given of the far side's own words, and when. */
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import { isCall, type Story } from './story.js';

/** An event of the far side, or the start of a call, in a word. */
type Word = string;

function wordOf(event: BidiTurnEvent): Word | undefined {
  switch (event.type) {
    case 'text':
      return `text ${event.text}`;
    case 'audio':
      return `audio ${event.data}`;
    case 'error':
      return event.message.startsWith('far away') ? `error ${event.message}` : undefined;
    case 'turn_complete':
    case 'interrupted':
      return event.type;
    case 'tool_started':
      return `call ${event.toolUseId} of ${event.toolName}`;
    default:
      return undefined;
  }
}

/** What an event of the far side has to become: a word, nothing, or the end of the session. */
function readingOf(far: unknown, known: ReadonlySet<string>): Word | 'nothing' | 'end' {
  if (typeof far !== 'object' || far === null) return 'end';
  const { type, text, data, mediaType, message, ids } = far as Readonly<Record<string, unknown>>;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? `text ${text}` : 'end';
    case 'audio':
      return typeof data === 'string' && typeof mediaType === 'string' ? `audio ${data}` : 'end';
    case 'error':
      return typeof message === 'string' ? `error ${message}` : 'end';
    case 'turn_complete':
    case 'interrupted':
      return type;
    case 'tool_call':
      return isCall(far) && !known.has(far.id) ? `call ${far.id} of ${far.name}` : 'end';
    case 'tool_call_cancelled':
      return Array.isArray(ids) && ids.every((id) => typeof id === 'string' && id !== '') ? 'nothing' : 'end';
    case 'closed':
      return 'end';
    default:
      return typeof type === 'string' ? 'nothing' : 'end';
  }
}

/** What the far side said until it ended the session, if it did, and where in the log. */
function saidIn(story: Story): {
  readonly words: { readonly word: Word; readonly index: number }[];
  readonly endedAt: number | undefined;
} {
  const words: { word: Word; index: number }[] = [];
  const known = new Set<string>();
  for (const fact of story.facts) {
    if ('stream' in fact) return { words, endedAt: fact.index };
    if (!('far' in fact)) continue;
    const reading = readingOf(fact.far, known);
    if (reading === 'end') return { words, endedAt: fact.index };
    if (isCall(fact.far)) known.add(fact.far.id);
    if (reading !== 'nothing') words.push({ word: reading, index: fact.index });
  }
  return { words, endedAt: undefined };
}

const farEnds = ['far_side', 'protocol_failure', 'stream_ended', 'stream_failed'];

export function checkOrder(story: Story): string[] {
  const findings: string[] = [];
  const { words, endedAt } = saidIn(story);
  const dropsAudio = story.plan.header.options?.dropUnreadAudio === true && !story.isPrompt;
  const heard = story.events.flatMap(({ event }) => wordOf(event) ?? []);
  let next = 0;
  for (const word of heard) {
    while (dropsAudio && words[next]?.word !== word && words[next]?.word.startsWith('audio')) next++;
    if (words[next]?.word !== word) {
      findings.push(`D7: the host was given "${word}" where "${words[next]?.word}" was due`);
      break;
    }
    next++;
  }
  const missed = words.slice(next).filter(({ word }) => !(dropsAudio && word.startsWith('audio')));
  if (farEnds.includes(story.reason ?? '')) {
    if (endedAt === undefined)
      findings.push(`D11: the reason is ${story.reason}, which the far side gave no cause for`);
    const wasRead = story.plan.readers.who !== 'loop' || story.all('over').length > 0;
    if (wasRead && missed.length > 0) findings.push(`D7: the host was never given "${missed[0]?.word}"`);
  }
  if (story.isPrompt) findings.push(...checkPromptness(story, words));
  return findings;
}

/** D8: at every quiet moment the host has been given all that the far side said, whatever tools and publishes are under way. */
function checkPromptness(story: Story, words: readonly { readonly word: Word; readonly index: number }[]): string[] {
  const connected = story.all('answered').find(({ answered, accepts }) => answered === 'connect' && accepts);
  if (connected === undefined) return [];
  for (const quiet of story.all('quiet')) {
    if (quiet.index < connected.index) continue;
    if (quiet.index > story.fence) break;
    const said = words.filter(({ index }) => index < quiet.index).length;
    const heard = story.events.filter(({ event, index }) => index < quiet.index && wordOf(event) !== undefined).length;
    if (heard !== said) return [`D8: in quiet moment ${quiet.era} the host had been given ${heard} of ${said} events`];
  }
  return [];
}

/** B1, B4, D7, D15: a loop reads what was reported, in that order, and no more waits for it than may. */
export function checkLoop(story: Story): string[] {
  const findings: string[] = [];
  if (story.plan.readers.who !== 'both') return findings;
  const { maxBufferedEvents = 65_536, dropUnreadAudio = false } = story.plan.header.options ?? {};
  const given = story.all('event').map(({ event }) => event);
  const read = story.all('read').map(({ read }) => read);
  let next = 0;
  let skipped = 0;
  for (const event of read) {
    while (dropUnreadAudio && given[next] !== event && given[next]?.type === 'audio') {
      next++;
      skipped++;
    }
    if (given[next] !== event) {
      return [`B1: the loop read ${JSON.stringify(event)} where ${JSON.stringify(given[next])} was due`];
    }
    next++;
  }
  const isOver = story.all('over').some(({ over }) => over === 'loop');
  if (isOver && !story.endsSilently) {
    const left = given.slice(next);
    if (left.some(({ type }) => !(dropUnreadAudio && type === 'audio'))) {
      findings.push(`D7: the loop ended before it had read ${JSON.stringify(left[0])}`);
    }
    skipped += left.length;
    const dropped = story.all('lifecycle').reduce((sum, { lifecycle, index }) => {
      return lifecycle.type === 'overflow' && index < story.fence ? sum + lifecycle.dropped : sum;
    }, 0);
    // an overflow that ends the session counts the event that did not fit, if there was one
    const atTheEnd = story.reason === 'overflow' ? [0, 1] : [0];
    if (!atTheEnd.includes(dropped - skipped)) {
      findings.push(`D7: ${dropped} events are said to have been dropped, ${skipped} were`);
    }
  }
  // one more has its own place at the end, and some may be on their way; those of one step count as read at once while the
  // loop waits
  const most = maxBufferedEvents + 1 + story.plan.readers.ahead + story.asked.size;
  let waiting = 0;
  for (const fact of story.facts) {
    if ('event' in fact) waiting++;
    else if ('read' in fact) waiting--;
    else continue;
    if (!dropUnreadAudio && waiting > most) {
      return [...findings, `D15: ${waiting} events wait, maxBufferedEvents is ${maxBufferedEvents}`];
    }
  }
  return findings;
}
