import { readFile } from 'node:fs/promises';
import { UnreadableFileError } from '../contract/errors.js';

export { UnreadableFileError };

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
