import { type Schema, Validator } from '@cfworker/json-schema';
import { isJsonObject } from '../../scenario/json.js';
import type { ScenarioTool } from '../../scenario/scenario.js';

/** What the arguments of a call come to. `unknown`: the schema cannot be made sense of. */
export type InputVerdict =
  | { readonly kind: 'input'; readonly input: unknown }
  | { readonly kind: 'refused'; readonly because: string }
  | { readonly kind: 'unknown'; readonly input: unknown };

const validators = new WeakMap<object, Validator>();

/** Judges the arguments of a call by the text and the schema alone. */
export function judgeInput(text: string, tool: ScenarioTool | undefined): InputVerdict {
  if (tool === undefined) return { kind: 'refused', because: 'there is no such tool' };
  let input: unknown;
  try {
    input = text === '' ? {} : JSON.parse(text);
  } catch {
    return { kind: 'refused', because: 'its arguments are no JSON' };
  }
  if (!isJsonObject(input)) return { kind: 'refused', because: 'its arguments are no JSON object' };
  if (tool.input === undefined) return { kind: 'input', input };
  try {
    return validatorOf(tool.input).validate(input).valid
      ? { kind: 'input', input }
      : { kind: 'refused', because: 'its schema refuses the input' };
  } catch {
    return { kind: 'unknown', input };
  }
}

function validatorOf(schema: Readonly<Record<string, unknown>>): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    // A copy: the validator writes into the schema that it is given.
    validator = new Validator(JSON.parse(JSON.stringify(schema)) as Schema, '2020-12');
    validators.set(schema, validator);
  }
  return validator;
}
