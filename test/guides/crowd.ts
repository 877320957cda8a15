/** Two hundred sessions on the example host and several clients of each, over real sockets. */
import { getEventListeners } from 'node:events';
import { type Conversation, linearMessages } from '../../src/index.js';
import { quiet } from '../../src/testing/quiet.js';
import { Random } from '../crash/random.js';
import { type Feed, startHost } from './host.js';
import { type Kind, Life } from './lives.js';
import { ask, bytesOf, Reader } from './reader.js';

const kinds: readonly Kind[] = ['closes', 'breaks', 'ends', 'aborted', 'deleted', 'lives', 'busy', 'away'];

/** One session, as those saw it who had to do with it. */
export interface Seen {
  readonly kind: Kind;
  readonly id: string;
  readonly said: string;
  /** All that the agent said, in the host's conversation. */
  readonly recorded: string;
  readonly phase: string;
  readonly server: string;
  readonly clients: readonly { readonly bytes: string; readonly phase: string; readonly faults: readonly string[] }[];
}

/** What a crowd came to. */
export interface CrowdReport {
  /** How starts of sessions that could not connect were answered. */
  readonly refused: readonly { readonly status: number; readonly body: string }[];
  readonly sessions: readonly Seen[];
  readonly counts: { readonly live: number; readonly resets: number; readonly resumed: number; readonly cut: number };
  /** Of the children that lived when the host was told to stop, each with whether it was cut off. */
  readonly stopped: readonly { readonly id: string; readonly cut: boolean }[];
  readonly living: readonly string[];
  readonly reported: readonly string[];
  readonly left: { readonly sessions: number; readonly toolsRunning: number; readonly toolsWaiting: number };
  /** Of the signals that sessions were started with. */
  readonly listeners: number;
  /** What only the host held. */
  readonly held: readonly WeakRef<object>[];
}

export async function crowd(seed: number, many: number): Promise<CrowdReport> {
  const random = new Random(seed);
  const lives = new Map<string, Life>();
  const reported: string[] = [];
  let begun = 0;
  const host = await startHost({
    maxConcurrentTools: 100_000,
    keptBytes: 3_000,
    keptConversations: many,
    deadlineMs: 150,
    // not the error itself, whose stack holds on to those who stood on it
    report: (error) => void reported.push(String(error)),
    sessionOptions: (id) => {
      const life = new Life(kinds[begun++ % kinds.length] as Kind, new Random(random.below(2 ** 31)));
      lives.set(id, life);
      return life.options();
    },
  });

  const answers = await Promise.all(Array.from({ length: many }, () => ask('POST', `${host.url}/sessions`)));
  const refused = answers.filter(({ status }) => status !== 201);
  const ids = answers.filter(({ status }) => status === 201).map(({ body }) => String(JSON.parse(body).id));
  const held: WeakRef<object>[] = [new WeakRef(host.supervisor)];
  for (const id of ids) {
    held.push(new WeakRef(host.supervisor.get(id) as object), new WeakRef(host.feeds.get(id) as object));
  }

  const stage = { isStaying: false, cut: 0 };
  const readers = ids.map((id) => Array.from({ length: 3 }, () => new Reader(`${host.url}/sessions/${id}/events`)));
  const reading = ids.map((id, index) =>
    Promise.all(
      (readers[index] as Reader[]).map((reader, which) => {
        const own = new Random(random.below(2 ** 31));
        return follow(reader, lives.get(id) as Life, which, own, stage);
      }),
    ),
  );
  await Promise.all(
    ids.map(async (id) => {
      const life = lives.get(id) as Life;
      const first = (readers[ids.indexOf(id)] as Reader[]).slice(0, 2);
      while (!first.every(({ isConnected }) => isConnected)) await quiet();
      await life.play(20 + random.below(30));
      if (life.kind === 'deleted' || life.kind === 'breaks') await ask('DELETE', `${host.url}/sessions/${id}`);
    }),
  );

  const isLiving = (id: string | undefined) => ['lives', 'busy'].includes(lives.get(id ?? '')?.kind ?? '');
  await Promise.all(reading.filter((_, index) => !isLiving(ids[index])));
  // whoever comes and goes is there when the host stops: behind that there is nothing to come back to
  stage.isStaying = true;
  const theirs = readers.filter((_, index) => isLiving(ids[index])).flat();
  while (theirs.some(({ isConnected }) => !isConnected)) await quiet();
  const { children } = await host.stop();
  await Promise.all(reading);

  const sessions = ids.map((id, index): Seen => {
    const { conversation } = host.feeds.get(id) as Feed;
    const { kind, said } = lives.get(id) as Life;
    return {
      kind,
      id,
      said,
      recorded: agentText(conversation),
      phase: conversation.state.phase,
      server: bytesOf(conversation),
      clients: (readers[index] as Reader[]).map((reader) => ({
        bytes: bytesOf(reader.conversation),
        phase: reader.conversation.state.phase,
        faults: reader.faults,
      })),
    };
  });
  const sum = (what: 'live' | 'resets' | 'resumed') =>
    readers.flat().reduce((all, { counts }) => all + counts[what], 0);
  return {
    refused,
    sessions,
    counts: { live: sum('live'), resets: sum('resets'), resumed: sum('resumed'), cut: stage.cut },
    stopped: children,
    living: ids.filter(isLiving),
    reported,
    left: host.supervisor.stats,
    listeners: [...lives.values()].reduce((all, { abort }) => all + getEventListeners(abort.signal, 'abort').length, 0),
    held,
  };
}

/** The first reader stays, the second comes and goes, the third comes late. */
async function follow(
  reader: Reader,
  life: Life,
  which: number,
  random: Random,
  stage: { readonly isStaying: boolean; cut: number },
): Promise<void> {
  if (which === 2) for (let turns = random.below(60); turns > 0 && !life.isDone; turns--) await quiet();
  for (;;) {
    let left = 1 + random.below(25);
    const how = await reader.read(() => which === 1 && --left <= 0 && !stage.isStaying);
    if (how === 'cut') stage.cut++;
    // one that the host ends is over when all of it was said; a host that has stopped is there for nobody
    if (how === 'over' || (how === 'ended' && stage.isStaying)) return;
    if (how === 'ended' && reader.conversation.state.finished === null) reader.faults.push('ended without a finish');
    // behind what is kept, or not
    if (how === 'left') for (let turns = random.one([1, 10, 80]); turns > 0; turns--) await quiet();
  }
}

function agentText(conversation: Conversation): string {
  let text = '';
  for (const { message } of linearMessages(conversation.state)) {
    if (message.case === 'agentOutput') text += message.value.text;
  }
  return text;
}
