/** Random records, with every field that a record can have, and the form that the bytes can hold. */
import fc from 'fast-check';
import type {
  ActorKind,
  ConversationBegan,
  JournalEntry,
  JournalRecord,
  Passed,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedFold,
  RecordedOccurrence,
  SessionBegan,
} from '../../src/contract/journal.js';

const uint64 = fc.oneof(fc.nat({ max: 300 }), fc.maxSafeNat());
const uint32 = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2 ** 32 - 1 }));
/** Words that come again, texts of all of Unicode, some longer than what is made by hand. */
const text = fc.oneof(
  fc.constantFrom('open.waiting', 'executing', 'reportStarted', 's-1/call-1'),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ minLength: 100, maxLength: 200 }),
);
const written = text.filter((one) => one !== '');
const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
/** Objects like those that a program makes. */
const common = { noNullPrototype: true } as const;
const maybe = { requiredKeys: [] as [], ...common };

const effects: fc.Arbitrary<RecordedEffect> = fc.record(
  { effect: text, detail: written, digest: written, payload: bytes, version: fc.maxSafeNat().map((n) => n || 1) },
  { requiredKeys: ['effect'], ...common },
);
const plainEffects: fc.Arbitrary<RecordedEffect> = fc.constantFrom(
  { effect: 'reportStarted' },
  { effect: 'flush', detail: 'start' },
  { effect: 'execute' },
);
const passed: fc.Arbitrary<Passed> = fc.record(
  { text: fc.tuple(uint64, uint64), audio: fc.tuple(uint64, uint64) },
  common,
);
const candidates: fc.Arbitrary<RecordedCandidate> = fc.record(
  {
    id: text,
    name: text,
    digest: text,
    policy: fc.constantFrom('abandon', 'cancel', 'deliver'),
    writeStart: fc.boolean(),
    writePublish: fc.boolean(),
    effect: fc.constantFrom('read', 'idempotent', 'irreversible'),
    arguments: bytes,
  },
  { requiredKeys: ['id', 'name', 'digest', 'policy', 'writeStart', 'writePublish', 'effect'], ...common },
);
const sessions: fc.Arbitrary<SessionBegan> = fc.record(
  {
    machines: uint32,
    turnId: text,
    provider: text,
    durable: fc.boolean(),
    maxConcurrentTools: uint32,
    maxOpenCalls: uint32,
    dropUnreadAudio: fc.boolean(),
    pool: written,
    poolPlaces: uint32.map((n) => n || 1),
  },
  {
    requiredKeys: [
      'machines',
      'turnId',
      'provider',
      'durable',
      'maxConcurrentTools',
      'maxOpenCalls',
      'dropUnreadAudio',
    ],
    ...common,
  },
);
const occurrences: fc.Arbitrary<RecordedOccurrence> = fc.record(
  {
    type: written,
    call: written,
    candidate: candidates,
    ids: fc.array(text, { minLength: 1, maxLength: 3 }),
    act: written,
    actId: written,
    room: uint32,
    unreadAudio: uint32.map((n) => n || 1),
    places: uint32,
  },
  maybe,
);
const conversations: fc.Arbitrary<ConversationBegan> = fc.record(
  {
    machines: uint32,
    mode: text,
    policies: fc.dictionary(fc.oneof(text, fc.constant('__proto__')), text, { maxKeys: 4, noNullPrototype: true }),
    maxDiagnostics: uint32,
    durable: fc.boolean(),
    initial: bytes,
  },
  { requiredKeys: ['machines', 'mode', 'policies', 'maxDiagnostics', 'durable'], ...common },
);
const folds: fc.Arbitrary<RecordedFold> = fc.record(
  {
    stream: uint32.map((n) => n || 1),
    version: uint64,
    level: uint32.map((n) => n || 1),
    digest: written,
    input: bytes,
    message: written,
  },
  { requiredKeys: ['version'], ...common },
);
const data: fc.Arbitrary<RecordData> = fc.oneof(
  sessions.map((session) => ({ session })),
  occurrences.map((occurrence) => ({ occurrence })),
  conversations.map((conversation) => ({ conversation })),
  folds.map((folded) => ({ folded })),
  uint32.map((machines) => ({ recovery: { machines } })),
);
const kinds: fc.Arbitrary<ActorKind> = fc.constantFrom('session', 'call', 'transaction', 'conversation', 'supervisor');

/** Any entry whose optional fields are absent or say something: what is empty is as if it were absent. */
export const entries: fc.Arbitrary<JournalEntry> = fc.record(
  {
    at: fc.oneof(fc.nat(), fc.double()),
    actor: text,
    kind: kinds,
    event: text,
    from: text,
    to: text,
    cause: uint64,
    did: fc.oneof(fc.array(plainEffects, { maxLength: 4 }), fc.array(effects, { maxLength: 4 })),
    passed,
    data,
  },
  { requiredKeys: ['at', 'actor', 'kind', 'event', 'from', 'to', 'cause', 'did'], ...common },
);

export const records: fc.Arbitrary<JournalRecord> = fc
  .tuple(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })), entries)
  .map(([seq, entry]) => ({ seq, ...entry }));

/** An entry like those of which a journal mostly consists; `n` tells it from others. */
export function entry(n: number): JournalEntry {
  return {
    at: 1_700_000_000_000 + n,
    actor: `session-1/call-${n}`,
    kind: 'call',
    event: 'placed',
    from: 'queued',
    to: 'executing',
    cause: 0,
    did: [{ effect: 'execute', digest: `${n}.digest` }, { effect: 'armTimeout' }],
  };
}
