import { messageOf, ScenarioError } from '../contract/index.js';
import { header as headerRule, headerRules } from './header.rules.js';
import { describe, isJsonObject, type JsonObject, orderedKeys } from './json.js';
import type { CallStates, ExpectedLine, Scenario, ScenarioHeader, ScenarioStep, Step } from './scenario.js';
import { stepRules } from './step.rules.js';
import { harmless } from './timeline/text.js';

/**
 * Reads a scenario. Blank lines and lines that begin with `//` are skipped; the
 * first other line is the header, unless it is a step, then the header is empty.
 * @param text the file; lines end with LF or CR LF, a byte order mark is skipped
 * @param fileName how messages name the file
 * @throws {ScenarioError} for the first line that is no JSON object, has an unknown key or misses one, or has a value of the
 * wrong type; its message is `FILE:LINE: what is wrong`. What `far` holds is never looked at.
 */
export function parseScenario(text: string, fileName: string): Scenario {
  let title = '';
  let header: ScenarioHeader = {};
  const steps: ScenarioStep[] = [];
  let atHeader = true;

  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const source = raw.trim();
    if (source === '' || source.startsWith('//')) continue;
    const line = index + 1;
    const fail = (problem: string): never => {
      throw new ScenarioError(fileName, line, problem);
    };
    const value = parseLine(source, fail);
    if (atHeader && !isStep(value)) {
      const problem = headerRule(value, '');
      if (problem !== undefined) fail(problem);
      ({ title, header } = takeTitle(value));
    } else {
      steps.push({ line, step: takeStep(value, source, fail) });
    }
    atHeader = false;
  }
  return { title, header, steps };
}

function parseLine(source: string, fail: (problem: string) => never): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    return fail(`expected a JSON object, found ${describe(source)}, which is no JSON: ${harmless(messageOf(error))}`);
  }
  return isJsonObject(value) ? value : fail(`expected a JSON object, found ${describe(value)}`);
}

function isStep(value: JsonObject): boolean {
  const keys = Object.keys(value);
  return keys.some(isStepKey) && !keys.some((key) => Object.hasOwn(headerRules, key));
}

function isStepKey(key: string): boolean {
  return Object.hasOwn(stepRules, key);
}

function takeTitle({ scenario = '', ...header }: JsonObject): { title: string; header: ScenarioHeader } {
  return { title: scenario as string, header };
}

function takeStep(value: JsonObject, source: string, fail: (problem: string) => never): Step {
  const kind = Object.keys(value).find(isStepKey);
  if (kind === undefined) {
    const stray = Object.keys(value)[0];
    const expected = `expected a step, one of ${Object.keys(stepRules).join(', ')}`;
    if (stray === undefined) return fail(`${expected}, found an empty object`);
    if (Object.hasOwn(headerRules, stray))
      return fail(`${expected}, found ${JSON.stringify(stray)}, which only a header in the first line can have`);
    return fail(`unknown key ${JSON.stringify(stray)}: ${expected}`);
  }
  const problem = stepRules[kind]?.(value, '');
  if (problem !== undefined) return fail(problem);
  // The rules have looked at every field.
  const step = value as unknown as Step;
  return 'expect' in step ? { expect: step.expect.map((line, index) => withOrderedCalls(line, source, index)) } : step;
}

/** `calls` of `closed` and of `summary` become a `Map`, in the order in which the file has them. */
function withOrderedCalls(line: ExpectedLine, source: string, index: number): ExpectedLine {
  for (const key of ['closed', 'summary']) {
    const report = line[key];
    if (!Object.hasOwn(line, key) || !isJsonObject(report) || !isJsonObject(report['calls'])) continue;
    const calls = report['calls'];
    const states = new Map(orderedKeys(source, ['expect', index, key, 'calls']).map((id) => [id, calls[id]]));
    return { ...line, [key]: { ...report, calls: states as CallStates } };
  }
  return line;
}
