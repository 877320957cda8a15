import { InvalidInputError } from '../../contract/errors.js';
import { resultOf } from '../../conversation/index.js';
import {
  type Replayed,
  type ReplayedConversation,
  type ReplayedSession,
  type ReplayedSupervisor,
  replay,
} from '../../verify/index.js';
import type { ExitStatus } from '../exit.js';
import { JournalInput } from '../journal-input.js';
import { counted, findingInWords, versionsInWords } from '../journal-words.js';
import { complain, print } from '../output.js';
import type { CheckedJournal } from './verify.js';

export interface ReplayCommandOptions {
  /** The number of a record. */
  readonly at?: string;
  readonly json?: boolean;
}

/** `commitpoint replay JOURNAL`: where everything stood at a record, rebuilt from the journal alone. */
export async function replayJournal(path: string, options: ReplayCommandOptions): Promise<ExitStatus> {
  const { status, lines, complaints } = await replayFile(path, options);
  for (const complaint of complaints) complain(complaint);
  for (const line of lines) print(line);
  return status;
}

/** Replays one. @throws {InvalidInputError} for a place that is no number of a record, {@link UnreadableFileError} {@link JournalFormatError} */
export async function replayFile(path: string, { at, json = false }: ReplayCommandOptions): Promise<CheckedJournal> {
  const until = at === undefined ? undefined : placeIn(at);
  const input = new JournalInput(path);
  const replayed = await replay(input, until === undefined ? {} : { at: until });
  const complaints = replayed.findings.map((finding) => `${path}: ${findingInWords(finding)}`);
  if (replayed.findingsBeyond > 0) complaints.push(`${path}: and ${replayed.findingsBeyond} more`);
  if (input.damage !== undefined) complaints.push(input.damage.message);
  const lines = json ? asJson(replayed) : inWords(path, replayed, until);
  return { status: complaints.length > 0 ? 1 : 0, lines, complaints };
}

function placeIn(at: string): number {
  const place = Number(at);
  if (at.trim() === '' || !Number.isSafeInteger(place) || place < 0) {
    throw new InvalidInputError('at', 'the number of a record', at);
  }
  return place;
}

function asJson({
  at,
  records,
  sessions,
  conversations,
  supervisors,
  endedBeyond,
  machines,
}: Replayed): readonly string[] {
  return [
    ...sessions.map((session) => JSON.stringify({ session })),
    ...conversations.map(({ state, ...conversation }) => {
      const result = state === undefined ? {} : { result: resultOf(state) };
      return JSON.stringify({ conversation: { ...conversation, ...result } });
    }),
    ...supervisors.map((supervisor) => JSON.stringify({ supervisor })),
    JSON.stringify({ replayed: { at, records, endedBeyond, machines } }),
  ];
}

function inWords(path: string, replayed: Replayed, until: number | undefined): readonly string[] {
  const { at, records, sessions, conversations, supervisors, endedBeyond, machines } = replayed;
  const lines = [`${path}: at record ${at}, after ${counted(records, 'record')}`];
  if (until !== undefined && at < until) lines.push(`  there is no record ${until}; the last one before it is ${at}`);
  for (const session of sessions) lines.push(...sessionInWords(session));
  for (const conversation of conversations) lines.push(...conversationInWords(conversation));
  for (const supervisor of supervisors) lines.push(...supervisorInWords(supervisor));
  if (endedBeyond > 0) lines.push(`and ${endedBeyond} that had ended before`);
  const versions = versionsInWords(machines);
  if (versions !== undefined) lines.push(`  ${versions}`);
  return lines;
}

function sessionInWords({ id, state, reason, calls, hasParted }: ReplayedSession): readonly string[] {
  const why = reason === undefined ? '' : ` (${reason})`;
  const by = hasParted ? ', as the records have it' : '';
  const width = Math.max(0, ...calls.map((call) => call.id.length));
  const lines = calls.map((call) => `  ${call.id.padEnd(width)}  ${call.state.padEnd(17)}  ${call.name}`.trimEnd());
  return [`session ${id}: ${state}${why}${by}`, ...lines];
}

function supervisorInWords({ id, state, children, hasParted }: ReplayedSupervisor): readonly string[] {
  const by = hasParted ? ', as the records have it' : '';
  const lines = children.map(({ kind, id, sessionId, isRestarting }) => {
    if (sessionId === undefined) return `  ${kind} ${id}`;
    return isRestarting ? `  ${kind} ${id}  waits to begin again after ${sessionId}` : `  ${kind} ${id}  ${sessionId}`;
  });
  const living = children.length === 0 ? 'no children' : counted(children.length, 'child', 'children');
  return [`supervisor ${id}: ${state}, ${living}${by}`, ...lines];
}

function conversationInWords(conversation: ReplayedConversation): readonly string[] {
  const { id, phase, transaction, version, state, hasParted } = conversation;
  const by = hasParted ? ', as the records have it' : '';
  const open = transaction === 'none' ? 'no transaction open' : `transaction ${transaction}`;
  const lines = [`conversation ${id}: ${phase}, ${open}, version ${version}${by}`];
  if (state === undefined) lines.push('  what it holds is not in the journal: payloads were not kept');
  for (const task of state?.tasks.values() ?? []) {
    lines.push(`  task ${task.id}: ${counted(task.messages.length, 'message')}`);
  }
  return lines;
}
