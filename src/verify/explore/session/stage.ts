/**
 * One thing happens: the shipped machines take it, moved by the shipped
 * coordination, and what they ask for becomes pending or is over.
 */
import {
  type BareCall,
  type CallEventType,
  type CallRules,
  type Composition,
  callStateOf,
  callStepper,
  createComposition,
  type EndedCall,
  type Move,
  type Occurrence,
  type SessionEventType,
} from '../../../../machines/index.js';
import type { SessionBounds } from './bounds.js';
import type { Happening, Verdict } from './happening.js';
import { perform } from './perform.js';
import { type CallPart, emptyWorld, newCall, type World } from './world.js';

/** A step that the coordination took. */
export interface Taken {
  readonly occurrence: Occurrence<BareCall>;
  /** How many reports the host's buffer took, and how many that waited in it were audio. */
  readonly room: number;
  readonly unreadAudio: number;
  /** How many places the pool lent; `Infinity` where there is none. */
  readonly places: number;
  readonly moves: readonly Move<BareCall>[];
}

/** Is told of every step, when all that it asked for is noted in the world. */
export type OnTaken = (taken: Taken, world: World) => void;

type PlainSessionEvent = Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>;

/** The id of the call at a place. */
export function idOf(call: number): string {
  return `t${call + 1}`;
}

/** The place of the call with an id. */
export function placeOf(id: string): number {
  return Number(id.slice(1)) - 1;
}

/** Where worlds are moved. */
export class Stage {
  readonly bounds: SessionBounds;
  readonly #composition: Composition;
  readonly #rules: readonly CallRules[];
  readonly #names: readonly string[];
  readonly #onTaken: OnTaken;
  #calls: BareCall[] = [];

