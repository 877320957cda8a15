/**
 * A supervisor that lives: takes what happens to its children, one step at a
 * time, and performs what the machine asks for.
 *
 * Invariants kept here:
 *
 * S1. One step at a time; what comes while a step runs is taken when it is
 *     complete, in the order in which it came. A conversation is made at once,
 *     since whoever asks gets it at once.
 * S2. The registry is the one place where children are held: one that has ended
 *     is in it no more. To start and to end one costs the same, however many
 *     there are.
 * S3. A start that the machine does not ask to open is refused, and whoever
 *     asked is told why; nothing is queued.
 * S4. What is thrown in an effect about one child harms no other.
 */
import {
  type Effect,
  type SupervisorEventType,
  type SupervisorSnapshot,
  supervisorStepper,
} from '../../../machines/index.js';
import {
  ConnectAbortedError,
  InvalidInputError,
  SupervisorLimitError,
  SupervisorStoppingError,
} from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import { ActorSystem, type ActorWatch } from '../actors.js';
import { assertAtOnce } from '../at-once.js';
import type { Conversation } from '../conversation/conversation.js';
import { type ConversationOptions, settingsOf as conversationSettingsOf } from '../conversation/options.js';
import { fresh } from '../options.js';
import { assertObject } from './arguments.js';
import type { Child } from './child.js';
import { ConversationChild } from './conversation-child.js';
import { Drain } from './drain.js';
import { Once } from './once.js';
import type { SupervisedSessionOptions, SupervisorSettings } from './options.js';
import type { ChildEvent, Owner } from './owner.js';
import type { ShutdownReport } from './report.js';
import { SessionChild } from './session-child.js';
import { Counters, StatsFeed, type SupervisorStats, WatchedPool } from './stats.js';
import type { SupervisedSession } from './supervised-session.js';
import { SupervisorActor } from './supervisor-actor.js';
import { type Subject, SupervisorRecorder } from './supervisor-recorder.js';

/** One step's input. */
interface Input extends Subject {
  readonly type: SupervisorEventType;
  /** Of a start: is told why it is refused. */
  readonly refuse?: (error: unknown) => void;
}

export class SupervisorRuntime implements Owner<Child>, ActorWatch {
  readonly settings: SupervisorSettings;
  readonly system: ActorSystem;
  readonly pool: WatchedPool;
  readonly actor: SupervisorActor;
  readonly feed: StatsFeed;
  readonly closed = new Once<ShutdownReport>();
  readonly #recorder: SupervisorRecorder | undefined;
  /** Children that live, in order of their start. */
  readonly #children = new Map<string, Child>();
  readonly #counts = new Counters();
  #isStepping = false;
  #waiting: Input[] | undefined;
  #drain: Drain | undefined;
  #deadline: { readonly at: number; readonly timer: unknown } | undefined;

  constructor(settings: SupervisorSettings) {
    const { id, journal, clock, inspect, maxConcurrentTools } = settings;
    this.settings = settings;
    this.pool = new WatchedPool(maxConcurrentTools);
    this.feed = new StatsFeed(
      () => this.stats,
      clock,
      // to tell of it would be another value, to throw at again
      () => {
        this.#counts.strays++;
      },
    );
    this.pool.onChange = () => this.feed.changed();
    this.system = new ActorSystem(this);
    if (inspect !== undefined) this.system.inspect(inspect);
    this.actor = SupervisorActor.create(this.system, id);
    if (journal !== undefined) {
      this.#recorder = new SupervisorRecorder(journal, settings, () => this.#take({ type: 'journal_failed' }));
      this.#recorder.begin(stateOf(this.actor.getSnapshot()));
    }
  }

  // ── what the host may ask ──

  startSession(options: SupervisedSessionOptions): Promise<SupervisedSession> {
    return new Promise((resolve, reject) => {
      assertObject('options', options);
      const child = new SessionChild(this, options, { resolve, reject });
      const refuse = (error: unknown) => {
        reject(error);
        child.dismiss(error);
      };
      try {
        assertAtOnce('what `prepare` gave', 'nothing', options.prepare?.(child.session));
      } catch (thrown) {
        refuse(thrown);
        return;
      }
      // it was closed before it began
      if (child.isOver) refuse(new ConnectAbortedError());
      else this.#take({ type: 'start_session', child, refuse });
    });
  }

