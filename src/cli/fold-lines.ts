/** The lines of a file of response events: events, ends, and what is expected so far. */

import type { ResponseEvent } from '../../proto/index.js';
import { BadFrameError, ScenarioError } from '../contract/errors.js';
import type { FoldEnd } from '../conversation/index.js';
import { decodeJsonLine } from '../wire/index.js';

/** One line. `line` counts from 1. */
export type FoldLine =
  | { readonly type: 'event'; readonly event: ResponseEvent }
  | { readonly type: 'end'; readonly end: FoldEnd }
  | { readonly type: 'expect'; readonly expected: object; readonly line: number };

/**
 * Reads lines, each when it is asked for.
 *
 * @throws {ScenarioError} by the loop, at a line that is none of them
 */
export function* foldLines(text: string, file: string): IterableIterator<FoldLine> {
  let line = 0;
  for (const written of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    line++;
    if (written.trim() === '' || written.trimStart().startsWith('//')) continue;
    const object = jsonObject(written, file, line);
    if ('end' in object) yield { type: 'end', end: endOf(object, file, line) };
    else if ('expect' in object) yield { type: 'expect', expected: expectedOf(object, file, line), line };
    else yield { type: 'event', event: eventOf(written, file, line) };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function jsonObject(written: string, file: string, line: number): Fields {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    throw new ScenarioError(file, line, 'expected a JSON object, found something that is no JSON');
  }
  if (!isObject(value)) throw new ScenarioError(file, line, 'expected a JSON object, found other JSON');
  return value;
}

function endOf(object: Fields, file: string, line: number): FoldEnd {
  const { end, message = '' } = object;
  const keys = end === 'error' ? ['end', 'message'] : ['end'];
  onlyKeys(object, keys, file, line);
  switch (end) {
    case 'eof':
    case 'cancel':
      return { end };
    case 'error':
      if (typeof message !== 'string') throw new ScenarioError(file, line, 'expected a text as message');
      return { end, message };
    default:
      throw new ScenarioError(file, line, 'expected the end to be eof, error or cancel');
  }
}

function expectedOf(object: Fields, file: string, line: number): object {
  onlyKeys(object, ['expect'], file, line);
  const { expect } = object;
  if (!isObject(expect)) throw new ScenarioError(file, line, 'expected a JSON object to be expected');
  return expect;
}

function eventOf(written: string, file: string, line: number): ResponseEvent {
  try {
    return decodeJsonLine(written, line);
  } catch (error) {
    if (error instanceof BadFrameError) throw new ScenarioError(file, line, error.problem);
    throw error;
  }
}

function onlyKeys(object: Fields, keys: readonly string[], file: string, line: number): void {
  const other = Object.keys(object).find((key) => !keys.includes(key));
  if (other !== undefined) throw new ScenarioError(file, line, `unknown key ${JSON.stringify(other.slice(0, 80))}`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
