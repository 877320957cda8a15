/** What is pending, or over, when an effect was asked for: as the runtime would have it. */
import type { SessionBounds } from './bounds.js';
import type { World } from './world.js';

/** What an effect does not say itself. */
export interface How {
  readonly bounds: SessionBounds;
  /** What happens is a piece of audio. */
  readonly isAudio: boolean;
}

/** Takes note of an effect. `call`: the place of whose it is; `undefined`: the session's. */
export function perform({ session, calls }: World, effect: string, call: number | undefined, how: How): void {
  if (call === undefined) performForSession(session, effect, how);
  else performForCall(session, calls[call] as World['calls'][number], call, effect, how);
}

function performForSession(session: World['session'], effect: string, { bounds, isAudio }: How): void {
  switch (effect) {
    case 'connectDriver':
      session.connecting = true;
      break;
    case 'closeDriver':
      session.closing = true;
      break;
    case 'armConnectTimeout':
      session.connectTimer = bounds.connectTimes;
      break;
    case 'disarmConnectTimeout':
      session.connectTimer = false;
      break;
    case 'armCloseTimeout':
      session.closeTimer = bounds.closeTimes;
      break;
    case 'disarmCloseTimeout':
      session.closeTimer = false;
      break;
    case 'readEvents':
      session.reading = true;
      break;
    case 'abortLifetime':
      session.reading = false;
      break;
    case 'deliver':
      report(session);
      if (isAudio && session.paused) session.audio++;
      break;
    case 'dropUnreadAudio':
      session.waiting -= session.audio;
      session.audio = 0;
      break;
    case 'discardUnread':
      session.waiting = 0;
      session.audio = 0;
      break;
  }
}

function performForCall(
  session: World['session'],
  part: World['calls'][number],
  call: number,
  effect: string,
  { bounds }: How,
): void {
  switch (effect) {
    case 'validate':
      part.validating = true;
      // a limit for a validation that takes its time
      if (bounds.slowValidation) part.timer = isLimited(bounds, part.tool);
      break;
    case 'execute':
      part.code = 'runs';
      break;
    case 'armTimeout':
      part.timer = isLimited(bounds, part.tool);
      break;
    case 'disarmTimeout':
      part.timer = false;
      break;
    case 'flush':
      session.flushes = [...session.flushes, call];
      break;
    case 'publish':
      part.unanswered = true;
      break;
    case 'armPublishTimeout':
      if (bounds.publishTimes) session.unconfirmed = [...session.unconfirmed, call];
      break;
    case 'disarmPublishTimeout':
      if (session.unconfirmed.length > 0) {
        session.unconfirmed = session.unconfirmed.filter((waiting) => waiting !== call);
      }
      break;
    case 'abortSignal':
      if (part.code === 'runs') part.aborted = true;
      break;
    case 'reportStarted':
    case 'reportCompleted':
    case 'reportRejected':
    case 'reportUnconfirmed':
    case 'reportAbandoned':
      report(session);
      break;
  }
}

function isLimited({ tools }: SessionBounds, tool: number): boolean {
  return (tools[tool]?.timeoutMs ?? 0) > 0;
}

function report(session: World['session']): void {
  if (session.paused) session.waiting++;
}
