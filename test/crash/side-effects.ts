/** What was done to the world, as the file of a process that was killed tells. */
import { readFile } from 'node:fs/promises';
import { type Facts, nothing } from '../runtime/recover/world.js';

/** One line of the file. */
export type SideEffect =
  | { readonly what: 'start'; readonly session: string; readonly call: string; readonly effect: string }
  | {
      readonly what: 'end' | 'publish' | 'accepted' | 'refused';
      readonly session: string;
      readonly call: string;
    }
  | { readonly what: 'late'; readonly session: string; readonly call: string; readonly status: string }
  /** `changes$` told of a commit. */
  | { readonly what: 'told'; readonly transaction: number }
  /** An effect of the host ran that belongs to an action about a message of a transaction. */
  | { readonly what: 'ran'; readonly transaction: number; readonly message: number }
  | { readonly what: 'durable'; readonly bytes: number };

/** All of it, in order of what it is about. */
export interface World {
  /** By session, then by call. */
  readonly sessions: ReadonlyMap<string, ReadonlyMap<string, Facts>>;
  /** Transactions of which the host was told that they are committed. */
  readonly told: ReadonlySet<number>;
  /** Effects of the host that ran, as often as they did. */
  readonly ran: readonly { readonly transaction: number; readonly message: number }[];
  /** How long the journal is at least, whatever a power cut takes. */
  readonly durable: number;
  /** Notices of the run that said `unknown`, which only a recovery may. */
  readonly strange: readonly string[];
}

export async function readSideEffects(path: string): Promise<World> {
  const sessions = new Map<string, Map<string, Facts>>();
  const told = new Set<number>();
  const ran: { transaction: number; message: number }[] = [];
  const strange: string[] = [];
  let durable = 0;
  const change = (session: string, call: string, changed: (facts: Facts) => Partial<Facts>) => {
    const calls = sessions.get(session) ?? new Map<string, Facts>();
    sessions.set(session, calls);
    const facts = calls.get(call) ?? nothing;
    calls.set(call, { ...facts, ...changed(facts) });
  };
  const lines = (await readFile(path, 'utf8')).split('\n');
  // the last one is empty, or was cut off
  for (const line of lines.slice(0, -1)) {
    const effect = JSON.parse(line) as SideEffect;
    const { what } = effect;
    switch (what) {
      case 'start':
        change(effect.session, effect.call, ({ started }) => ({ started: started + 1, effect: effect.effect }));
        break;
      case 'end':
        change(effect.session, effect.call, () => ({ ended: true }));
        break;
      case 'publish':
        change(effect.session, effect.call, ({ published }) => ({ published: published + 1 }));
        break;
      case 'accepted':
      case 'refused':
        change(effect.session, effect.call, () => ({ answered: what }));
        break;
      case 'late':
        if (effect.status === 'unknown') strange.push(`${effect.session}/${effect.call}`);
        change(effect.session, effect.call, ({ told }) => ({ told: told + 1 }));
        break;
      case 'told':
        told.add(effect.transaction);
        break;
      case 'ran':
        ran.push({ transaction: effect.transaction, message: effect.message });
        break;
      case 'durable':
        durable = Math.max(durable, effect.bytes);
        break;
    }
  }
  return { sessions, told, ran, durable, strange };
}
