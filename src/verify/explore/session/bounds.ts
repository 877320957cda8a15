/** What a walk through a session and its calls tries, and what it leaves out. */
import { InvalidInputError } from '../../../contract/errors.js';
import type { InterruptionPolicy, ToolEffect } from '../../../contract/tool.js';
import type { ScenarioOptions } from '../../../scenario/scenario.js';

/** What the walk has to know of a tool; a `Tool` of a host has it all. */
export interface ExploredTool {
  readonly name: string;
  /** Default `abandon`. */
  readonly onInterruption?: InterruptionPolicy;
  /** Default `irreversible`. Says, with a durable journal, whether the start is made durable first. */
  readonly effect?: ToolEffect;
  /** Above 0 its code may time out. Default 0. */
  readonly timeoutMs?: number;
  /** A function may say either, so both are tried. Default `false`. */
  readonly needsApproval?: boolean | ((...args: never[]) => unknown);
}

/** What the far side can do. */
export const farAlphabet = [
  'text',
  'audio',
  'tool_call',
  'bad_input',
  'unknown_tool',
  'repeat',
  'interrupted',
  'turn_complete',
  'withdraw',
  'error',
  'closed',
  'malformed',
  'unknown',
  'usage',
  'stream_end',
  'stream_fail',
] as const;

/** What the host can do beside answering what waits for approval, which it always can. */
export const hostAlphabet = ['send', 'close', 'abort', 'stray'] as const;

/** Something that the far side can do. */
export type FarWord = (typeof farAlphabet)[number];
/** Something that the host can do; `stray`: approvals of calls that do not wait, withdrawals of calls that have ended or never were. */
export type HostWord = (typeof hostAlphabet)[number];

/** What {@link exploreSession} is given. */
export interface SessionExploration {
  /** Default: one tool of each policy. */
  readonly tools?: readonly ExploredTool[];
  /** How many calls the far side makes at most, 0 to 6. Default 2. */
  readonly calls?: number;
  /**
   * Of the session. A limit of time that is 0 never runs out; any other may at any moment. `maxBufferedEvents`, where
   * given, makes the host stop and go on reading; else it always reads.
   */
  readonly options?: ScenarioOptions;
  /** Whether intents are made durable before they are acted on. Default `false`. */
  readonly durable?: boolean;
  /** Whether a validation takes its time, so that other things happen meanwhile. Such a path has no scenario that `simulate` runs. Default `false`. */
  readonly slowValidation?: boolean;
  /** Whether the journal may take no more at any moment, not only at a flush. Such a path has no scenario either. Default `false`. */
  readonly journalFails?: boolean;
  /** How many places a pool that the session shares may lend it at a time; any number up to this, at any moment. Such a path has no scenario either. Absent: it has its places for itself. */
  readonly poolPlaces?: number;
  /** Default: all but `audio`, `unknown` and `usage`. */
  readonly far?: readonly FarWord[];
  /** Default: all. */
  readonly host?: readonly HostWord[];
}

/** The same with nothing left open. */
export interface SessionBounds {
  readonly tools: readonly Required<Omit<ExploredTool, 'needsApproval'>>[];
  /** By tool: what its host may say to good input. */
  readonly approvals: readonly (readonly ('accepted' | 'approval')[])[];
  readonly calls: number;
  readonly maxConcurrentTools: number;
  readonly maxOpenCalls: number;
  /** `undefined`: the host always reads. */
  readonly maxBufferedEvents: number | undefined;
  readonly dropUnreadAudio: boolean;
  readonly connectTimes: boolean;
  readonly publishTimes: boolean;
  readonly closeTimes: boolean;
  readonly durable: boolean;
  readonly slowValidation: boolean;
  readonly journalFails: boolean;
  /** `undefined`: no pool. */
  readonly poolPlaces: number | undefined;
  readonly far: ReadonlySet<FarWord>;
  readonly host: ReadonlySet<HostWord>;
}

const onePerPolicy: readonly ExploredTool[] = [
  { name: 'look' },
  { name: 'search', onInterruption: 'cancel' },
  { name: 'order', onInterruption: 'deliver' },
];

const usualFar = farAlphabet.filter((word) => word !== 'audio' && word !== 'unknown' && word !== 'usage');

/** Fills in what was not said. @throws {InvalidInputError} for what cannot be explored */
export function sessionBounds(given: SessionExploration): SessionBounds {
  const {
    tools = onePerPolicy,
    calls = 2,
    options = {},
    durable = false,
    slowValidation = false,
    journalFails = false,
    poolPlaces,
  } = given;
  if (!Number.isInteger(calls) || calls < 0 || calls > 6) {
    throw new InvalidInputError('calls', 'an integer from 0 to 6', calls);
  }
  if (poolPlaces !== undefined && (!Number.isInteger(poolPlaces) || poolPlaces < 1 || poolPlaces > 6)) {
    throw new InvalidInputError('poolPlaces', 'an integer from 1 to 6', poolPlaces);
  }
  if (tools.length === 0 && calls > 0) throw new InvalidInputError('tools', 'one tool at least', tools);
  const names = new Set<string>();
  for (const { name } of tools) {
    if (name === '' || names.has(name))
      throw new InvalidInputError('tools', 'names that differ and are not empty', name);
    names.add(name);
  }
  const { maxConcurrentTools = 16, maxOpenCalls = 256, maxBufferedEvents, dropUnreadAudio = false } = options;
  return {
    tools: tools.map(({ name, onInterruption = 'abandon', effect = 'irreversible', timeoutMs = 0 }) => ({
      name,
      onInterruption,
      effect,
      timeoutMs,
    })),
    approvals: tools.map(({ needsApproval = false }) =>
      typeof needsApproval === 'function' ? ['accepted', 'approval'] : [needsApproval ? 'approval' : 'accepted'],
    ),
    calls,
    maxConcurrentTools,
    maxOpenCalls,
    maxBufferedEvents,
    dropUnreadAudio,
    connectTimes: options.connectTimeoutMs !== 0,
    publishTimes: options.publishTimeoutMs !== 0,
    closeTimes: options.closeTimeoutMs !== 0,
    durable,
    slowValidation,
    journalFails,
    poolPlaces,
    far: new Set(chosen('far', given.far ?? usualFar, farAlphabet)),
    host: new Set(chosen('host', given.host ?? hostAlphabet, hostAlphabet)),
  };
}

function chosen<Word extends string>(field: string, given: readonly Word[], known: readonly Word[]): readonly Word[] {
  const stray = given.find((word) => !known.includes(word));
  if (stray !== undefined) throw new InvalidInputError(field, `some of ${known.join(', ')}`, stray);
  return given;
}
