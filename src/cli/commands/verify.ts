import { type Verdict, verify } from '../../verify/index.js';
import type { ExitStatus } from '../exit.js';
import { JournalInput } from '../journal-input.js';
import { counted, findingInWords, recordAsJson, versionsInWords } from '../journal-words.js';
import { complain, print } from '../output.js';

export interface VerifyCommandOptions {
  readonly json?: boolean;
}

/** What there is to say of a journal. */
export interface CheckedJournal {
  readonly status: ExitStatus;
  /** For standard output. */
  readonly lines: readonly string[];
  /** For standard error. */
  readonly complaints: readonly string[];
}

/** `commitpoint verify JOURNAL…`: checks journals against every invariant, and against the machines. */
export async function verifyJournals(paths: readonly string[], options: VerifyCommandOptions): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const path of paths) {
    const checked = await verifyJournal(path, options);
    for (const complaint of checked.complaints) complain(complaint);
    for (const line of checked.lines) print(line);
    if (checked.status > status) status = checked.status;
  }
  return status;
}

/** Checks one. @throws {UnreadableFileError} {@link JournalFormatError} */
export async function verifyJournal(path: string, { json = false }: VerifyCommandOptions): Promise<CheckedJournal> {
  const input = new JournalInput(path);
  const verdict = await verify(input);
  const isSound = input.damage === undefined && verdict.findings.length === 0;
  return {
    status: isSound ? 0 : 1,
    lines: json ? asJson(input, verdict, isSound) : inWords(input, verdict, isSound),
    complaints: json ? [] : complaintsOf(input, verdict),
  };
}

function asJson({ path, damage, tornAt }: JournalInput, verdict: Verdict, sound: boolean): readonly string[] {
  const { findings, ...counts } = verdict;
  const found = findings.map(({ invariant, what, record }) => {
    return JSON.stringify({ finding: { file: path, invariant, what, record: recordAsJson(record) } });
  });
  const ending = {
    ...(damage === undefined ? {} : { damagedAt: damage.offset, damage: damage.message }),
    ...(tornAt === undefined ? {} : { tornAt }),
  };
  return [...found, JSON.stringify({ verdict: { file: path, sound, ...counts, ...ending } })];
}

function complaintsOf({ path, damage }: JournalInput, { findings, findingsBeyond }: Verdict): readonly string[] {
  const complaints = findings.map((finding) => `${path}: ${findingInWords(finding)}`);
  if (findingsBeyond > 0) complaints.push(`${path}: and ${findingsBeyond} more`);
  if (damage !== undefined) {
    const advice = 'what stands before it was checked; nothing behind it is to be trusted. Keep the file.';
    complaints.push(`${damage.message}\n  ${advice}`);
  }
  return complaints;
}

function inWords({ path, tornAt }: JournalInput, verdict: Verdict, isSound: boolean): readonly string[] {
  const { records, sessions, calls, conversations, transactions, supervisors } = verdict;
  const lives = [
    counted(sessions, 'session'),
    counted(calls, 'call'),
    counted(conversations, 'conversation'),
    counted(transactions, 'transaction'),
    ...(supervisors > 0 ? [counted(supervisors, 'supervisor')] : []),
  ].join(', ');
  const judged = isSound
    ? ['  sound: no invariant is broken, and the machines take every step again']
    : ['  not sound, see above'];
  const notices = noticesOf(verdict, tornAt).map((notice) => `  ${notice}`);
  return [`${path}: ${counted(records, 'record')}: ${lives}`, ...judged, ...notices];
}

/** What is no fault, and good to know. */
function noticesOf({ unfinished, unjudged, machines }: Verdict, tornAt: number | undefined): readonly string[] {
  const notices: string[] = [];
  if (tornAt !== undefined) {
    notices.push(
      `the last write was cut off at byte ${tornAt}: what stands there was never acknowledged, and is left out`,
    );
  }
  const open = [
    [unfinished.sessions, 'session'],
    [unfinished.calls, 'call'],
    [unfinished.conversations, 'conversation'],
    [unfinished.transactions, 'transaction'],
    [unfinished.supervisors, 'supervisor'],
  ] as const;
  const lives = open.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  if (lives.length > 0) notices.push(`without an end: ${lives.join(', ')} (they go on, or their process is gone)`);
  if (unjudged > 0) {
    notices.push(`${counted(unjudged, 'record')} could not be judged, since records before them are missing`);
  }
  const versions = versionsInWords(machines);
  if (versions !== undefined) notices.push(versions);
  return notices;
}
