import { createReadStream } from 'node:fs';
import { BadFrameError, InvalidInputError, isCommitpointError } from '../../contract/errors.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  type ConversationResult,
  conversationModes,
  createFold,
  type Fold,
  type FoldInput,
  type FoldState,
  policyValues,
  resultOf,
} from '../../conversation/index.js';
import { decodeBinary, decodeSse } from '../../wire/index.js';
import type { ExitStatus } from '../exit.js';
import { foldLines } from '../fold-lines.js';
import { complain, print } from '../output.js';
import { readText, UnreadableFileError } from '../read-file.js';
import { differencesFrom } from '../subset.js';

export interface FoldOptions {
  readonly format: string;
  readonly mode: string;
  /** `policy=value`, one for each `--set`. */
  readonly set: readonly string[];
  readonly json?: boolean;
}

/**
 * `commitpoint fold FILE…`: what a conversation each file makes.
 *
 * @throws {InvalidInputError} for an option that there is not
 */
export async function foldFiles(files: readonly string[], options: FoldOptions): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const file of files) {
    const folded = await foldFile(file, options);
    for (const complaint of folded.complaints) complain(complaint);
    if (folded.result !== undefined) print(JSON.stringify(folded.result, undefined, options.json ? 0 : 2));
    if (folded.status > status) status = folded.status;
  }
  return status;
}

/** What became of a file. */
export interface FoldedFile {
  readonly status: ExitStatus;
  /** `undefined` for a file that cannot be used. */
  readonly result: ConversationResult | undefined;
  /** What is wrong with it, each with its place. */
  readonly complaints: readonly string[];
}

/** Folds one file. @throws {InvalidInputError} for an option that there is not */
export async function foldFile(file: string, options: FoldOptions): Promise<FoldedFile> {
  const fold = createFold({ mode: modeOf(options.mode), policies: policiesOf(options.set) });
  const read = readerOf(options.format);
  const conversation = new Conversation(file, fold);
  try {
    await read(file, conversation);
    return conversation.folded;
  } catch (error) {
    if (!isCommitpointError(error)) throw error;
    return { status: 2, result: undefined, complaints: [...conversation.folded.complaints, error.message] };
  }
}

type Reader = (file: string, conversation: Conversation) => Promise<void>;

/** A conversation that a file is folded into. */
class Conversation {
  readonly #file: string;
  readonly #fold: Fold;
  readonly #complaints: string[] = [];
  #state: FoldState;

  constructor(file: string, fold: Fold) {
    this.#file = file;
    this.#fold = fold;
    this.#state = fold.initial;
  }

  /** Whether to read on. */
  take(input: FoldInput): boolean {
    const { state, error } = this.#fold.take(this.#state, input);
    this.#state = state;
    if (error !== undefined) this.#complaints.push(`${this.#file}: ${error.message}`);
    return error === undefined;
  }

  expect(expected: object, line: number): void {
    const differences = differencesFrom(expected, resultOf(this.#state.conversation));
    if (differences.length === 0) return;
    const lines = differences.map(({ path, expected: wanted, found }) => {
      return `  ${path}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(found) ?? 'nothing'}`;
    });
    this.#complaints.push(`${this.#file}:${line}: the result is not what was expected\n${lines.join('\n')}`);
  }

  get folded(): FoldedFile {
    const complaints = this.#complaints;
    return { status: complaints.length > 0 ? 1 : 0, result: resultOf(this.#state.conversation), complaints };
  }
}

async function readLines(file: string, conversation: Conversation): Promise<void> {
  let hasEnded = false;
  for (const line of foldLines(await readText(file), file)) {
    if (line.type === 'expect') {
      conversation.expect(line.expected, line.line);
      continue;
    }
    hasEnded = line.type === 'end';
    if (!conversation.take(line.type === 'end' ? line.end : line.event)) return;
  }
  if (!hasEnded) conversation.take({ end: 'eof' });
}

function frameReader(decode: typeof decodeSse): Reader {
  return async (file, conversation) => {
    try {
      for await (const event of decode(bytesOf(file))) if (!conversation.take(event)) return;
      conversation.take({ end: 'eof' });
    } catch (error) {
      if (!(error instanceof BadFrameError)) throw error;
      conversation.take({ end: 'bad_frame', message: error.message });
    }
  };
}

/** The bytes of a file, or of standard input for `-`. @throws {UnreadableFileError} */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) yield chunk as Uint8Array;
  } catch (error) {
    throw new UnreadableFileError(file, error);
  }
}

function readerOf(format: string): Reader {
  switch (format) {
    case 'jsonl':
      return readLines;
    case 'sse':
      return frameReader(decodeSse);
    case 'binary':
      return frameReader(decodeBinary);
    default:
      throw new InvalidInputError('format', 'jsonl, sse or binary', format);
  }
}

/** @throws {InvalidInputError} for one that there is not */
export function modeOf(mode: string): ConversationMode {
  const known = conversationModes.find((name) => name === mode);
  if (known === undefined) throw new InvalidInputError('mode', conversationModes.join(', '), mode);
  return known;
}

/** What `--set` says; names and values are looked at by the fold. @throws {InvalidInputError} */
export function policiesOf(settings: readonly string[]): Partial<ConversationPolicies> {
  const policies = settings.map((setting) => {
    const at = setting.indexOf('=');
    if (at > 0) return [setting.slice(0, at), setting.slice(at + 1)] as const;
    throw new InvalidInputError('setting', `policy=value, of ${Object.keys(policyValues).join(', ')}`, setting);
  });
  return Object.fromEntries(policies) as Partial<ConversationPolicies>;
}