  /** @throws what `createConversation` does, {@link SupervisorLimitError}, {@link SupervisorStoppingError} */
  createConversation(options: ConversationOptions): Conversation {
    assertObject('options', options);
    const { journal, clock } = this.settings;
    const settings = conversationSettingsOf({ clock, ...(journal === undefined ? {} : { journal }), ...options });
    if (settings.signal?.aborted) throw settings.signal.reason;
    const id = settings.id ?? fresh('con_');
    const child = new ConversationChild(this, id, { ...settings, id });
    let refused: { readonly error: unknown } | undefined;
    const refuse = (error: unknown) => {
      refused = { error };
    };
    const isNested = this.#isStepping;
    this.#isStepping = true;
    this.#step({ type: 'start_conversation', child, refuse });
    if (!isNested) this.#drainInputs();
    if (refused !== undefined) throw (refused as { readonly error: unknown }).error;
    return child.conversation as Conversation;
  }

  get(id: string): SupervisedSession | Conversation | undefined {
    return handleOf(this.#children.get(id));
  }

  list(): (SupervisedSession | Conversation)[] {
    return [...this.#children.values()].map(handleOf).filter((handle) => handle !== undefined);
  }

  get stats(): SupervisorStats {
    const { sessions, conversations, restarting, started, ended, restarts, failures, refused, strays } = this.#counts;
    return {
      sessions,
      conversations,
      restarting,
      toolsRunning: this.pool.held,
      toolsWaiting: this.pool.waiting,
      started,
      ended,
      restarts,
      failures,
      refused,
      strays,
    };
  }

  shutdown(deadlineMs: number): Promise<ShutdownReport> {
    this.#take({ type: 'shutdown', deadlineMs });
    return this.closed.promise;
  }

  inspect(observer: InspectionObserver): () => void {
    this.system.announce(observer, [this.actor as never]);
    for (const child of this.#children.values()) child.announce(observer);
    const attached = this.system.inspect(observer);
    return () => attached.unsubscribe();
  }

  // ── what children tell (Owner) ──

  happens(event: ChildEvent<Child>): void {
    this.#take(event);
  }

  // ── what host code does wrong (ActorWatch) ──

  threw(_thrown: unknown): void {
    this.#counts.strays++;
    this.feed.changed();
  }

  foreign(): void {
    this.#counts.strays++;
    this.feed.changed();
  }

  // ── steps ──

  #take(input: Input): void {
    if (this.#isStepping) {
      this.#waiting ??= [];
      this.#waiting.push(input);
      return;
    }
    this.#isStepping = true;
    this.#step(input);
    this.#drainInputs();
  }

  #drainInputs(): void {
    for (let next = 0; this.#waiting !== undefined; ) {
      const input = this.#waiting[next++];
      if (input === undefined) {
        this.#waiting = undefined;
        break;
      }
      this.#step(input);
      if (next > 1000) {
        this.#waiting?.splice(0, next);
        next = 0;
      }
    }
    this.#isStepping = false;
  }

  #step(input: Input): void {
    const { child, refuse } = input;
    const isStart = refuse !== undefined;
    if (isStart && this.#children.has((child as Child).id)) {
      refuse(new InvalidInputError('id', 'one that no child has that lives', (child as Child).id));
      return;
    }
    // nothing more is said of a child that has gone
    if (child !== undefined && !isStart && this.#children.get(child.id) !== child) return;
    const type = isStart && this.#isFull(child as Child) ? 'over_limit' : input.type;
    const before = this.actor.getSnapshot();
    const { snapshot, effects } = supervisorStepper.step(before, type);
    // nothing is to be said of what changes nothing: a shutdown that is over
    if (snapshot === before && effects.length === 0 && !isStart) return;
    // one that has stopped takes no step any more
    if (before.status === 'active') {
      this.#recorder?.step(type, stateOf(before), stateOf(snapshot), effects, input);
      this.actor.step(type, snapshot);
    }
    this.#performAll(effects, input, type);
    this.feed.changed();
    if (this.#drain !== undefined && this.#children.size === 0 && stateOf(snapshot) === 'draining') {
      this.#take({ type: 'emptied' });
    }
  }

  #performAll(effects: readonly Effect[], input: Input, type: SupervisorEventType): void {
    let isOpened = false;
    for (const { type: effect } of effects) {
      if (effect === 'openIncarnation' || effect === 'openConversation') isOpened = true;
      try {
        this.#perform(effect, input);
      } catch (thrown) {
        this.threw(thrown);
      }
    }
    if (input.refuse === undefined || isOpened) return;
    this.#counts.refused++;
    input.refuse(this.#refusal(input.child as Child, type));
  }

  #perform(effect: string, { type, child, refuse, deadlineMs }: Input): void {
    switch (effect) {
      case 'openIncarnation':
        if (type === 'restart_due') {
          this.#counts.restarting--;
          this.#counts.restarts++;
        } else this.#register(child as Child);
        (child as SessionChild).open();
        break;
      case 'openConversation':
        this.#openConversation(child as ConversationChild, refuse as (error: unknown) => void);
        break;
      case 'announceIncarnation':
        (child as SessionChild).announceIncarnation();
        break;
      case 'armRestart':
        this.#counts.restarting++;
        (child as SessionChild).armRestart();
        break;
      case 'disarmRestarts':
        for (const each of this.#children.values()) if (each.kind === 'session') each.disarmRestart();
        break;
      case 'reportFailure':
        this.#counts.failures++;
        (child as SessionChild).reportFailure();
        break;
      case 'releaseChild':
        this.#release(child as Child);
        break;
      case 'finishChildren':
        this.#drain = new Drain(this.#children.values());
        this.#drain.begin();
        break;
      case 'closeChildren':
        this.#drain?.cut();
        break;
      case 'armDeadline':
        this.#armDeadline(deadlineMs as number);
        break;
      case 'disarmDeadline':
        this.#disarmDeadline();
        break;
      case 'resolveShutdown':
        this.closed.resolve({ children: this.#drain?.reports ?? [] });
        this.feed.complete();
        break;
    }
  }

  // ── the registry ──

  #isFull({ kind }: Child): boolean {
    return kind === 'session'
      ? this.#counts.sessions >= this.settings.maxSessions
      : this.#counts.conversations >= this.settings.maxConversations;
  }

  #refusal({ kind }: Child, type: SupervisorEventType): unknown {
    const { id, maxSessions, maxConversations } = this.settings;
    if (type !== 'over_limit' || stateOf(this.actor.getSnapshot()) !== 'running')
      return new SupervisorStoppingError(id);
    return kind === 'session'
      ? new SupervisorLimitError('sessions', maxSessions)
      : new SupervisorLimitError('conversations', maxConversations);
  }

  #register(child: Child): void {
    this.#children.set(child.id, child);
    this.#counts.started++;
    if (child.kind === 'session') this.#counts.sessions++;
    else this.#counts.conversations++;
  }

