/** Field masks of messages: paths that lead somewhere, and paths that do not. */
import type { DescMessage } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { MessageSchema } from '../../../../proto/index.js';

/** Every path that the descriptor has, down to four names; what is JSON in memory has none. */
function pathsOf(desc: DescMessage, depth = 4): string[] {
  if (desc.typeName === StructSchema.typeName || depth === 0) return [];
  return desc.fields.flatMap((field) => {
    const inner = field.fieldKind === 'map' || field.message === undefined ? [] : pathsOf(field.message, depth - 1);
    return [field.name, ...inner.map((path) => `${field.name}.${path}`)];
  });
}

const goodPath = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      'agent_output.text',
      'agent_output.text',
      'agent_output.reasoning',
      'server_message_data',
      'tool_call.server.payload',
      'user_query.query',
      'user_query.context.directory.pwd',
      'tool_call.run_shell_command.command',
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'agent_output',
      'tool_call',
      'tool_call.server',
      'citations',
      'citations.document_id',
      'citations.document_type',
      'user_query',
      'user_query.context',
      'user_query.context.directory',
      'user_query.referenced_attachments',
      'update_todos',
      'tool_call.tool_call_id',
      'update_todos.create_todo_list.initial_todos.title',
      'tool_call.run_shell_command.citations.document_id',
      'update_todos.mark_todos_completed.todo_ids',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...pathsOf(MessageSchema)) },
);
const badPath = fc.oneof(
  fc.constantFrom(
    'id',
    'task_id',
    'id.x',
    'agent_output.text.x',
    'user_query.referenced_attachments.x',
    'citations.document_type.x',
    'update_todos.mark_todos_completed.todo_ids.x',
  ),
  fc.constantFrom(
    'nope',
    'agent_output.nope',
    'agentOutput.text',
    'agent_output.',
    '',
    'message',
    '.',
    'citations.nope',
    'citations.0',
    'agent_output.text ',
    '__proto__',
    'constructor',
    'toString',
  ),
);
/** The paths of a mask. @param plain those that JSON can say and lead somewhere */
export const paths = (plain: boolean): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.array(goodPath, { minLength: 1, maxLength: 1 }) },
    { weight: 8, arbitrary: fc.array(goodPath, { maxLength: 3 }) },
    { weight: plain ? 0 : 6, arbitrary: fc.array(fc.oneof(goodPath, badPath), { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: goodPath.map((path) => [path, path]) },
  );
