/** What the session says to the host in the conversation, in the words of `BidiTurnEvent`. */
import type { EndReason } from '../../machines/index.js';
import { messageOf } from '../contract/errors.js';
import type { BidiEvent } from '../contract/provider.js';
import type { Payload, SessionLife } from './session-life.js';

/** Passes a far-side event on. */
export function reportFarEvent({ delivery, settings }: SessionLife, event: BidiEvent): void {
  const { sessionId, turnId } = settings;
  switch (event.type) {
    case 'text':
      delivery.push(event.text);
      break;
    case 'audio':
      delivery.push({ type: 'audio', sessionId, turnId, data: event.data, mediaType: event.mediaType });
      break;
    case 'turn_complete':
    case 'interrupted':
      delivery.push({ type: event.type, sessionId, turnId });
      break;
    case 'error':
      delivery.push({ type: 'error', sessionId, turnId, message: event.message });
      break;
  }
}

export function reportError({ delivery, settings }: SessionLife, message: string): void {
  const { sessionId, turnId } = settings;
  delivery.push({ type: 'error', sessionId, turnId, message });
}

/** The last event of a session that does not end by its host. Nothing is delivered after it. */
export function reportEnd(life: SessionLife, payload: Payload, detail: string | undefined): void {
  const { sessionId, turnId } = life.settings;
  const { reason } = life.session.context;
  if (reason === 'far_side') {
    const said = (payload.event as Extract<BidiEvent, { type: 'closed' }>).reason;
    life.end.message = said;
    life.delivery.push(
      said === undefined ? { type: 'closed', sessionId, turnId } : { type: 'closed', sessionId, turnId, reason: said },
    );
  } else {
    const message = endMessage(reason, payload, detail);
    life.end.message = message;
    reportError(life, message);
  }
  life.delivery.end();
}

function endMessage(reason: EndReason | 'none', payload: Payload, detail: string | undefined): string {
  switch (reason) {
    case 'stream_ended':
      return 'the event stream of the driver ended without `closed`';
    case 'stream_failed':
      return `the event stream of the driver failed: ${messageOf(payload.error)}`;
    case 'journal_failed':
      return `the journal could not be made durable: ${messageOf(payload.error)}`;
    case 'overflow':
      return `overflow: ${detail ?? ''}`;
    default:
      return `protocol failure: ${detail ?? payload.problem ?? ''}`;
  }
}
