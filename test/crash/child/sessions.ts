/** Sessions without end, whose tools leave traces in the world. */
import type { Journal } from '../../../src/contract/journal.js';
import type { InterruptionPolicy, Tool, ToolEffect } from '../../../src/contract/tool.js';
import { defineTool, type Session, startSession } from '../../../src/runtime/index.js';
import { type ScriptedProvider, scriptedProvider } from '../../../src/testing/index.js';
import type { Random } from '../random.js';
import type { Points } from './points.js';
import type { SideEffects } from './side-effects.js';

/** What a session is given. */
export interface Around {
  readonly journal: Journal;
  readonly effects: SideEffects;
  readonly points: Points;
  readonly random: Random;
}

const policies: readonly InterruptionPolicy[] = ['abandon', 'cancel', 'deliver'];
const kinds: readonly ToolEffect[] = ['read', 'idempotent', 'irreversible'];

/** One session after another, for ever. */
export async function liveSessions(name: string, around: Around): Promise<never> {
  const tools = toolsOf(around);
  for (let number = 0; ; number++) await liveSession(`ses_${name}_${number}`, tools, around);
}

/** A tool for every effect, policy, and kind of trouble. */
export function toolsOf(around: Around): readonly Tool[] {
  const tools: Tool[] = [];
  for (const effect of kinds) {
    for (const onInterruption of policies) {
      const rules = { effect, onInterruption };
      tools.push(toolOf(`${effect}-${onInterruption}`, rules, around));
      tools.push(toolOf(`${effect}-${onInterruption}-timed`, { ...rules, timeoutMs: 3 }, around));
      tools.push(toolOf(`${effect}-${onInterruption}-asking`, { ...rules, needsApproval: true }, around));
    }
  }
  return tools;
}

type Rules = Partial<
  Pick<Parameters<typeof defineTool>[0], 'effect' | 'onInterruption' | 'timeoutMs' | 'needsApproval'>
>;

function toolOf(name: string, rules: Rules, { effects, points, random }: Around): Tool {
  return defineTool({
    ...rules,
    name,
    description: '',
    input: {},
    async execute(_, { sessionId: session, toolUseId: call }) {
      points.at('start', 'before the act');
      effects.note({ what: 'start', session, call, effect: rules.effect ?? 'irreversible' });
      points.at('start', 'after the act');
      await pause(random.chance(0.2) ? 40 : random.below(6));
      effects.note({ what: 'end', session, call });
      if (random.chance(0.15)) throw new TypeError('the code does not like it');
      return 'done';
    },
    onLate({ status }, { sessionId: session, id: call }) {
      points.at('notice', 'before the act');
      effects.note({ what: 'late', session, call, status });
      points.at('notice', 'after the act');
    },
  });
}

async function liveSession(sessionId: string, tools: readonly Tool[], around: Around): Promise<void> {
  const { journal, random } = around;
  const far = farSide(sessionId, around);
  const session = await startSession({
    provider: far,
    tools,
    connect: { model: 'scripted' },
    sessionId,
    maxConcurrentTools: 3,
    maxOpenCalls: 8,
    publishTimeoutMs: 12,
    closeTimeoutMs: 20,
    journal,
  });
  session.events$.subscribe(() => {});
  session.lifecycle$.subscribe((event) => {
    if (event.type !== 'approval_requested') return;
    const decision = random.next();
    // some wait for ever
    if (decision < 0.6) session.approve(event.id).catch(() => {});
    else if (decision < 0.8) session.deny(event.id, 'not today').catch(() => {});
  });
  const names = [...tools.map(({ name }) => name), 'nobody'];
  let calls = 0;
  for (let steps = 10 + random.below(50); steps > 0; steps--) {
    const what = random.next();
    if (what < 0.55) {
      const args = random.chance(0.05) ? 'no JSON' : `{"n":${calls}}`;
      far.emit({ type: 'tool_call', id: `c${calls}`, name: random.one(names), arguments: args });
      calls++;
    } else if (what < 0.65) far.emit({ type: 'interrupted' });
    else if (what < 0.72) far.emit({ type: 'tool_call_cancelled', ids: [`c${random.below(calls + 1)}`] });
    else if (what < 0.78) far.emit({ type: 'turn_complete' });
    else far.emit({ type: 'text', text: 'well' });
    await pause(random.below(4));
  }
  await endOf(session, far, random);
}

/** A far side that takes its time with results, refuses some, and never answers others. */
function farSide(session: string, { effects, points, random }: Around): ScriptedProvider {
  return scriptedProvider({
    abandonToolCall: true,
    onCall(request, answer) {
      if (request.method !== 'sendToolResult') {
        answer.resolve();
        return;
      }
      const call = request.id;
      points.at('publish', 'before the act');
      effects.note({ what: 'publish', session, call });
      points.at('publish', 'after the act');
      const how = random.next();
      if (how > 0.95) return;
      pause(random.below(8)).then(() => {
        const what = how < 0.8 ? 'accepted' : 'refused';
        effects.note({ what, session, call });
        if (what === 'accepted') answer.resolve();
        else answer.reject(new TypeError('the far side does not want it'));
      });
    },
  });
}

async function endOf(session: Session, far: ScriptedProvider, random: Random): Promise<void> {
  const how = random.below(4);
  if (how === 0) session.close().catch(() => {});
  else if (how === 1) far.emit({ type: 'closed' });
  else if (how === 2) far.end();
  else far.emit({ type: 'tool_call', id: '', name: 'nobody', arguments: '{}' });
  await session.closed;
}

/** Milliseconds; 0: until all that is ready has run. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else setTimeout(resolve, ms);
  });
}
