import { type Schema, Validator } from '@cfworker/json-schema';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { messageOf } from '../contract/errors.js';
import type { Tool, ToolDefinition, ToolInputSchema, Verdict } from '../contract/tool.js';
import { adopted, isThenable } from './attempt.js';
import { assertMilliseconds } from './options.js';

/**
 * Checks a tool's definition and makes the tool that `startSession` takes.
 *
 * @throws {TypeError} when a field has the wrong shape, or when `input` is a
 *   Standard Schema that prints no JSON Schema and no `parameters` stand beside
 *   it.
 * @throws {RangeError} when `timeoutMs` is no integer of 0 … 2147483647.
 */
export function defineTool<const Input extends ToolInputSchema>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, onInterruption = 'abandon', effect = 'irreversible', timeoutMs = 0 } = definition;
  if (typeof name !== 'string' || name === '') throw new TypeError('tool name: expected a string that is not empty');
  const where = `tool ${name}`;
  if (typeof description !== 'string') throw new TypeError(`${where}: expected \`description\` to be a string`);
  if (typeof definition.execute !== 'function') throw new TypeError(`${where}: expected \`execute\` to be a function`);
  oneOf(where, 'onInterruption', onInterruption, ['abandon', 'cancel', 'deliver']);
  oneOf(where, 'effect', effect, ['read', 'idempotent', 'irreversible']);
  assertMilliseconds(`${where}: timeoutMs`, timeoutMs);
  const needsApproval = definition.needsApproval ?? false;
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw new TypeError(`${where}: expected \`needsApproval\` to be a boolean or a function`);
  }
  const onLate = definition.onLate;
  if (onLate !== undefined && typeof onLate !== 'function') {
    throw new TypeError(`${where}: expected \`onLate\` to be a function`);
  }
  const { parameters } = definition;
  if (
    parameters !== undefined &&
    (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
  ) {
    throw new TypeError(`${where}: expected \`parameters\` to be a JSON Schema object`);
  }
  const schema = isStandardSchema(input)
    ? fromStandardSchema(where, input, parameters)
    : fromJsonSchema(where, input, parameters);
  return {
    name,
    description,
    parameters: schema.parameters,
    onInterruption,
    effect,
    timeoutMs,
    needsApproval,
    execute: definition.execute,
    onLate,
    validate: schema.validate,
  } as Tool;
}

type Checked = Pick<Tool, 'parameters' | 'validate'>;

function isStandardSchema(input: ToolInputSchema): input is StandardSchemaV1 {
  // some schema libraries make their schemas callable
  return (typeof input === 'object' || typeof input === 'function') && input !== null && '~standard' in input;
}

function fromStandardSchema(
  where: string,
  input: StandardSchemaV1,
  given: Record<string, unknown> | undefined,
): Checked {
  const standard = input['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  let parameters = given;
  if (parameters === undefined) {
    if (standard.jsonSchema === undefined) {
      throw new TypeError(`${where}: its Standard Schema prints no JSON Schema; give \`parameters\` beside it`);
    }
    try {
      parameters = standard.jsonSchema.input({ target: 'draft-2020-12' });
    } catch (thrown) {
      throw new TypeError(
        `${where}: its Standard Schema cannot print a JSON Schema (${messageOf(thrown)}); give \`parameters\` beside it`,
        { cause: thrown },
      );
    }
  }
  return {
    parameters,
    validate: (value) => {
      const result = standard.validate(value);
      return isThenable(result) ? adopted(result).then(verdictOf) : verdictOf(result);
    },
  };
}

function verdictOf(result: StandardSchemaV1.Result<unknown>): Verdict {
  if (typeof result !== 'object' || result === null) throw new TypeError('the schema of the tool gave no verdict');
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, problem: listed(result.issues.map((issue) => `${pathOf(issue)}${issue.message}`)) };
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return path.length === 0 ? '' : `${path.join('.')}: `;
}

function fromJsonSchema(where: string, input: unknown, given: Record<string, unknown> | undefined): Checked {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new TypeError(`${where}: expected \`input\` to be a Standard Schema or a JSON Schema object`);
  }
  let validator: Validator;
  try {
    // not short-circuited: the model is told all that is wrong at once
    validator = new Validator(input as Schema, '2020-12', false);
  } catch (thrown) {
    throw new TypeError(`${where}: its JSON Schema cannot be read (${messageOf(thrown)})`, { cause: thrown });
  }
  return {
    parameters: given ?? (input as Record<string, unknown>),
    validate: (value) => {
      const result = validator.validate(value);
      if (result.valid) return { ok: true, value };
      return { ok: false, problem: listed(result.errors.map(describe)) };
    },
  };
}

function describe({ instanceLocation, error }: { instanceLocation: string; error: string }): string {
  const path = instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.');
  return path === '' ? error : `${path}: ${error}`;
}

const mostProblems = 8;

function listed(problems: readonly string[]): string {
  const shown = problems.slice(0, mostProblems).join('; ');
  const more = problems.length - mostProblems;
  return `the arguments do not fit the schema: ${shown}${more > 0 ? `; and ${more} more` : ''}`;
}

function oneOf(where: string, field: string, value: unknown, allowed: readonly string[]): void {
  if (!allowed.includes(value as string)) {
    throw new TypeError(`${where}: expected \`${field}\` to be one of ${allowed.join(', ')}, found ${String(value)}`);
  }
}
