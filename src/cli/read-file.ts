import { readFile } from 'node:fs/promises';
import { CommitpointError, messageOf } from '../contract/errors.js';

/** A file that cannot be read. Name another, or mend its rights. */
export class UnreadableFileError extends CommitpointError {
  readonly code = 'unreadable_file';
  constructor(
    readonly file: string,
    cause: unknown,
  ) {
    super(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** The text of a file, or of standard input for `-`. @throws {UnreadableFileError} */
export async function readText(file: string): Promise<string> {
  try {
    if (file !== '-') return await readFile(file, 'utf8');
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw new UnreadableFileError(file, error);
  }
}
