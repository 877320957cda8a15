// A host as a stranger writes one. The smoke test of the packed tarball compiles it as strictly as the compiler can be told to, with
// no types of Node at hand, and runs it: a session in which one tool is called, with a compiler that knows only what was packed.
import { type BidiTurnEvent, defineTool, isCommitpointError, type SessionOptions, startSession } from 'commitpoint';
import { sessionMachine, toolInvocationMachine } from 'commitpoint/machines';
import { geminiLiveMapping } from 'commitpoint/providers/gemini-live';
import { openaiRealtimeMapping } from 'commitpoint/providers/openai-realtime';
import { scriptedProvider } from 'commitpoint/testing';

function expect(what: string, expected: unknown, found: unknown): void {
  if (JSON.stringify(expected) === JSON.stringify(found)) return;
  throw new TypeError(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

const lookup = defineTool({
  name: 'lookup',
  description: 'Looks a word up.',
  input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  effect: 'read',
  execute: (input, { signal, toolUseId }) =>
    `${String(input.word)} for ${toolUseId}${signal.aborted ? ', too late' : ''}`,
});

const options: SessionOptions = {
  provider: scriptedProvider({
    events: [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_call', id: 'c1', name: 'lookup', arguments: '{"word":"commit"}' },
    ],
  }),
  connect: { model: 'scripted' },
  tools: [lookup],
};
const session = await startSession(options);
const told: string[] = [];
for await (const event of session.events()) {
  told.push(event.type === 'tool_completed' ? event.output : wordOf(event));
  if (event.type === 'tool_completed') await session.close();
}
expect('the session', ['text', 'tool_started', 'commit for c1'], told);
expect('its end', 'host', (await session.closed).reason);
expect('the state of its actor', 'closed', session.actor.getSnapshot().value);

expect('the machines', true, 'open' in sessionMachine.states && 'publishing' in toolInvocationMachine.states);
expect(
  'the mappings',
  [1, 1],
  [openaiRealtimeMapping().frame('{').facts.length, geminiLiveMapping().frame('{').facts.length],
);
const refused = await session.send({ type: 'text', text: 'too late' }).catch((error: unknown) => error);
expect('an error of ours', 'session_ended', isCommitpointError(refused) && refused.code);

function wordOf(event: BidiTurnEvent): BidiTurnEvent['type'] {
  return event.type;
}
