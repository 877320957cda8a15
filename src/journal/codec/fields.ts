/**
 * The fields of `proto/commitpoint/journal/v1/journal.proto` as they stand in
 * the bytes: for each the tag that it begins with. All numbers are below 16, so
 * that a tag is one byte; the tests hold every one of them to the generated
 * code.
 */
import type { ActorKind } from '../../contract/journal.js';

const varint = 0;
const bit64 = 1;
const delimited = 2;

const tag = (number: number, wireType: number) => (number << 3) | wireType;

export const recordTags = {
  seq: tag(1, varint),
  at: tag(2, bit64),
  actor: tag(3, delimited),
  kind: tag(4, varint),
  event: tag(5, delimited),
  from: tag(6, delimited),
  to: tag(7, delimited),
  cause: tag(8, varint),
  did: tag(9, delimited),
  passed: tag(10, delimited),
  session: tag(11, delimited),
  occurrence: tag(12, delimited),
  conversation: tag(13, delimited),
  folded: tag(14, delimited),
  recovery: tag(15, delimited),
} as const;

export const effectTags = {
  effect: tag(1, delimited),
  detail: tag(2, delimited),
  digest: tag(3, delimited),
  payload: tag(4, delimited),
  version: tag(5, varint),
} as const;

export const passedTags = {
  textTaken: tag(1, varint),
  textDelivered: tag(2, varint),
  audioTaken: tag(3, varint),
  audioDelivered: tag(4, varint),
} as const;

export const sessionTags = {
  machines: tag(1, varint),
  turnId: tag(2, delimited),
  provider: tag(3, delimited),
  durable: tag(4, varint),
  maxConcurrentTools: tag(5, varint),
  maxOpenCalls: tag(6, varint),
  dropUnreadAudio: tag(7, varint),
  pool: tag(8, delimited),
  poolPlaces: tag(9, varint),
} as const;

export const occurrenceTags = {
  type: tag(1, delimited),
  call: tag(2, delimited),
  candidate: tag(3, delimited),
  ids: tag(4, delimited),
  act: tag(5, delimited),
  actId: tag(6, delimited),
  room: tag(7, varint),
  unreadAudio: tag(8, varint),
  places: tag(9, varint),
} as const;

export const candidateTags = {
  id: tag(1, delimited),
  name: tag(2, delimited),
  digest: tag(3, delimited),
  policy: tag(4, delimited),
  writeStart: tag(5, varint),
  writePublish: tag(6, varint),
  effect: tag(7, delimited),
  arguments: tag(8, delimited),
} as const;

export const conversationTags = {
  machines: tag(1, varint),
  mode: tag(2, delimited),
  policies: tag(3, delimited),
  maxDiagnostics: tag(4, varint),
  durable: tag(5, varint),
  initial: tag(6, delimited),
} as const;

export const policyTags = { key: tag(1, delimited), value: tag(2, delimited) } as const;

export const foldedTags = {
  stream: tag(1, varint),
  version: tag(2, varint),
  level: tag(3, varint),
  digest: tag(4, delimited),
  input: tag(5, delimited),
  message: tag(6, delimited),
} as const;

export const recoveryTags = { machines: tag(1, varint) } as const;

/** The kinds by their numbers; 0 is none. */
export const kinds: readonly (ActorKind | undefined)[] = [
  undefined,
  'session',
  'call',
  'transaction',
  'conversation',
  'supervisor',
];

export const numberOfKind: Readonly<Record<ActorKind, number>> = {
  session: 1,
  call: 2,
  transaction: 3,
  conversation: 4,
  supervisor: 5,
};
