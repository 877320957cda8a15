import { rmSync } from 'node:fs';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { afterAll, describe, expect, test } from 'vitest';
import { MessageSchema } from '../../proto/index.js';
import type { FieldPath, TextPath } from '../../src/conversation/writer/message-path.js';
import { localPath, textPath } from '../../src/conversation/writer/message-path.js';
import { type Snippet, typeErrors, writeSnippets } from '../docs/snippets.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The paths of a message as its descriptor has them, in local names. */
function pathsOf(desc: DescMessage, wanted: (field: DescField) => boolean): string[] {
  return desc.fields.flatMap((field) => {
    const own = wanted(field) ? [field.localName] : [];
    if (field.fieldKind !== 'message' || field.message.typeName === 'google.protobuf.Struct') return own;
    return [...own, ...pathsOf(field.message, wanted).map((path) => `${field.localName}.${path}`)];
  });
}

const isText = (field: DescField) => field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
const texts = pathsOf(MessageSchema, isText).filter((path) => path !== 'id' && path !== 'taskId');
const fields = pathsOf(MessageSchema, () => true).filter((path) => path !== 'id' && path !== 'taskId');

describe('the paths that a writer takes', () => {
  test('are those of the descriptor: these types name each, and no other', () => {
    const lists = Object.entries({ TextPath: texts, FieldPath: fields });
    const code = lists
      .map(
        ([type, paths]) => `
const all${type} = ${JSON.stringify(paths)} as const satisfies readonly ${type}[];
type More${type} = Exclude<${type}, (typeof all${type})[number]>;
true satisfies [More${type}] extends [never] ? true : More${type};
`,
      )
      .join('');
    const snippet: Snippet = { page: 'paths', line: 1, code: '', before: 0, run: false, output: undefined };
    const head = "import type { FieldPath, TextPath } from 'commitpoint';\n";
    const { folder, files } = writeSnippets([{ ...snippet, code: head + code }]);
    folders.push(folder);
    expect(typeErrors(files)).toEqual([]);
    expect(texts.length).toBeGreaterThan(50);
    expect(fields.length).toBeGreaterThan(200);
  });

  test('have each a field mask', () => {
    for (const path of texts) expect(textPath(path).mask).toMatch(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/);
    for (const path of fields) expect(localPath(path).fields.at(-1)?.localName).toBe(path.split('.').at(-1));
    expect(textPath('toolCall.callMcpTool.name').mask).toBe('tool_call.call_mcp_tool.name');
  });

  test.each([
    '',
    'id',
    'taskId',
    'message',
    'agent_output.text',
    'agentOutput',
    'agentOutput.',
    'agentOutput.text.length',
    'citations',
    'nothing',
    'toString',
    '__proto__',
    'userQuery.referencedAttachments.a',
  ])('are no others: %j', (path) => {
    expect(() => textPath(path)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

// What the types refuse; `npm run types` is the test.
const asText = (path: TextPath) => path;
const asField = (path: FieldPath) => path;
asText('agentOutput.text');
asText('serverMessageData');
asText('userQuery.context.directory.pwd');
asField('agentOutput');
asField('citations');
asField('toolCall.callMcpTool.args');
// @ts-expect-error what a message is found by
asText('id');
// @ts-expect-error what a message is found by
asField('taskId');
// @ts-expect-error a message
asText('agentOutput');
// @ts-expect-error a list
asText('citations');
// @ts-expect-error a number
asText('toolCallResult.runShellCommand.exitCode');
// @ts-expect-error bytes
asText('toolCall.writeToLongRunningShellCommand.input');
// @ts-expect-error the oneof's own name
asField('message');
// @ts-expect-error below a list
asField('citations.documentId');
// @ts-expect-error below a map
asField('userQuery.referencedAttachments.key');
// @ts-expect-error below JSON
asField('toolCall.callMcpTool.args.key');
// @ts-expect-error as the wire has it
asText('agent_output.text');
// @ts-expect-error what every message has, and no schema
asField('$typeName');
// @ts-expect-error a member's field, without the member
asText('text');
