/** A stream as a file that `commitpoint fold` reads. */
import { toBinary } from '@bufbuild/protobuf';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import type { FoldInput } from '../../src/conversation/index.js';
import type { Way } from '../../src/testing/arbitraries/index.js';
import { encodeJsonLine } from '../../src/wire/index.js';

/** @param findings what is wrong with it, for its head */
export function foldFile({ mode, policies }: Way, inputs: readonly FoldInput[], findings: readonly string[]): string {
  const sets = Object.entries(policies).map(([name, value]) => ` --set ${name}=${value}`);
  const head = [`args: --mode ${mode}${sets.join('')}`, ...findings].map((line) => `// ${line.replaceAll('\n', ' ')}`);
  return [...head, ...inputs.map(lineOf)].join('\n');
}

function lineOf(input: FoldInput): string {
  if (!('end' in input)) return eventLine(input);
  // a file of JSON has no bad frames: what counts as one is an error
  if (input.end === 'bad_frame')
    return `// a bad frame, which a file of JSON cannot hold\n{"end":"error","message":""}`;
  return JSON.stringify(input);
}

function eventLine(event: ResponseEvent): string {
  const bytes = `// as binary: ${Buffer.from(toBinary(ResponseEventSchema, event)).toString('base64url')}`;
  try {
    const line = new TextDecoder().decode(encodeJsonLine(event)).trimEnd();
    return hasUnknown(event) ? `${bytes} (JSON has no place for its unknown fields)\n${line}` : line;
  } catch {
    return `${bytes} (JSON cannot say it)`;
  }
}

function hasUnknown(event: ResponseEvent): boolean {
  return JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? String(value) : value)).includes('$unknown');
}
