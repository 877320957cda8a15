/**
 * A recording: it listens to a session, and hands what its scribe writes to a conversation or a sink.
 *
 * Y1. The stream is begun once and finished once, whatever ends it; nothing is written after its finish.
 * Y2. What goes wrong with a recording ends it, and never harms the session.
 * Y3. What waits for a sink is at most `maxBufferedEvents` and the events of one step and of the end.
 */
import { type ResponseEvent, ResponseEventSchema } from '../../../proto/index.js';
import { ConversationError, messageOf, ResponseStreamError } from '../../contract/errors.js';
import type { CloseReport } from '../../contract/lifecycle.js';
import type { BidiInput } from '../../contract/provider.js';
import type { PassedAct, SessionTap, Tappable, TappedCall, TappedNote } from '../../contract/session-tap.js';
import { tapped } from '../../contract/session-tap.js';
import type { BidiTurnEvent } from '../../contract/turn-event.js';
import { adoptMessage, planOf } from '../../conversation/message/plan.js';
import type { ActionInit } from '../../conversation/writer/action-writer.js';
import type { Conversation } from '../conversation/index.js';
import { conversationTarget, type Target } from './conversation-target.js';
import { type FinishInit, failedFinish, finishOf, Usage } from './finish.js';
import { messageId, type RecordingSettings } from './options.js';
import { Scribe } from './scribe.js';
import { SinkOutlet } from './sink-outlet.js';

/** How a recording ended. */
export interface RecordingEnd {
  /**
   * - `session_ended`: the session did, and all of it is recorded
   * - `stopped`: by the host, or the request was ended in the conversation
   * - `failed`: `error` says of what: a {@link ResponseStreamError} (`full`) for a sink that is too slow, what the sink threw, or
   *   what the conversation refused with
   */
  readonly reason: 'session_ended' | 'stopped' | 'failed';
  readonly error?: unknown;
  /** How many events were written. */
  readonly events: number;
  /** How the session ended, where it did. */
  readonly closed?: CloseReport;
}

type EventType = { readonly case: 'init' | 'clientActions' | 'finished'; readonly value: unknown };

const eventPlan = planOf(ResponseEventSchema);

export class Recorder implements SessionTap {
  readonly settings: RecordingSettings;
  readonly finished: Promise<RecordingEnd>;
  readonly #scribe: Scribe;
  readonly #target: Target;
  readonly #usage = new Usage();
  #resolve: (end: RecordingEnd) => void = () => {};
  #detach: (() => void) | undefined;
  #end: Omit<RecordingEnd, 'events'> | undefined;
  /** What went wrong, first, before the end. */
  #failed: Omit<RecordingEnd, 'events'> | undefined;
  #events = 0;
  #messages = 0;
  #isSettling = false;

