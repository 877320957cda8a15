/** Journals as the command line reads them: files of frames, and JSON lines. */
import { fromJsonString, toBinary } from '@bufbuild/protobuf';
import { RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import { isCommitpointError, JournalDamagedError, messageOf, UnreadableFileError } from '../contract/errors.js';
import type { JournalRecord } from '../contract/journal.js';
import { decodeRecord } from '../journal/index.js';
import { nodeDisk } from '../journals/file/disk.js';
import { FrameReader } from '../journals/file/frame-reader.js';
import { openToRead } from '../journals/file/record-stream.js';
import { readText } from './read-file.js';

/**
 * The records of a file, once, and then how it ended. A name that ends with `.jsonl`, and `-` for standard input, are JSON lines,
 * a record each; anything else is a journal as `commitpoint/journals/file` writes it.
 */
export class JournalInput implements AsyncIterable<JournalRecord> {
  readonly path: string;
  /** What is wrong with it; the records before that place were given. */
  damage: JournalDamagedError | undefined;
  /** Where a write was cut off, in bytes: what stands there is no record, and was never acknowledged. */
  tornAt: number | undefined;

  readonly #text: string | undefined;

  /** `text`: of JSON lines that were read already. */
  constructor(path: string, text?: string) {
    this.path = path;
    this.#text = text;
  }

  /** @throws {UnreadableFileError} {@link JournalFormatError} */
  async *[Symbol.asyncIterator](): AsyncGenerator<JournalRecord> {
    try {
      const isLines = this.#text !== undefined || this.path === '-' || this.path.endsWith('.jsonl');
      yield* isLines ? this.#lines() : this.#frames();
    } catch (thrown) {
      if (!isCommitpointError(thrown)) throw new UnreadableFileError(this.path, thrown);
      if (!(thrown instanceof JournalDamagedError)) throw thrown;
      this.damage = thrown;
    }
  }

  async *#frames(): AsyncGenerator<JournalRecord> {
    const { file, bound } = await openToRead(this.path, nodeDisk);
    try {
      const reader = new FrameReader(file, this.path, bound);
      await reader.open();
      let piece: JournalRecord[] = [];
      while (await reader.next((record) => piece.push(record))) {
        yield* piece;
        piece = [];
      }
      if (await reader.hasTail()) this.tornAt = reader.soundEnd;
    } finally {
      await file.close();
    }
  }

  async *#lines(): AsyncGenerator<JournalRecord> {
    let line = 0;
    for (const written of (this.#text ?? (await readText(this.path))).replace(/^\ufeff/, '').split(/\r?\n/)) {
      line++;
      if (written.trim() === '' || written.trimStart().startsWith('//')) continue;
      yield recordIn(written, this.path, line);
    }
  }
}

function recordIn(written: string, path: string, line: number): JournalRecord {
  try {
    return decodeRecord(toBinary(RecordSchema, fromJsonString(RecordSchema, written)));
  } catch (thrown) {
    const problem = `line ${line} holds no record: ${messageOf(thrown)}`;
    throw new JournalDamagedError(path, line, problem);
  }
}
