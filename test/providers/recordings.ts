import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseRecording, type RecordedFrame } from '../../src/providers/recorded/index.js';

// The recordings are not ours to copy: they lie beside the repository, in CI and on our machines, and not beside a stranger's clone.
const folder = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url));

/** Whether there are recordings to test with. Says so once where there are none. */
export const haveRecordings = existsSync(folder);
if (!haveRecordings) console.warn('No recordings beside the repository (../shared/fixtures): their tests are skipped.');

/** A recorded file of one service. */
export interface Recording {
  readonly name: string;
  readonly frames: readonly RecordedFrame[];
  /** Decoded frames of the server, in order, without closes. */
  readonly server: readonly Json[];
}

/** JSON of which a test knows the shape. */
// biome-ignore lint/suspicious/noExplicitAny: a recording has whatever the service sent
export type Json = any;

/** The files of a service of which `kind` holds, by name. */
export function recordingsOf(service: 'openai' | 'gemini', kind: 'recorded' | 'made'): Recording[] {
  if (!haveRecordings) return [];
  return readdirSync(`${folder}${service}`)
    .filter((name) => name.endsWith('.jsonl') && made.test(name) === (kind === 'made'))
    .sort()
    .map((name) => read(service, name));
}

/** Written by hand, from documents or from issues, and so no witness of what a service does. */
const made = /^(SYNTHETIC|doc-examples|errors-and-closes)/;

function read(service: string, name: string): Recording {
  const frames = parseRecording(readFileSync(`${folder}${service}/${name}`, 'utf8'), name);
  const server = frames.flatMap((frame) => (frame.dir === 's2c' && 'data' in frame ? [frame.data as Json] : []));
  return { name, frames, server };
}
