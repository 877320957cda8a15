/** A session's steps in words: who speaks with whom, and why it ends. */
import type { Arrow } from './frames.js';
import { asked, type Move } from './move.js';
import { textOfEffect } from './payload-text.js';

/** What comes from the far side, and from the driver that speaks with it. */
const fromFarSide: Readonly<Record<string, string>> = {
  connected: 'connected',
  connect_rejected: 'connection refused',
  tool_call: 'tool_call',
  turn_complete: 'turn_complete',
  interrupted: 'interrupted',
  error: 'error',
  closed: 'closed',
  tool_call_cancelled: 'tool_call_cancelled',
  usage: 'usage',
  input_text: 'input_text',
  expiring: 'expiring',
  unknown: 'an event that is unknown',
  ill_formed_note: 'a note that is ill-formed',
  malformed: 'an event that is malformed',
  stream_ended: 'its stream ends',
  stream_failed: 'its stream fails',
  close_settled: 'the driver has closed',
};

/** What a session tells its host, or asks of its driver. */
const byEffect: Readonly<Record<string, { readonly to: 'host' | 'far side'; readonly text: string }>> = {
  connectDriver: { to: 'far side', text: 'connect' },
  closeDriver: { to: 'far side', text: 'close' },
  resolveStart: { to: 'host', text: 'started' },
  refuseStart: { to: 'host', text: 'start refused' },
  resolveClosed: { to: 'host', text: 'the end is told' },
};

/** Why a session ends, by the event that ends it. */
const ends: Readonly<Record<string, string>> = {
  host_close: 'the host closed it',
  host_abort: 'the host aborted it',
  closed: 'the far side closed it',
  malformed: 'the far side sent what its contract does not have',
  repeated_call: 'the far side used the id of a call again',
  stream_ended: 'the stream of events from the far side ended without a word',
  stream_failed: 'the stream of events from the far side failed',
  connect_rejected: 'the driver could not connect',
  connect_timed_out: 'the driver did not connect in time',
  overflow: 'the host had too many events unread',
  flush_failed: 'its journal takes no more',
};

/** What a session's step is about, as the far side or the host began it. */
export function arrowsOfSession(move: Move, max: number): Arrow[] {
  const { event, did, occurrence } = move;
  const arrows: Arrow[] = [];
  const what = occurrence?.type ?? event;
  const far = fromFarSide[what] ?? fromFarSide[event];
  const said = saidIn(move, max);
  if (far !== undefined) {
    const named = occurrence?.candidate?.name ?? occurrence?.ids?.join(', ');
    const text = [far, named, said === undefined ? undefined : `“${said}”`]
      .filter((part) => part !== undefined)
      .join(' ');
    arrows.push({ from: 'far side', to: 'session', text });
  } else if (what === 'text' || what === 'audio') arrows.push({ from: 'far side', to: 'session', text: what });
  const act = actIn(move);
  if (act !== undefined) arrows.push({ from: 'host', to: 'session', text: act });
  for (const { effect } of did) {
    const known = byEffect[effect];
    if (known !== undefined) arrows.push({ from: 'session', to: known.to, text: known.text });
    else if (effect === 'deliver') arrows.push({ from: 'session', to: 'host', text: event });
    else if (effect === 'reportEnd')
      arrows.push({ from: 'session', to: 'host', text: event === 'closed' ? 'closed' : 'error' });
    else if (effect === 'note') arrows.push({ from: 'session', to: 'host', text: event });
    else if (effect === 'refuseAct')
      arrows.push({ from: 'session', to: 'host', text: `${occurrence?.act ?? 'act'} refused` });
    else if (effect === 'performAct' && goesToFarSide(occurrence?.act)) {
      arrows.push({ from: 'session', to: 'far side', text: occurrence?.act ?? 'act' });
    }
  }
  return arrows;
}

function goesToFarSide(act: string | undefined): boolean {
  return act === undefined || act === 'send' || act === 'interrupt' || act === 'played';
}

function actIn({ event, occurrence }: Move): string | undefined {
  if (event === 'host_close') return 'close';
  if (event === 'host_abort') return 'abort';
  if (event !== 'host_act') return undefined;
  return [occurrence?.act ?? 'an act', occurrence?.actId].filter((part) => part !== undefined).join(' ');
}

/** What the far side said in words with an event. */
export function saidIn({ event, did }: Move, max: number): string | undefined {
  if (event !== 'error' && event !== 'closed') return undefined;
  const effect = did.find(({ effect }) => effect === 'deliver' || effect === 'reportEnd');
  return effect === undefined ? undefined : textOfEffect(effect, max);
}

/** Why a session ends with this event; `undefined` for one that ends none. */
export function endInWords(event: string): string | undefined {
  return ends[event];
}

/** Why the session did what it did, where that is not plain. */
export function whyOfSession(move: Move, max: number): string | undefined {
  const { event, from, to } = move;
  const isEnd = (to === 'closing' || to === 'closed') && from !== 'closing' && from !== 'closed';
  if (isEnd) {
    const why = ends[event] ?? `it ended with ${event}`;
    const said = saidIn(move, max);
    return said === undefined ? why : `${why}: ${said}`;
  }
  switch (event) {
    case 'interrupted':
      return 'the user spoke over the model: calls before their commit point are stale, those past it go on';
    case 'tool_call_cancelled':
      return 'the far side takes calls back: those before their commit point are abandoned';
    case 'recovered':
      return 'found by a recovery: its process is gone';
    case 'close_timed_out':
      return 'the driver did not close in time';
    case 'unknown':
    case 'ill_formed_note':
      return 'it changes nothing';
  }
  return asked(move, 'refuseAct') ? refusal(from) : undefined;
}

function refusal(state: string): string {
  if (state === 'connecting') return 'refused: the session has not connected';
  return state === 'closing' || state === 'closed' ? 'refused: the session has ended' : 'refused';
}
