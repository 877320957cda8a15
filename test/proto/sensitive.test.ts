import { readFileSync } from 'node:fs';
import { type DescField, getOption, ScalarType } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { fileDescriptors, internal, sensitive } from '../../proto/index.js';
import { messagesOf } from './descriptor-rows.js';

const fields = fileDescriptors.flatMap(messagesOf).flatMap((message) => message.fields);
const nameOf = (field: DescField) => `${field.parent.typeName}.${field.name}`;

/** Rows of the decision's tables: a field, and a reason. */
const decision = readFileSync(new URL('../../docs/decisions/0006-sensitive-fields.md', import.meta.url), 'utf8');
const listed = [...decision.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name, reason]) => ({ name, reason }));

describe('the mark `sensitive`', () => {
  test('is on every field that the decision lists, and on no other', () => {
    const marked = fields.filter((field) => getOption(field, sensitive)).map(nameOf);
    expect(marked.sort()).toEqual(listed.map(({ name }) => `warp.multi_agent.v1.${name}`).sort());
  });

  test('has a reason wherever it is', () => {
    expect(listed.length).toBeGreaterThan(0);
    for (const { name, reason } of listed) expect(reason, name).toMatch(/\w/);
  });

  test('is on what can hold content: texts, bytes and messages', () => {
    const marked = fields.filter((field) => getOption(field, sensitive));
    const content = [ScalarType.STRING, ScalarType.BYTES];
    const others = marked.filter(({ message, scalar }) => !message && !(scalar && content.includes(scalar)));
    expect(others.map(nameOf)).toEqual([]);
  });

  test('stands alone: no field is marked `internal`', () => {
    expect(fields.filter((field) => getOption(field, internal)).map(nameOf)).toEqual([]);
  });
});
