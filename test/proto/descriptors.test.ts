import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DescFile } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { fileDescriptors } from '../../proto/index.js';
import { header, messagesOf, rowsOf } from './descriptor-rows.js';

const rows = fileDescriptors.flatMap(rowsOf);
const table = fileURLToPath(new URL('../../../shared/design/protocol-fields.tsv', import.meta.url));
const snapshot = fileURLToPath(new URL('descriptors.txt', import.meta.url));
const haveTable = existsSync(table);
if (!haveTable)
  console.warn('No table beside the repository (../shared/design/protocol-fields.tsv): it is not compared.');

/** A row without its file: how declarations are spread over files is layout, and the wire does not know it. */
const fact = (row: string) => row.slice(row.indexOf('\t') + 1);

const extensionsOf = (file: DescFile) => file.extensions.map(({ typeName }) => typeName);

describe('the compiled descriptors', () => {
  test.skipIf(!haveTable)('declare every row of the given table, and nothing else', () => {
    const [head, ...given] = readFileSync(table, 'utf8').trimEnd().split('\n');
    expect(head).toBe(header);
    expect(given.length).toBeGreaterThan(0);
    const expected = given.map(fact);
    const found = rows.map(fact);
    expect(expected.filter((row) => !found.includes(row))).toEqual([]);
    expect(found.filter((row) => !expected.includes(row))).toEqual([]);
    // As many of them, too: nothing is declared twice.
    expect([...found].sort()).toEqual([...expected].sort());
  });

  test('are those of the snapshot that is committed', async () => {
    // A snapshot that is missing would be written, and pass.
    expect(existsSync(snapshot)).toBe(true);
    await expect(`${[header, ...rows].join('\n')}\n`).toMatchFileSnapshot(snapshot);
  });

  test('are 134 messages, 2 enums and 2 options of fields, all in one package', () => {
    expect(fileDescriptors.flatMap(messagesOf)).toHaveLength(134);
    expect(fileDescriptors.flatMap((file) => file.enums.map(({ typeName }) => typeName)).sort()).toEqual([
      'warp.multi_agent.v1.DocumentType',
      'warp.multi_agent.v1.ToolType',
    ]);
    expect(fileDescriptors.flatMap(extensionsOf)).toEqual([
      'warp.multi_agent.v1.sensitive',
      'warp.multi_agent.v1.internal',
    ]);
    expect(new Set(fileDescriptors.map(({ proto }) => proto.package))).toEqual(new Set(['warp.multi_agent.v1']));
    expect(new Set(fileDescriptors.map(({ proto }) => proto.syntax))).toEqual(new Set(['proto3']));
  });

  test('are those of all .proto files there are, by name', () => {
    const folder = fileURLToPath(new URL('../../proto/warp/multi_agent/v1/', import.meta.url));
    const files = readdirSync(folder).sort();
    expect(fileDescriptors.map(({ name }) => `${name}.proto`)).toEqual(
      files.map((file) => `warp/multi_agent/v1/${file}`),
    );
  });

  test('come with everything that the generated files export', async () => {
    const entry: Record<string, unknown> = await import('../../proto/index.js');
    for (const { name } of fileDescriptors) {
      const path = fileURLToPath(new URL(`../../proto/gen/${name}_pb.ts`, import.meta.url));
      const module: Record<string, unknown> = await import(/* @vite-ignore */ path);
      expect(Object.keys(module)).not.toEqual([]);
      for (const [key, value] of Object.entries(module)) expect(entry[key] === value, `${key} of ${name}`).toBe(true);
    }
  });
});