  constructor(settings: RecordingSettings) {
    this.settings = settings;
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#target = this.#targetOf(settings);
    this.#scribe = new Scribe({
      taskId: settings.taskId,
      onInterrupted: settings.onInterrupted,
      write: (actions) => this.#write(actions),
      nextId: () => messageId(settings.requestId, ++this.#messages),
    });
    const { conversationId, requestId, taskId, makesTask } = settings;
    try {
      this.#push({ case: 'init', value: { conversationId, requestId } });
      if (makesTask) this.#write([{ case: 'createTask', value: { task: { id: taskId } } }]);
    } catch (error) {
      // a conversation that is closed is the host's mistake, one that refuses ends the recording as it would later (Y2)
      if (!(error instanceof ConversationError)) throw error;
      this.#fail(error);
    }
  }

  /** Listens from now on. */
  listen(session: Tappable): void {
    if (this.#end !== undefined) return;
    const detach = session[tapped](this);
    if (this.#end === undefined) this.#detach = detach;
    else detach();
  }

  /** The host wants no more of it. */
  stop(): void {
    this.#finish({ reason: 'stopped' }, { reason: { case: 'done', value: {} } });
  }

  // ── what the session tells (SessionTap) ──

  reported(event: BidiTurnEvent): void {
    this.#take(() => this.#reported(event));
  }

  noted(event: TappedNote): void {
    this.#take(() => this.#noted(event));
  }

  acted(act: PassedAct): void {
    this.#take(() => this.#acted(act));
  }

  ended(closed: CloseReport): void {
    this.#finish({ reason: 'session_ended', closed }, finishOf(closed));
  }

  #reported(event: BidiTurnEvent): void {
    switch (event.type) {
      case 'text':
        this.#scribe.text(event.text);
        break;
      case 'audio':
        this.#scribe.audio(event.data, event.mediaType);
        break;
      case 'turn_complete':
        this.#scribe.turnComplete();
        break;
      case 'interrupted':
        this.#scribe.interrupted();
        this.#settleSoon();
        break;
      // calls are followed by their states; an error is no part of what was said
    }
  }

  #noted(event: TappedNote): void {
    switch (event.type) {
      case 'call':
        this.#callChanged(event);
        break;
      case 'input_text':
        this.#scribe.userSaid(event.text, event.final);
        break;
      case 'usage':
        this.#usage.add(event);
        break;
      case 'restarting':
      case 'restarted':
        // of a supervised session: what the last incarnation left open is over
        this.#scribe.end();
        break;
    }
  }

  #callChanged({ id, name, from, to, arguments: args = '', result }: TappedCall): void {
    if (from === null) this.#scribe.admitted(id, name, args);
    else if (to === 'publishing') this.#scribe.published(id, result?.output ?? '', result?.isError ?? false);
    else if (to === 'abandoned') this.#scribe.abandoned(id);
    else if (to === 'cancelled') this.#scribe.cancelled(id);
    else this.#scribe.settle();
  }

  #acted(act: PassedAct): void {
    if (act.type === 'send') this.#sent(act.input);
    else if (act.type === 'played') this.#scribe.played(act.ms);
    else if (act.playedMs !== undefined) this.#scribe.played(act.playedMs);
  }

  #sent(input: BidiInput): void {
    // audio is no text; where the far side writes it down, that is what is recorded
    if (input.type === 'text') this.#scribe.userWrote(input.text);
  }

  /** In the same turn of the event loop, when the step that interrupted is complete. */
  #settleSoon(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    void Promise.resolve().then(() => {
      this.#isSettling = false;
      if (this.#end === undefined) this.#guarded(() => this.#scribe.settle());
    });
  }

  // ── what is written ──

  #take(tell: () => void): void {
    if (this.#end !== undefined) return;
    const { waiting } = this.#target;
    const { maxBufferedEvents } = this.settings;
    if (waiting < maxBufferedEvents) this.#guarded(tell);
    else {
      const found = `expected a sink that keeps up, found ${waiting} events that wait for it`;
      this.#fail(new ResponseStreamError('full', found));
    }
  }

  #guarded(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#finish({ reason: 'failed', error }, failedFinish(messageOf(error)));
  }

  #finish(end: Omit<RecordingEnd, 'events'>, finish: FinishInit): void {
    if (this.#end !== undefined) return;
    if (end.reason === 'failed') this.#failed ??= end;
    try {
      this.#scribe.end();
      const tokenUsage = this.#usage.of(this.settings.model);
      this.#push({ case: 'finished', value: { ...finish, tokenUsage } });
      this.#over(end);
    } catch (error) {
      this.#over(this.#failed ?? { reason: 'failed', error });
    }
  }

  #over(end: Omit<RecordingEnd, 'events'>): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#detach?.();
    this.#detach = undefined;
    this.#target.end();
  }

  #write(actions: readonly ActionInit[]): void {
    this.#push({ case: 'clientActions', value: { actions: actions.map((action) => ({ action })) } });
  }

  #push(type: EventType): void {
    if (this.#end !== undefined) return;
    if (!this.#target.isOpen) {
      // somebody else has ended the request, or it has failed of what was written
      this.#over(this.#failed ?? { reason: 'stopped' });
      return;
    }
    this.#events++;
    this.#target.push(adoptMessage(eventPlan, { type }, 1) as unknown as ResponseEvent);
  }

  #settled(failure: { readonly error: unknown } | undefined): void {
    if (failure !== undefined && this.#end === undefined) this.#over({ reason: 'failed', error: failure.error });
    const end = this.#end ?? { reason: 'stopped' as const };
    const told =
      failure === undefined || end.reason === 'failed' ? end : { ...end, reason: 'failed' as const, ...failure };
    this.#resolve({ ...told, events: this.#events });
  }

  #targetOf({ conversation, sink }: RecordingSettings): Target {
    if (sink !== undefined) {
      const outlet = new SinkOutlet(sink, (failure) => this.#settled(failure));
      return {
        get waiting() {
          return outlet.waiting;
        },
        isOpen: true,
        push: (event) => outlet.push(event),
        end: () => outlet.end(),
      };
    }
    return conversationTarget(conversation as Conversation, () => this.#settled(undefined));
  }
}