  #openConversation(child: ConversationChild, refuse: (error: unknown) => void): void {
    this.#register(child);
    try {
      child.open();
    } catch (error) {
      refuse(error);
      child.ended();
    }
  }

  #release(child: Child): void {
    this.#children.delete(child.id);
    this.#counts.ended++;
    if (child.kind === 'conversation') this.#counts.conversations--;
    else {
      this.#counts.sessions--;
      if (child.wasInGap) this.#counts.restarting--;
      child.release();
    }
    this.#drain?.released(child);
  }

  // ── the deadline ──

  /** The nearest one holds. */
  #armDeadline(deadlineMs: number): void {
    const { clock } = this.settings;
    const at = clock.now() + deadlineMs;
    if (this.#deadline !== undefined && this.#deadline.at <= at) return;
    this.#disarmDeadline();
    const passes = () => this.#take({ type: 'deadline_passed' });
    if (deadlineMs === 0) {
      this.#deadline = { at, timer: undefined };
      passes();
    } else this.#deadline = { at, timer: clock.setTimeout(passes, deadlineMs) };
  }

  #disarmDeadline(): void {
    if (this.#deadline?.timer !== undefined) this.settings.clock.clearTimeout(this.#deadline.timer);
    this.#deadline = undefined;
  }
}

function stateOf({ value }: SupervisorSnapshot): string {
  return value as string;
}

function handleOf(child: Child | undefined): SupervisedSession | Conversation | undefined {
  return child?.kind === 'session' ? child.session : child?.conversation;
}
