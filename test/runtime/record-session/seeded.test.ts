/** There and back: what was recorded of one session is told to the far side of the next. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BidiProvider } from '../../../src/contract/provider.js';
import { historyOf } from '../../../src/conversation/index.js';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import {
  type Conversation,
  createConversation,
  defineTool,
  recordSession,
  startSession,
} from '../../../src/runtime/index.js';
import { type DriverCall, scriptedProvider } from '../../../src/testing/index.js';
import { against, server } from '../../providers/gemini-live/live.js';
import { fakeOf, key } from '../../providers/openai-realtime/far.js';
import { held, quiet, stage, toolCall } from '../stage.js';

const look = defineTool({
  name: 'look',
  description: 'look',
  input: { type: 'object' },
  effect: 'read',
  execute: ({ at }) => (at === 'never' ? held().promise : 'sun'),
});

/** A conversation that a session was recorded into: two calls, one answered and one not, and a stretch that was interrupted. */
async function told(): Promise<Conversation> {
  const conversation = createConversation({ mode: 'strict' });
  const { session, emit } = await stage({ tools: [look] });
  const { finished } = recordSession(session, { conversation });
  await session.send({ type: 'text', text: 'What is the weather?' });
  await emit(
    { type: 'text', text: 'Let me see.' },
    toolCall('t1', 'look', { at: 'x' }),
    toolCall('t2', 'look', { at: 'never' }),
  );
  await emit({ type: 'text', text: 'It is' }, { type: 'interrupted' });
  await session.close();
  await finished;
  return conversation;
}

const cancelled = 'the call was cancelled before it had a result';
const history = [
  { role: 'user', text: 'What is the weather?' },
  { role: 'assistant', text: 'Let me see.' },
  { role: 'tool', id: 't1', name: 'look', arguments: '{"at":"x"}', output: 'sun', isError: false },
  { role: 'tool', id: 't2', name: 'look', arguments: '{"at":"never"}', output: cancelled, isError: true },
  { role: 'assistant', text: 'It is' },
];

async function started(provider: BidiProvider, conversation: Conversation, model: string): Promise<void> {
  const session = await startSession({ provider, connect: { model, history: historyOf(conversation) } });
  onTestFinished(() => session.close());
}

describe('a recorded conversation', () => {
  it('is a history for any driver', async () => {
    const calls: DriverCall[] = [];
    const provider = scriptedProvider({
      onCall: (call, answer) => {
        calls.push(call);
        answer.resolve();
      },
    });
    await started(provider, await told(), 'scripted');
    expect(calls[0]).toMatchObject({ method: 'connect', params: { history } });
  });

  it('is in the conversation of OpenAI Realtime before the first word', async () => {
    const fake = await fakeOf();
    const provider = openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl, modalities: ['text'] });
    await started(provider, await told(), 'gpt-realtime');
    const items = fake.session.items.map(({ type, role, call_id: id, output }) => [type, role ?? id, output]);
    expect(items).toEqual([
      ['message', 'user', undefined],
      ['message', 'assistant', undefined],
      ['function_call', 't1', undefined],
      ['function_call_output', 't1', 'sun'],
      ['function_call', 't2', undefined],
      ['function_call_output', 't2', JSON.stringify({ error: cancelled })],
      ['message', 'assistant', undefined],
    ]);
  });

  it('is in the context of Gemini Live before the first word', async () => {
    const far = await server();
    await started(geminiLive(against(far)), await told(), 'gemini-2.5-flash-live');
    await quiet();
    await far.peer?.message('clientContent');
    expect(far.peer?.context).toEqual([
      { role: 'user', parts: [{ text: 'What is the weather?' }] },
      { role: 'model', parts: [{ text: 'Let me see.' }] },
      { role: 'model', parts: [{ functionCall: { id: 't1', name: 'look', args: { at: 'x' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 't1', name: 'look', response: { output: 'sun' } } }] },
      { role: 'model', parts: [{ functionCall: { id: 't2', name: 'look', args: { at: 'never' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 't2', name: 'look', response: { error: cancelled } } }] },
      { role: 'model', parts: [{ text: 'It is' }] },
    ]);
    expect(far.violations).toEqual([]);
  });
});
