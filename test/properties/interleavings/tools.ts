/** The tools of a run: their code starts, hears its signal and ends in a log. */
import type { Tool, ToolContext } from '../../../src/contract/tool.js';
import { defineTool } from '../../../src/runtime/index.js';
import type { ScenarioTool } from '../../../src/scenario/scenario.js';
import type { Log } from './log.js';
import type { Code, Plan } from './plan.js';
import { Refused } from './refused.js';
import type { Turns } from './turns.js';
import { wordProblem } from './word.js';

/** What code calls back into the host. */
export interface CodeWatch {
  /** Inside of the call of the code, or of its signal's listener. */
  calledBack(where: 'code' | 'signal'): void;
  /** The code closes its own session and waits for that. */
  close(): Promise<void>;
}

export function toolsOf(plan: Plan, log: Log, turns: Turns, watch: CodeWatch): Tool[] {
  const { tools = {} } = plan.header;
  return Object.entries(tools).map(([name, tool]) => toolOf(name, tool));

  function toolOf(name: string, tool: ScenarioTool): Tool {
    const parameters = tool.input as Record<string, unknown> | undefined;
    const validate = async (value: unknown) => {
      await turns.wait('judge');
      const problem = parameters === undefined ? undefined : wordProblem(value);
      return problem === undefined ? { value } : { issues: [{ message: problem }] };
    };
    return defineTool({
      name,
      description: name,
      input: plan.judgesLater
        ? { '~standard': { version: 1, vendor: 'test', validate } }
        : (parameters ?? { type: 'object' }),
      parameters: parameters ?? { type: 'object' },
      onInterruption: tool.onInterruption ?? 'abandon',
      effect: tool.effect ?? 'irreversible',
      timeoutMs: tool.timeoutMs ?? 0,
      needsApproval: tool.needsApproval ?? false,
      execute,
      onLate: (outcome, { id }) => log.note({ late: id, outcome }),
    });
  }

  function execute(input: unknown, { toolUseId: id, signal }: ToolContext): unknown {
    const { how, succeeds } = turns.next('code', plan.code);
    log.note({ code: id, is: 'started', input });
    signal.addEventListener('abort', () => {
      log.note({ code: id, is: 'aborted', reason: signal.reason });
      watch.calledBack('signal');
    });
    watch.calledBack('code');
    return endOf(how, signal, () => {
      log.note({ code: id, is: succeeds ? 'resolved' : 'rejected' });
      if (!succeeds) throw new Refused(`code of ${id} failed`);
      return 'done';
    });
  }

  function endOf(how: Code['how'], signal: AbortSignal, end: () => unknown): unknown {
    switch (how) {
      case 'at the spot':
        return end();
      case 'at once':
        return Promise.resolve().then(end);
      case 'later':
        return turns.wait('code').then(end);
      case 'heeds': {
        const fired = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        return Promise.race([fired, turns.wait('code')]).then(end);
      }
      case 'closes':
        return turns
          .wait('code')
          .then(() => watch.close())
          .then(end);
      case 'never':
        return new Promise(() => {});
    }
  }
}
