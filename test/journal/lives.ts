/** Records of sessions that live beside one another, for the rule of compaction. */
import fc from 'fast-check';
import type { JournalEntry, JournalRecord } from '../../src/contract/journal.js';

type Step = Omit<JournalEntry, 'at' | 'actor' | 'cause'>;

const began: Step = {
  kind: 'session',
  event: '',
  from: '',
  to: 'connecting',
  did: [{ effect: 'connectDriver' }],
  data: {
    session: {
      machines: 1,
      turnId: 'turn-1',
      provider: 'scripted',
      durable: true,
      maxConcurrentTools: 1,
      maxOpenCalls: 1,
      dropUnreadAudio: false,
    },
  },
};
const of =
  (kind: JournalEntry['kind']) =>
  (event: string, from: string, to: string, ...did: string[]): Step => ({
    kind,
    event,
    from,
    to,
    did: did.map((effect) => ({ effect })),
  });
const session = of('session');
const call = of('call');

export const steps = {
  began,
  connected: session('connected', 'connecting', 'open.waiting', 'resolveStart'),
  toolCall: session('tool_call', 'open.waiting', 'open.waiting', 'admitCall'),
  admitted: call('', '', 'admitted', 'reportStarted'),
  executing: call('placed', 'queued', 'executing', 'execute'),
  published: call('code_resolved', 'executing', 'publishing', 'publish'),
  completed: call('publish_accepted', 'publishing', 'completed', 'reportCompleted'),
  abandoned: call('interrupted', 'executing', 'abandoned.draining', 'reportAbandoned'),
  drained: call('code_rejected', 'abandoned.draining', 'abandoned.settled', 'tellLate'),
  closing: session('host_close', 'open.waiting', 'closing', 'fence'),
  cancelled: call('session_ended', 'executing', 'cancelled', 'abortSignal'),
  late: call('code_resolved', 'cancelled', 'cancelled', 'tellLate'),
  closed: session('driver_closed', 'closing', 'closed', 'resolveClosed'),
  refused: session('host_act', 'closed', 'closed', 'refuseAct'),
  recovered: session('recovered', 'open.waiting', 'open.waiting'),
  told: call('recovered', 'executing', 'executing', 'tellLate'),
} as const;

/** A record of a step; a call's is of the call `call-1`. */
export function recordOf(seq: number, id: string, step: Step): JournalRecord {
  const actor = step.kind === 'call' ? `${id}/call-1` : id;
  return { seq, at: seq, actor, cause: 0, ...step };
}

/** How a session may go, and what a compaction makes of it. */
export interface Course {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Whether it stays: always, only until the host says that it has dealt with the recovery, or not at all. */
  readonly stays: 'always' | 'until dealt with' | 'no';
}

const { toolCall, admitted, executing, published, completed, abandoned, drained } = steps;
const opened = [steps.began, steps.connected];
const ended = [steps.closing, steps.closed];
const aCall = [toolCall, admitted, executing];

export const courses: readonly Course[] = [
  { name: 'opened', steps: opened, stays: 'always' },
  { name: 'closing', steps: [...opened, steps.closing], stays: 'always' },
  { name: 'closed', steps: [...opened, ...ended], stays: 'no' },
  { name: 'closed, and asked after it', steps: [...opened, ...ended, steps.refused], stays: 'no' },
  { name: 'a call that was answered', steps: [...opened, ...aCall, published, completed, ...ended], stays: 'no' },
  { name: 'a call that is open', steps: [...opened, ...aCall], stays: 'always' },
  { name: 'code that settles late', steps: [...opened, ...aCall, abandoned, drained, ...ended], stays: 'no' },
  { name: 'code that runs on', steps: [...opened, ...aCall, abandoned, ...ended], stays: 'always' },
  {
    name: 'code that settles after the end',
    steps: [...opened, ...aCall, steps.closing, steps.cancelled, steps.closed, steps.late],
    stays: 'no',
  },
  {
    name: 'code that nobody knows the end of, told of by a recovery',
    steps: [...opened, ...aCall, abandoned, ...ended, steps.told],
    stays: 'until dealt with',
  },
  { name: 'recovered', steps: [...opened, ...aCall, steps.told, steps.recovered], stays: 'until dealt with' },
  {
    name: 'recovered, and its calls told of behind it',
    steps: [...opened, ...aCall, steps.recovered, steps.told],
    stays: 'until dealt with',
  },
];

/** A record of a conversation, which always stays. */
const ofConversation: Step = of('conversation')('actions', 'streaming', 'streaming', 'apply');

/** Some courses at once, each session's steps in their order, and steps of conversations among them. */
export const interleaved: fc.Arbitrary<{ records: JournalRecord[]; courses: ReadonlyMap<string, Course> }> = fc
  .tuple(
    fc.array(fc.constantFrom(...courses), { minLength: 1, maxLength: 8 }),
    fc.infiniteStream(fc.nat()),
    fc.nat({ max: 3 }),
  )
  .map(([chosen, choices, conversations]) => {
    const lanes = chosen.map((course, index) => ({ id: `session-${index}`, steps: [...course.steps] }));
    lanes.push({ id: 'conversation-1', steps: new Array<Step>(conversations).fill(ofConversation) });
    const records: JournalRecord[] = [];
    for (let left = lanes.filter((lane) => lane.steps.length > 0); left.length > 0; ) {
      const lane = left[choices.next().value % left.length] as (typeof lanes)[number];
      records.push(recordOf(records.length + 1, lane.id, lane.steps.shift() as Step));
      left = left.filter(({ steps }) => steps.length > 0);
    }
    return { records, courses: new Map(chosen.map((course, index) => [`session-${index}`, course])) };
  });
