/** A session in a page or a worker: what it did, as plain data. */
import { defineTool, startSession } from '../../../src/index.js';
import { parseScenario, scriptedProvider, simulate } from '../../../src/testing/index.js';

/** What a session did where it ran. */
export interface Conversed {
  /** What the platform says of itself. */
  readonly place: { readonly hasProcess: boolean; readonly hasDocument: boolean; readonly makesCode: boolean };
  readonly events: unknown[];
  readonly states: unknown[];
  readonly lifecycle: string[];
  readonly driver: unknown[];
  readonly report: unknown;
  readonly late: unknown[];
  /** A scenario in virtual time: what it did not meet, and what it broke. */
  readonly scenario: { readonly unmet: unknown[]; readonly violations: unknown[]; readonly lines: number };
}

/** One tool answers, one is interrupted and settles late; then the far side closes. */
export async function converse(scenario: string): Promise<Conversed> {
  const driver: unknown[] = [];
  const late: unknown[] = [];
  const states: unknown[] = [];
  const lifecycle: string[] = [];
  const events: unknown[] = [];
  let settle: (value: string) => void = () => {};
  const far = scriptedProvider({
    abandonToolCall: true,
    onCall: (call, answer) => {
      if (call.method !== 'connect') driver.push(call);
      answer.resolve();
    },
  });
  const session = await startSession({
    provider: far,
    connect: { model: 'scripted' },
    sessionId: 'ses_browser',
    turnId: 'turn_browser',
    tools: [
      defineTool({
        name: 'lookup',
        description: 'Look a word up.',
        input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        timeoutMs: 60_000,
        execute: ({ word }) => ({ word, means: 'a light at night' }),
      }),
      defineTool({
        name: 'slow',
        description: 'Takes its time.',
        input: {},
        execute: (_, { signal }) =>
          new Promise<string>((resolve) => {
            settle = () => resolve(signal.aborted ? 'aborted' : 'signal live');
          }),
        onLate: (outcome) => {
          late.push(outcome);
        },
      }),
    ],
  });
  session.inspect((event) => {
    if (event.type === '@xstate.snapshot' && event.actorRef === (session.actor as unknown)) {
      states.push((event.snapshot as unknown as { value: unknown }).value);
    }
  });
  session.lifecycle$.subscribe((event) => {
    lifecycle.push(event.type === 'call' ? `${event.id} ${event.to}` : event.type);
  });
  far.emit({ type: 'text', text: 'let me see' });
  far.emit({ type: 'tool_call', id: 'c1', name: 'lookup', arguments: '{"word":1}' });
  for await (const event of session.events()) {
    events.push(event);
    if (event.type === 'tool_completed' && event.toolUseId === 'c1') {
      far.emit({ type: 'tool_call', id: 'c2', name: 'lookup', arguments: '{"word":"moon"}' });
    }
    if (event.type === 'tool_completed' && event.toolUseId === 'c2') {
      far.emit({ type: 'tool_call', id: 'c3', name: 'slow', arguments: '' });
      far.emit({ type: 'interrupted' });
    }
    if (event.type === 'tool_abandoned') {
      settle('late');
      far.emit({ type: 'turn_complete' });
      far.emit({ type: 'closed', reason: 'good night' });
    }
  }
  const report = await session.closed;
  const { unmet, violations, trace } = await simulate(parseScenario(scenario, 'scenario'));
  return {
    place: { hasProcess: 'process' in globalThis, hasDocument: 'document' in globalThis, makesCode: makesCode() },
    events,
    states,
    lifecycle,
    driver,
    report,
    late,
    scenario: { unmet: [...unmet], violations: [...violations], lines: trace.length },
  };
}

function makesCode(): boolean {
  try {
    return new Function('return true')() as boolean;
  } catch {
    return false;
  }
}
