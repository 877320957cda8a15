/** Tools of every policy and effect, whose code does whatever its seed says. */
import type { Tool, ToolContext } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';
import type { Random } from '../crash/random.js';
import { Fault, later } from './far-side.js';

/** Is told what the tools of all sessions do. */
export interface ToolWatch {
  started(): void;
  late(): void;
}

function untilAborted({ signal }: ToolContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function run(random: Random, context: ToolContext): unknown {
  switch (random.below(9)) {
    case 0:
    case 1:
      return 'done';
    case 2:
      return later(random.below(15)).then(() => ({ n: random.below(10) }));
    case 3:
      return later(random.below(60)).then(() => 'slow');
    case 4:
      throw new Fault('the code throws');
    case 5:
      return later(random.below(10)).then(() => Promise.reject(new Fault('the code refuses')));
    case 6:
      return untilAborted(context);
    case 7:
      // it hangs, and nobody can stop it
      return random.chance(0.3) ? new Promise(() => {}) : later(100);
    default: {
      const circular: { self?: unknown } = {};
      circular.self = circular;
      return random.chance(0.5) ? circular : undefined;
    }
  }
}

/** A tool for each policy and effect. */
export function soakTools(random: Random, watch: ToolWatch): readonly Tool[] {
  return (['abandon', 'cancel', 'deliver'] as const).flatMap((onInterruption) =>
    (['read', 'idempotent', 'irreversible'] as const).map((effect) => {
      const asks = random.below(6);
      return defineTool({
        name: `${onInterruption}_${effect}`,
        description: 'does something',
        input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
        onInterruption,
        effect,
        timeoutMs: random.chance(0.4) ? 5 + random.below(40) : 0,
        needsApproval:
          asks === 0
            ? true
            : () => {
                if (asks === 1 && random.chance(0.1)) throw new Fault('nobody knows whether to ask');
                return random.chance(0.15);
              },
        execute: (_input, context) => {
          watch.started();
          return run(random, context);
        },
        onLate: () => {
          watch.late();
          if (random.chance(0.05)) throw new Fault('what is late is unwelcome');
        },
      });
    }),
  );
}
