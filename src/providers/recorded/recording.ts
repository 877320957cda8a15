import { RecordingError } from '../../contract/errors.js';
import { isRecord, type JsonRecord, kindOf } from '../../contract/wire-reading.js';

/** One frame of a recorded connection, in recorded order. */
export type RecordedFrame =
  | { readonly dir: 's2c' | 'c2s'; readonly data: unknown }
  /** The side that `dir` names closed the connection. */
  | { readonly dir: 's2c' | 'c2s'; readonly close: RecordedClose };

/** A WebSocket close frame; `reason` is empty where none was given. */
export interface RecordedClose {
  readonly code: number;
  readonly reason: string;
}

/** A run of identical frames may be no longer than this. */
const longestRun = 100_000;

/**
 * Reads a recording: JSON lines `{"dir":"s2c"|"c2s","data":<wire JSON>}`, blank
 * lines skipped. `data` may be `{"__close__":{"code","reason"}}`. `__repeat__`,
 * beside `dir` or inside `data`, stands for a run of identical frames: a count,
 * or `{"count","data"}`. `__source__` is for people.
 * @param text the whole file
 * @param file its name, for errors
 * @throws {RecordingError} at the first line that is no such line, with its number.
 */
export function parseRecording(text: string, file: string): RecordedFrame[] {
  const frames: RecordedFrame[] = [];
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const fail: Fail = (problem) => {
      throw new RecordingError(file, index + 1, problem);
    };
    const record = objectOf(line, fail);
    const { dir } = record;
    if (dir !== 's2c' && dir !== 'c2s') return fail(`expected "dir" to be "s2c" or "c2s", found ${shown(dir)}`);
    const [frame, times] = frameOf(record, dir, fail);
    for (let n = 0; n < times; n++) frames.push(frame);
  }
  return frames;
}

type Fail = (problem: string) => never;

function objectOf(line: string, fail: Fail): JsonRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fail('expected a JSON object, found text that is no JSON');
  }
  return isRecord(value) ? value : fail(`expected a JSON object, found ${kindOf(value)}`);
}

function frameOf(line: JsonRecord, dir: 's2c' | 'c2s', fail: Fail): [frame: RecordedFrame, times: number] {
  const outer = repeatOf(line, fail);
  let data = 'data' in line ? line.data : outer.data;
  if (data === undefined && '__close__' in line) data = { __close__: line.__close__ };
  let times = outer.times;
  if (isRecord(data) && '__repeat__' in data) {
    const inner = repeatOf(data, fail);
    times *= inner.times;
    data = inner.data ?? without(data, '__repeat__');
  }
  if (times > longestRun) return fail(`expected a run of at most ${longestRun} frames, found ${times}`);
  if (data === undefined) return fail('expected "data", found none');
  if (isRecord(data) && '__close__' in data) return [{ dir, close: closeOf(data.__close__, fail) }, times];
  return [{ dir, data: isRecord(data) && '__source__' in data ? without(data, '__source__') : data }, times];
}

function repeatOf(record: JsonRecord, fail: Fail): { times: number; data?: unknown } {
  if (!('__repeat__' in record)) return { times: 1 };
  const repeat = record.__repeat__;
  const times = isRecord(repeat) ? (repeat.count ?? repeat.times ?? repeat.n) : repeat;
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 1) {
    return fail(`expected "__repeat__" to be a count from 1, found ${shown(times)}`);
  }
  return isRecord(repeat) ? { times, data: repeat.data ?? repeat.frame } : { times };
}

function closeOf(value: unknown, fail: Fail): RecordedClose {
  const code = isRecord(value) ? value.code : undefined;
  if (typeof code !== 'number' || !Number.isInteger(code)) {
    return fail(`expected "__close__" to have an integer "code", found ${shown(code)}`);
  }
  const reason = isRecord(value) ? (value.reason ?? '') : '';
  return typeof reason === 'string' ? { code, reason } : fail(`expected "reason" to be text, found ${kindOf(reason)}`);
}

function without(record: JsonRecord, key: string): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return value === undefined ? 'none' : typeof value === 'number' ? String(value) : kindOf(value);
}
