/** What `commitpoint inspect` can be given: a scenario, a counterexample, a file of response events, a journal. */
import { open, stat } from 'node:fs/promises';
import { isCommitpointError, ScenarioError, UnreadableFileError } from '../contract/errors.js';
import { tapped } from '../contract/session-tap.js';
import type { PresentedRun } from '../inspect/view/presentation.js';
import { MemoryJournal } from '../journal/index.js';
import { createConversation } from '../runtime/index.js';
import { parseScenario } from '../scenario/parse.js';
import type { Scenario } from '../scenario/scenario.js';
import { Simulator } from '../testing/simulator.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { modeOf, policiesOf } from './commands/fold.js';
import { foldLines } from './fold-lines.js';
import { JournalInput } from './journal-input.js';
import { readText } from './read-file.js';

/** Finds out what a file is. @throws {UnreadableFileError} {@link ScenarioError} */
export async function inspectSourceOf(file: string): Promise<PresentedRun> {
  if (file !== '-' && (await headOf(file)) === fileMark) return journalSource(file);
  const text = await readText(file);
  if (text.trim() === '') {
    throw new ScenarioError(file, 1, 'expected a journal, a scenario or response events, found an empty file');
  }
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/, 100);
  const [first = [], ...others] = lines
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('//'))
    .map((line) => keysOf(line));
  if (first.includes('kind') && first.includes('actor')) return journalSource(file, text);
  const isResponse = [first, ...others].some((keys) => keys.some((key) => responseKeys.has(key)));
  return isResponse ? responseSource(file, text) : scenarioSource(file, parseScenario(text, file));
}

/** How a journal's file begins. */
const fileMark = 'CPJOURN';

/**
 * The first bytes of a file: a journal may be larger than what fits in memory. None of a pipe, which can be read once.
 *
 * @throws {UnreadableFileError}
 */
async function headOf(file: string): Promise<string> {
  try {
    const kind = await stat(file);
    if (kind.isFIFO() || kind.isCharacterDevice() || kind.isSocket()) return '';
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(fileMark.length), 0, fileMark.length, 0);
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw new UnreadableFileError(file, thrown);
  }
}

/** What lines of a file of response events have, and no line of a scenario. */
const responseKeys: ReadonlySet<string> = new Set(['init', 'clientActions', 'client_actions', 'finished', 'end']);

function keysOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    // whoever reads it says what is wrong with it
    return [];
  }
}

/** The explorer's titles begin with what is broken. */
function kindOf(title: string): 'scenario' | 'counterexample' {
  return /^(?:[CD]\d+|structure|divergent): /.test(title) ? 'counterexample' : 'scenario';
}

// ── a scenario ──

/** A scenario, run in virtual time. */
export function scenarioSource(file: string, scenario: Scenario): PresentedRun {
  const { title } = scenario;
  return {
    title: title === '' ? file : title,
    source: kindOf(title),
    run: async (presentation) => {
      const simulator = new Simulator(scenario.header, 'keep');
      let taken = 0;
      const take = () => {
        const { journal } = simulator;
        for (; taken < journal.length; taken++) {
          const record = journal[taken];
          if (record !== undefined) presentation.record(record);
        }
      };
      const { sessionId } = simulator.session;
      const tap = presentation.tapOf(sessionId);
      // what was recorded is told first, since a session records before it reports
      const behind =
        <Given>(tell: ((given: Given) => void) | undefined) =>
        (given: Given): void => {
          take();
          tell?.(given);
        };
      simulator.session[tapped]({
        reported: behind(tap.reported),
        noted: behind(tap.noted),
        acted: behind(tap.acted),
        ended: behind(tap.ended),
      });
      presentation.startClock(() => simulator.clock.now());
      await simulator.settle();
      take();
      presentation.flush();
      for (const { line, step } of scenario.steps) {
        if ('expect' in step) continue;
        if (presentation.isOver) break;
        const impossible = await simulator.step(step);
        take();
        presentation.flush();
        if (impossible !== undefined) throw new ScenarioError(file, line, `impossible step: ${impossible.problem}`);
      }
      return 'the scenario has ended';
    },
  };
}

// ── response events ──

/** A file of response events, folded as the comment says that an explorer writes at its head, else as by default. */
function responseSource(file: string, text: string): PresentedRun {
  const comments = text.split(/\r?\n/).filter((line) => line.startsWith('// '));
  const title = comments[0]?.slice(3) ?? file;
  const words = comments.find((line) => line.startsWith('// commitpoint fold '))?.split(' ') ?? [];
  const mode = words[words.indexOf('--mode') + 1];
  const settings = words.flatMap((word, index) => (word === '--set' ? [words[index + 1] ?? ''] : []));
  return {
    title,
    source: kindOf(title),
    run: async (presentation) => {
      const clock = new VirtualClock();
      const journal = new MemoryJournal({ payloads: 'keep' });
      let taken = 0;
      const take = () => {
        const { records } = journal;
        for (; taken < records.length; taken++) {
          const record = records[taken];
          if (record !== undefined) presentation.record(record);
        }
        presentation.flush();
      };
      const conversation = createConversation({
        journal,
        clock,
        id: 'conversation',
        mode: words.includes('--mode') && mode !== undefined ? modeOf(mode) : 'tolerant',
        policies: policiesOf(settings),
      });
      take();
      let hasEnded = false;
      for (const line of foldLines(text, file)) {
        if (line.type === 'expect') continue;
        hasEnded = line.type === 'end';
        try {
          conversation.apply(line.type === 'end' ? line.end : line.event);
        } catch (thrown) {
          // strict: what failed the stream is a step of it
          if (!isCommitpointError(thrown)) throw thrown;
        }
        take();
      }
      if (!hasEnded) conversation.apply({ end: 'eof' });
      take();
      return 'the stream has ended';
    },
  };
}

// ── a journal ──

function journalSource(file: string, text?: string): PresentedRun {
  return {
    title: file,
    source: 'journal',
    run: async (presentation) => {
      const input = new JournalInput(file, text);
      let count = 0;
      for await (const record of input) {
        if (presentation.isOver) break;
        presentation.record(record);
        count++;
        if (count % 1000 === 0) presentation.flush();
      }
      if (input.damage !== undefined) return `${input.damage.message}; what stands before it is shown`;
      if (input.tornAt !== undefined) return `the last write was cut off at byte ${input.tornAt}`;
      return 'the journal ends here';
    },
  };
}
