/** The fields of a `SessionBegan` and a `Recovery`; what is promised of them is said in `decoder.ts`. */
import type { RecordedRecovery, SessionBegan } from '../../contract/journal.js';
import type { ByteCursor } from './byte-cursor.js';
import { recoveryTags, sessionTags } from './fields.js';
import { type TextTable, text } from './texts.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const noSession: SessionBegan = {
  machines: 0,
  turnId: '',
  provider: '',
  durable: false,
  maxConcurrentTools: 0,
  maxOpenCalls: 0,
  dropUnreadAudio: false,
};

export function readSession(
  cursor: ByteCursor,
  end: number,
  words: TextTable,
  before: SessionBegan | undefined,
): SessionBegan {
  const session: Writable<SessionBegan> = before === undefined ? { ...noSession } : { ...before };
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    switch (tag) {
      case sessionTags.machines:
        session.machines = cursor.uint32(end);
        break;
      case sessionTags.turnId:
        session.turnId = text(cursor, end);
        break;
      case sessionTags.provider:
        session.provider = text(cursor, end, words);
        break;
      case sessionTags.durable:
        session.durable = cursor.flag(end);
        break;
      case sessionTags.maxConcurrentTools:
        session.maxConcurrentTools = cursor.uint32(end);
        break;
      case sessionTags.maxOpenCalls:
        session.maxOpenCalls = cursor.uint32(end);
        break;
      case sessionTags.dropUnreadAudio:
        session.dropUnreadAudio = cursor.flag(end);
        break;
      case sessionTags.pool:
        session.pool = text(cursor, end);
        break;
      case sessionTags.poolPlaces:
        session.poolPlaces = cursor.uint32(end);
        break;
      default:
        cursor.skip(tag, end);
    }
  }
  if (session.pool === '') delete session.pool;
  if (session.poolPlaces === 0) delete session.poolPlaces;
  return session;
}

export function readRecovery(cursor: ByteCursor, end: number, before: RecordedRecovery | undefined): RecordedRecovery {
  let machines = before?.machines ?? 0;
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    if (tag === recoveryTags.machines) machines = cursor.uint32(end);
    else cursor.skip(tag, end);
  }
  return { machines };
}