  constructor(bounds: SessionBounds, onTaken: OnTaken) {
    const { maxConcurrentTools, maxOpenCalls, dropUnreadAudio, durable, tools } = bounds;
    this.bounds = bounds;
    this.#onTaken = onTaken;
    this.#composition = createComposition({ maxConcurrentTools, maxOpenCalls, dropUnreadAudio });
    this.#names = [...tools.map(({ name }) => name), nobodysTool(tools.map(({ name }) => name))];
    this.#rules = [
      ...tools.map(({ onInterruption, effect }) => ({
        policy: onInterruption,
        writeStart: durable && effect !== 'read',
        writePublish: durable,
      })),
      { policy: 'abandon', writeStart: durable, writePublish: durable },
    ];
  }

  /** The name under which the far side calls a tool. */
  nameOf(tool: number): string {
    return this.#names[tool] as string;
  }

  /** A world in which a session has just begun, and its first move. */
  begin(): { readonly world: World; readonly move: Move<BareCall> } {
    const composition = createComposition(this.bounds);
    const world = emptyWorld(composition.session, composition.coordination.counts);
    const move = composition.begin();
    for (const { type } of move.did) perform(world, type, undefined, { bounds: this.bounds, isAudio: false });
    return { world, move };
  }

  /** Something happens that can happen. */
  take(world: World, happening: Happening): void {
    this.#resume(world);
    const { session } = world;
    switch (happening.of) {
      case 'connect':
        session.connecting = false;
        this.#session(world, happening.resolves ? 'connected' : 'connect_rejected');
        break;
      case 'close':
        session.closing = false;
        this.#session(world, 'close_settled');
        break;
      case 'flush': {
        const [oldest, ...others] = session.flushes;
        session.flushes = others;
        if (happening.resolves) this.#call(world, oldest as number, 'flushed');
        else this.#session(world, 'flush_failed');
        break;
      }
      case 'far':
        this.#session(world, happening.type);
        break;
      case 'stream':
        session.reading = false;
        this.#session(world, happening.ends ? 'stream_ended' : 'stream_failed');
        break;
      case 'tool_call':
        this.#toolCall(world, happening.tool, happening.verdict);
        break;
      case 'repeat': {
        const { tool } = world.calls[happening.call] as CallPart;
        this.#take(world, { at: 'session', type: 'tool_call', candidate: this.#candidate(happening.call, tool) });
        break;
      }
      case 'withdraw': {
        const ids = happening.calls.length === 0 ? ['nobody'] : happening.calls.map(idOf);
        this.#take(world, { at: 'session', type: 'tool_call_cancelled', ids });
        break;
      }
      case 'journal_fails':
        this.#session(world, 'flush_failed');
        break;
      case 'lent':
        session.lent = happening.places;
        // nobody is told of what was taken away, nor of what is not waited for
        if (happening.places > 0 && this.#composition.coordination.placesWanted > 0)
          this.#session(world, 'places_lent');
        break;
      case 'validated':
        this.#judgeInput(world, happening.call);
        break;
      case 'code':
        (world.calls[happening.call] as { code: CallPart['code'] }).code = 'settled';
        this.#call(world, happening.call, happening.resolves ? 'code_resolved' : 'code_rejected');
        break;
      case 'publish':
        (world.calls[happening.call] as { unanswered: boolean }).unanswered = false;
        this.#call(world, happening.call, happening.resolves ? 'publish_accepted' : 'publish_rejected');
        break;
      case 'timeout':
        this.#timeout(world, happening);
        break;
      case 'approve':
      case 'deny': {
        const act = { type: happening.of, id: idOf(happening.call) };
        this.#take(world, { at: 'session', type: 'host_act', act });
        break;
      }
      case 'host':
        this.#host(world, happening.act);
        break;
    }
    this.#store(world);
  }

  // ── what happens, in the words of the coordination ──

  #timeout(world: World, happening: Extract<Happening, { of: 'timeout' }>): void {
    const { session } = world;
    switch (happening.what) {
      case 'connect':
        session.connectTimer = false;
        this.#session(world, 'connect_timed_out');
        break;
      case 'close':
        session.closeTimer = false;
        this.#session(world, 'close_timed_out');
        break;
      case 'code':
        (world.calls[happening.call] as { timer: boolean }).timer = false;
        this.#call(world, happening.call, 'timed_out');
        break;
      case 'publish':
        session.unconfirmed = session.unconfirmed.filter((call) => call !== happening.call);
        this.#call(world, happening.call, 'publish_timed_out');
        break;
    }
  }

  #host(world: World, act: Extract<Happening, { of: 'host' }>['act']): void {
    const { session } = world;
    switch (act) {
      case 'send':
        this.#take(world, { at: 'session', type: 'host_act', act: { type: 'send' } });
        break;
      case 'close':
        this.#session(world, 'host_close');
        break;
      case 'abort':
        session.aborted = true;
        this.#session(world, 'host_abort');
        break;
      case 'pause':
        session.paused = true;
        break;
      case 'resume':
        session.paused = false;
        session.waiting = 0;
        session.audio = 0;
        break;
    }
  }

  #toolCall(world: World, tool: number, verdict: Verdict): void {
    const call = world.calls.length;
    const candidate = this.#candidate(call, tool);
    // who comes beyond the number is refused, whatever its arguments
    const part = newCall(tool, verdict, false, firstOf(candidate.rules));
    world.calls.push(part);
    this.#take(world, { at: 'session', type: 'tool_call', candidate });
    const bare = this.#calls[call];
    if (bare === undefined) {
      // it did not fit, and was not admitted
      world.calls.pop();
      return;
    }
    part.refused = bare.refused;
    if (bare.refused) part.verdict = 'refused';
    if (part.validating && !this.bounds.slowValidation) this.#judgeInput(world, call);
  }

  /** What the validation gives; nobody is asked about a call that was decided meanwhile. */
  #judgeInput(world: World, call: number): void {
    const part = world.calls[call] as World['calls'][number];
    part.validating = false;
    if (part.verdict === 'refused') this.#call(world, call, 'input_refused');
    else if (callStateOf((this.#calls[call] as BareCall).snapshot) === 'admitted') {
      this.#call(world, call, part.verdict === 'approval' ? 'approval_required' : 'input_accepted');
    }
  }

  #session(world: World, type: PlainSessionEvent): void {
    this.#take(world, { at: 'session', type });
  }

  #call(world: World, call: number, type: CallEventType): void {
    this.#take(world, { at: 'call', type, call: this.#calls[call] as BareCall });
  }

  #candidate(call: number, tool: number) {
    const name = this.nameOf(tool);
    return { id: idOf(call), name, digest: '', rules: this.#rules[tool] as CallRules };
  }

  // ── the step ──

  #resume(world: World): void {
    const known: (BareCall | EndedCall)[] = [];
    this.#calls = [];
    for (let call = 0; call < world.calls.length; call++) {
      const { tool, refused, snapshot, released } = world.calls[call] as CallPart;
      const bare = { id: idOf(call), name: this.nameOf(tool), digest: '', refused, snapshot };
      this.#calls.push(bare);
      known.push(released ? { id: bare.id, name: bare.name, digest: '', state: callStateOf(snapshot) } : bare);
    }
    this.#composition.resume(world.session.snapshot, known, world.session.counts);
  }

  #store({ session, calls }: World): void {
    const { coordination } = this.#composition;
    session.snapshot = this.#composition.session;
    session.counts = coordination.counts;
    for (let call = 0; call < calls.length; call++) {
      const part = calls[call] as World['calls'][number];
      part.snapshot = (this.#calls[call] as BareCall).snapshot;
      const known = coordination.find(idOf(call));
      part.released = known === undefined || !('snapshot' in known);
    }
    if (typeof session.snapshot.value === 'string') {
      // the buffer decides nothing any more
      session.paused = false;
      session.waiting = 0;
      session.audio = 0;
      session.lent = 0;
    }
  }

  #take(world: World, occurrence: Occurrence<BareCall>): void {
    const { session } = world;
    const { maxBufferedEvents, poolPlaces } = this.bounds;
    const { coordination } = this.#composition;
    const room = session.paused ? (maxBufferedEvents ?? 0) - session.waiting : Number.POSITIVE_INFINITY;
    const unreadAudio = session.audio;
    const lent = poolPlaces === undefined ? undefined : session.lent;
    const moves = this.#composition.take(occurrence, room, unreadAudio, lent);
    if (lent !== undefined) session.lent -= coordination.placesTaken;
    const places = lent ?? Number.POSITIVE_INFINITY;
    const how = { bounds: this.bounds, isAudio: occurrence.type === 'audio' };
    for (const { call, event, did } of moves) {
      // a call begins; one with an id that is known does only where something is wrong
      if (call !== undefined && event === '') this.#calls[placeOf(call.id)] = call;
      for (const { type, call } of did) perform(world, type, call === undefined ? undefined : placeOf(call.id), how);
    }
    this.#onTaken({ occurrence, room, unreadAudio, places, moves }, world);
  }
}

function firstOf(rules: CallRules): CallPart['snapshot'] {
  return callStepper.initial(rules).snapshot;
}

function nobodysTool(taken: readonly string[]): string {
  let name = 'nothing';
  while (taken.includes(name)) name += '_';
  return name;
}
