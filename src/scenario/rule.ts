/** Rules that parts of a scenario line have to meet, as values. */
import { describe, isJsonObject } from './json.js';

/** Says what is wrong with a value, or nothing. `where`: the path of the value inside its line, empty for the line itself. */
export type Rule = (value: unknown, where: string) => string | undefined;

function inside(where: string, key: string): string {
  return where === '' ? key : `${where}.${key}`;
}

function complaint(where: string, expected: string, found: string): string {
  return `${where === '' ? '' : `${where}: `}expected ${expected}, found ${found}`;
}

function rule(expected: string, fits: (value: unknown) => boolean): Rule {
  return (value, where) => (fits(value) ? undefined : complaint(where, expected, describe(value)));
}

const largest = 2_147_483_647;

function isInteger(value: unknown, limit: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limit;
}

/** Any JSON value. */
export const anything: Rule = () => undefined;
/** Any text. */
export const text = rule('a text', (value) => typeof value === 'string');
/** `true` or `false`. */
export const flag = rule('true or false', (value) => typeof value === 'boolean');
/** Any JSON object. */
export const object = rule('a JSON object', isJsonObject);
/** What a timer takes and what counts: an integer from 0 to 2147483647. */
export const count = rule('an integer from 0 to 2147483647', (value) => isInteger(value, largest));
/** As {@link count}, but something has to be allowed. */
export const atLeastOne = rule('an integer from 1 to 2147483647', (value) => value !== 0 && isInteger(value, largest));
/** Virtual time is not bound by what a timer takes. */
export const milliseconds = rule('a whole number of milliseconds, 0 or more', (value) =>
  isInteger(value, Number.MAX_SAFE_INTEGER),
);
/** Time that something has lasted, fractions included. */
export const duration = rule(
  'a number of milliseconds, 0 or more',
  (value) => Number.isFinite(value) && (value as number) >= 0,
);

/** One of these values. */
export function choice(...values: readonly (string | boolean)[]): Rule {
  return rule(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value as string));
}

/** An object of any keys but the empty one, whose values all meet one rule. */
export function record(entry: Rule): Rule {
  return (value, where) => {
    if (!isJsonObject(value)) return object(value, where);
    for (const [key, field] of Object.entries(value)) {
      if (key === '') return complaint(where, 'names that are not empty', '""');
      const problem = entry(field, inside(where, key));
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** A list whose elements all meet one rule. */
export function list(element: Rule): Rule {
  return (value, where) => {
    if (!Array.isArray(value)) return complaint(where, 'an array', describe(value));
    for (const [index, entry] of value.entries()) {
      const problem = element(entry, `${where}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** An object with these keys and no others; `required` names the ones that it cannot do without. */
export function fields(rules: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule {
  const known = Object.keys(rules);
  return (value, where) => {
    if (!isJsonObject(value)) return object(value, where);
    for (const [key, field] of Object.entries(value)) {
      if (!Object.hasOwn(rules, key)) {
        return `unknown key ${JSON.stringify(key)}${where === '' ? '' : ` in ${where}`}: expected ${known.length === 1 ? 'only' : 'one of'} ${known.join(', ')}`;
      }
      const problem = rules[key]?.(field, inside(where, key));
      if (problem !== undefined) return problem;
    }
    const missing = required.find((key) => !Object.hasOwn(value, key));
    return missing === undefined ? undefined : complaint(where, `a key ${JSON.stringify(missing)}`, 'none');
  };
}

/** An object that the value of one key assigns to one of several rules. */
export function variants(key: string, rules: Readonly<Record<string, Rule>>): Rule {
  const known = choice(...Object.keys(rules));
  return (value, where) => {
    if (!isJsonObject(value)) return object(value, where);
    const name = value[key];
    const problem = known(name, inside(where, key));
    return problem ?? rules[name as string]?.(value, where);
  };
}

/** An object that has exactly one of two keys, each with its rule. */
export function either(first: string, one: Rule, second: string, other: Rule): Rule {
  return (value, where) => {
    if (!isJsonObject(value)) return object(value, where);
    const [hasFirst, hasSecond] = [Object.hasOwn(value, first), Object.hasOwn(value, second)];
    if (hasFirst && hasSecond) return complaint(where, `${first} or ${second}`, 'both');
    if (!hasFirst && !hasSecond) {
      const stray = Object.keys(value).at(1);
      const found = stray === undefined ? 'neither' : `unknown key ${JSON.stringify(stray)}`;
      return complaint(where, `${first} or ${second}`, found);
    }
    return (hasFirst ? one : other)(value, where);
  };
}
