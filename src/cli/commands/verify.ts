import { type Verdict, verify } from '../../verify/index.js';
import type { ExitStatus } from '../exit.js';
import { JournalInput } from '../journal-input.js';
import { counted, findingInWords, versionsInWords } from '../journal-words.js';
import { complain, print } from '../output.js';

export interface VerifyCommandOptions {
  readonly json?: boolean;
}

/** `commitpoint verify JOURNAL…`: checks journals against every invariant, and against the machines. */
export async function verifyJournals(
  paths: readonly string[],
  { json = false }: VerifyCommandOptions,
): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const path of paths) {
    const input = new JournalInput(path);
    const verdict = await verify(input);
    if (json) printJson(input, verdict);
    else tell(input, verdict);
    if (input.damage !== undefined || verdict.findings.length > 0) status = 1;
  }
  return status;
}

function printJson({ path, damage, tornAt }: JournalInput, { findings, ...verdict }: Verdict): void {
  for (const { invariant, seq, actor, what, record } of findings) {
    const { event, from, to, cause, did } = record;
    const acts = did.map(({ effect, detail }) => (detail === undefined ? { effect } : { effect, detail }));
    print(JSON.stringify({ finding: { file: path, invariant, seq, actor, what, event, from, to, cause, did: acts } }));
  }
  const ending = {
    ...(damage === undefined ? {} : { damagedAt: damage.offset, damage: damage.message }),
    ...(tornAt === undefined ? {} : { tornAt }),
  };
  print(JSON.stringify({ verdict: { file: path, sound: isSound(findings.length, damage), ...verdict, ...ending } }));
}

function isSound(findings: number, damage: unknown): boolean {
  return findings === 0 && damage === undefined;
}

function tell(input: JournalInput, verdict: Verdict): void {
  const { path, damage, tornAt } = input;
  const { records, sessions, calls, conversations, transactions, findings, findingsBeyond } = verdict;
  const lives = [
    counted(sessions, 'session'),
    counted(calls, 'call'),
    counted(conversations, 'conversation'),
    counted(transactions, 'transaction'),
  ].join(', ');
  print(`${path}: ${counted(records, 'record')}: ${lives}`);
  for (const finding of findings) complain(`${path}: ${findingInWords(finding)}`);
  if (findingsBeyond > 0) complain(`${path}: and ${findingsBeyond} more`);
  if (damage !== undefined) {
    complain(
      `${damage.message}\n  what stands before it was checked; nothing behind it can be trusted. Keep the file.`,
    );
  }
  if (isSound(findings.length, damage)) {
    print('  sound: no invariant is broken, and the machines take every step again');
  }
  for (const notice of noticesOf(verdict, tornAt)) print(`  ${notice}`);
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
  ] as const;
  const lives = open.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  if (lives.length > 0)
    notices.push(`without an end, so far: ${lives.join(', ')} (they go on, or their process is gone)`);
  if (unjudged > 0) {
    notices.push(`${counted(unjudged, 'record')} not judged, since records before them are missing`);
  }
  const versions = versionsInWords(machines);
  if (versions !== undefined) notices.push(versions);
  return notices;
}
