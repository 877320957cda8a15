/** What a soak counts, and what it finds wrong. */

/** Something that is not as it has to be. */
export interface SoakFinding {
  /** Where: the seed of the session, or the shift. */
  readonly where: string;
  readonly what: string;
}

const mostFindings = 50;

export class Tally {
  sessions = 0;
  /** Of these: over a real socket. */
  sockets = 0;
  refusedStarts = 0;
  restarts = 0;
  failures = 0;
  conversations = 0;
  events = 0;
  acts = 0;
  refusedActs = 0;
  codeStarted = 0;
  late = 0;
  journals = 0;
  records = 0;
  compactions = 0;
  shifts = 0;
  peakHeap = 0;
  /** Calls, by the outcome that `lifecycle$` told of. */
  readonly calls = new Map<string, number>();
  /** Incarnations, by the reason of their end. */
  readonly ends = new Map<string, number>();
  readonly findings: SoakFinding[] = [];
  beyond = 0;

  found(where: string, what: string): void {
    if (this.findings.length < mostFindings) this.findings.push({ where, what });
    else this.beyond++;
  }

  look(): void {
    this.peakHeap = Math.max(this.peakHeap, process.memoryUsage().heapUsed);
  }
}

export function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

const number = (value: number) => value.toLocaleString('en-US');

function byNumber(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, times]) => `${word} ${number(times)}`)
    .join(', ');
}

/** The table at the end. */
export function tableOf(tally: Tally, more: readonly (readonly [string, string])[]): string {
  const { findings, beyond } = tally;
  const all = [...tally.calls.values()].reduce((sum, times) => sum + times, 0);
  const rows: (readonly [string, string])[] = [
    [
      'sessions',
      `${number(tally.sessions)} started, ${number(tally.sockets)} of them over sockets; ${number(tally.refusedStarts)} starts refused`,
    ],
    ['incarnations', byNumber(tally.ends)],
    ['restarts', `${number(tally.restarts)}, ${number(tally.failures)} sessions given up`],
    ['calls', `${number(all)}: ${byNumber(tally.calls)}`],
    ['code', `${number(tally.codeStarted)} started, ${number(tally.late)} told late`],
    ['host acts', `${number(tally.acts)}, ${number(tally.refusedActs)} refused`],
    ['events read', number(tally.events)],
    ['conversations', number(tally.conversations)],
    [
      'journals',
      `${number(tally.journals)} verified, ${number(tally.records)} records, ${tally.compactions} compactions`,
    ],
    ['peak heap', `${(tally.peakHeap / 2 ** 20).toFixed(1)} MiB`],
    ...more,
    ['findings', number(findings.length + beyond)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}
