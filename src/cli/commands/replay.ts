import { InvalidInputError } from '../../contract/errors.js';
import { resultOf } from '../../conversation/index.js';
import { type Replayed, type ReplayedConversation, type ReplayedSession, replay } from '../../verify/index.js';
import type { ExitStatus } from '../exit.js';
import { JournalInput } from '../journal-input.js';
import { counted, findingInWords, versionsInWords } from '../journal-words.js';
import { complain, print } from '../output.js';

export interface ReplayCommandOptions {
  /** The number of a record. */
  readonly at?: string;
  readonly json?: boolean;
}

/**
 * `commitpoint replay JOURNAL`: where everything stood at a record, rebuilt from the journal alone.
 *
 * @throws {InvalidInputError} for a place that is no number of a record
 */
export async function replayJournal(path: string, { at, json = false }: ReplayCommandOptions): Promise<ExitStatus> {
  const until = at === undefined ? undefined : placeIn(at);
  const input = new JournalInput(path);
  const replayed = await replay(input, until === undefined ? {} : { at: until });
  if (json) printJson(replayed);
  else tell(path, replayed, until);
  for (const finding of replayed.findings) complain(`${path}: ${findingInWords(finding)}`);
  if (replayed.findingsBeyond > 0) complain(`${path}: and ${replayed.findingsBeyond} more`);
  if (input.damage !== undefined) complain(input.damage.message);
  return replayed.findings.length > 0 || input.damage !== undefined ? 1 : 0;
}

function placeIn(at: string): number {
  const place = Number(at);
  if (at.trim() === '' || !Number.isSafeInteger(place) || place < 0) {
    throw new InvalidInputError('at', 'the number of a record', at);
  }
  return place;
}

function printJson({ at, records, sessions, conversations, endedBeyond, machines }: Replayed): void {
  for (const session of sessions) print(JSON.stringify({ session }));
  for (const { state, ...conversation } of conversations) {
    const result = state === undefined ? {} : { result: resultOf(state) };
    print(JSON.stringify({ conversation: { ...conversation, ...result } }));
  }
  print(JSON.stringify({ replayed: { at, records, endedBeyond, machines } }));
}

function tell(path: string, replayed: Replayed, until: number | undefined): void {
  const { at, records, sessions, conversations, endedBeyond, machines } = replayed;
  print(`${path}: at record ${at}, after ${counted(records, 'record')}`);
  if (until !== undefined && at < until) print(`  there is no record ${until}: the last one before it is ${at}`);
  for (const session of sessions) print(sessionInWords(session));
  for (const conversation of conversations) print(conversationInWords(conversation));
  if (endedBeyond > 0) print(`and ${endedBeyond} that had ended before`);
  const versions = versionsInWords(machines);
  if (versions !== undefined) print(`  ${versions}`);
}

function sessionInWords({ id, state, reason, calls, hasParted }: ReplayedSession): string {
  const why = reason === undefined ? '' : ` (${reason})`;
  const by = hasParted ? ', as the records have it' : '';
  const width = Math.max(0, ...calls.map((call) => call.id.length));
  const lines = calls.map((call) => `  ${call.id.padEnd(width)}  ${call.state.padEnd(17)}  ${call.name}`.trimEnd());
  return [`session ${id}: ${state}${why}${by}`, ...lines].join('\n');
}

function conversationInWords({ id, phase, transaction, version, state, hasParted }: ReplayedConversation): string {
  const by = hasParted ? ', as the records have it' : '';
  const open = transaction === 'none' ? 'no transaction open' : `transaction ${transaction}`;
  const lines = [`conversation ${id}: ${phase}, ${open}, version ${version}${by}`];
  if (state === undefined) lines.push('  its content is not in the journal: payloads were not kept');
  for (const task of state?.tasks.values() ?? []) {
    lines.push(`  task ${task.id}: ${counted(task.messages.length, 'message')}`);
  }
  return lines.join('\n');
}
