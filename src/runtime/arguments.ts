/** From a call's arguments to the tool's input, and from what the tool gives to what is sent. */
import { messageOf } from '../contract/errors.js';
import type { Verdict } from '../contract/tool.js';

/** A result as it is sent to the far side. */
export interface CallResult {
  readonly output: string;
  readonly isError: boolean;
}

export function errorResult(output: string): CallResult {
  return { output, isError: true };
}

/** Reads the text that the model wrote. The empty text counts as `{}`; whatever is no JSON object is refused. */
export function parseArguments(text: string): Verdict & { readonly value?: unknown } {
  let value: unknown;
  try {
    value = text === '' ? {} : JSON.parse(text);
  } catch (thrown) {
    return { ok: false, problem: `the arguments are not valid JSON: ${messageOf(thrown)}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { ok: false, problem: `the arguments must be a JSON object, found ${found}` };
  }
  return { ok: true, value };
}

/** What is sent for a tool's return value: a string as it is, nothing as the empty text, all else as JSON text. */
export function resultOf(value: unknown): CallResult {
  if (typeof value === 'string') return { output: value, isError: false };
  if (value === undefined) return { output: '', isError: false };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return { output: text, isError: false };
    return errorResult(`the tool gave a ${typeof value}, which JSON cannot hold`);
  } catch (thrown) {
    return errorResult(`the tool gave a value that JSON cannot hold: ${messageOf(thrown)}`);
  }
}

/** What is sent for a throw or a rejection of a tool. */
export function failureOf(thrown: unknown): CallResult {
  return errorResult(messageOf(thrown));
}
