/** One call per kind of schema, in a process that may not make code from text. Prints what was sent for each. */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import type { ToolInputSchema } from '../../../src/contract/tool.js';
import { defineTool, startSession } from '../../../src/runtime/index.js';
import { scriptedProvider } from '../../../src/testing/index.js';

const schemas: Record<string, ToolInputSchema> = {
  json_schema: {
    type: 'object',
    properties: { word: { type: 'string', minLength: 2, pattern: '^[a-z]+$' } },
    required: ['word'],
    additionalProperties: false,
  },
  zod: z.object({ word: z.string().min(2) }),
  valibot: toStandardJsonSchema(v.object({ word: v.pipe(v.string(), v.minLength(2)) })),
  arktype: type({ word: 'string > 1' }),
};

let canMakeCode = true;
try {
  // biome-ignore lint/security/noGlobalEval: what this process is for is that it cannot
  eval('1');
} catch {
  canMakeCode = false;
}

const sent: Record<string, { output: string; isError: boolean }> = {};
const provider = scriptedProvider({
  events: [
    ...Object.keys(schemas).flatMap((name) => [
      { type: 'tool_call' as const, id: `${name} good`, name, arguments: '{"word":"moon"}' },
      { type: 'tool_call' as const, id: `${name} bad`, name, arguments: '{"word":1}' },
    ]),
    { type: 'turn_complete' },
  ],
  onCall: (call, answer) => {
    if (call.method === 'sendToolResult') sent[call.id] = { output: call.output, isError: call.isError };
    answer.resolve();
  },
});
const session = await startSession({
  provider,
  connect: { model: 'scripted' },
  tools: Object.entries(schemas).map(([name, input]) =>
    defineTool({
      name,
      description: name,
      input,
      execute: (given) => `${name} got ${(given as { word: string }).word}`,
    }),
  ),
});
let open = Object.keys(schemas).length * 2;
for await (const event of session.events()) {
  if (event.type === 'tool_completed') open--;
  if (open === 0) break;
}
await session.close();
console.log(JSON.stringify({ canMakeCode, sent }));
