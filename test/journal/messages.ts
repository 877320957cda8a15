/** Between records and the messages of the generated code, which is what the hand-written codec is held to. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ActorKind, type Record, RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import type {
  JournalRecord,
  RecordData,
  RecordedCandidate,
  RecordedEffect,
  RecordedOccurrence,
} from '../../src/contract/journal.js';

const kinds = ['session', 'call', 'transaction', 'conversation', 'supervisor'] as const;

export function messageOf(record: JournalRecord): Record {
  const { seq, at, actor, kind, event, from, to, cause, did, passed, data } = record;
  return create(RecordSchema, {
    seq: BigInt(seq),
    at,
    actor,
    kind: ActorKind[kind.toUpperCase() as keyof typeof ActorKind],
    event,
    from,
    to,
    cause: BigInt(cause),
    did: did.map(({ version = 0, ...effect }) => ({ ...effect, version: BigInt(version) })),
    ...(passed && {
      passed: {
        textTaken: BigInt(passed.text[0]),
        textDelivered: BigInt(passed.text[1]),
        audioTaken: BigInt(passed.audio[0]),
        audioDelivered: BigInt(passed.audio[1]),
      },
    }),
    ...(data && { data: dataOf(data) }),
  });
}

function dataOf(data: RecordData): NonNullable<MessageInitShape<typeof RecordSchema>['data']> {
  if ('session' in data) return { case: 'session', value: data.session };
  if ('conversation' in data) return { case: 'conversation', value: data.conversation };
  if ('recovery' in data) return { case: 'recovery', value: data.recovery };
  if ('folded' in data) return { case: 'folded', value: { ...data.folded, version: BigInt(data.folded.version) } };
  const { ids, ...rest } = data.occurrence;
  return { case: 'occurrence', value: { ...rest, ids: [...(ids ?? [])] } };
}

/** What a record is after it was bytes: without what is empty. */
export function recordOf(message: Record): JournalRecord {
  const { seq, at, actor, kind, event, from, to, cause, did, passed, data } = message;
  const named = kinds[kind - 1];
  if (named === undefined) throw new RangeError(`expected a kind, found ${kind}`);
  return {
    seq: Number(seq),
    at,
    actor,
    kind: named,
    event,
    from,
    to,
    cause: Number(cause),
    did: did.map(
      ({ effect, detail, digest, payload, version }) =>
        ({ effect, ...said({ detail, digest, payload, version: Number(version) }) }) as RecordedEffect,
    ),
    ...(passed && {
      passed: {
        text: [Number(passed.textTaken), Number(passed.textDelivered)],
        audio: [Number(passed.audioTaken), Number(passed.audioDelivered)],
      },
    }),
    ...(data.case !== undefined && { data: recordedOf(data) }),
  };
}

function recordedOf(data: Record['data']): RecordData {
  switch (data.case) {
    case 'session': {
      const { $typeName: _, $unknown: __, pool, poolPlaces, ...session } = data.value;
      return { session: { ...session, ...said({ pool, poolPlaces }) } };
    }
    case 'conversation': {
      const { machines, mode, policies, maxDiagnostics, durable, initial } = data.value;
      return { conversation: { machines, mode, policies, maxDiagnostics, durable, ...said({ initial }) } };
    }
    case 'recovery':
      return { recovery: { machines: data.value.machines } };
    case 'folded': {
      const { version, stream, level, digest, input, message } = data.value;
      return { folded: { version: Number(version), ...said({ stream, level, digest, input, message }) } };
    }
    case 'occurrence': {
      const { type, call, candidate, ids, act, actId, room, unreadAudio, places } = data.value;
      const occurrence = {
        ...said({ type, call, ids, act, actId, unreadAudio }),
        ...(room !== undefined && { room }),
        ...(places !== undefined && { places }),
        ...(candidate && { candidate: candidateOf(candidate) }),
      };
      return { occurrence: occurrence as RecordedOccurrence };
    }
    default:
      throw new RangeError('expected data, found none');
  }
}

function candidateOf(candidate: {
  id: string;
  name: string;
  digest: string;
  policy: string;
  writeStart: boolean;
  writePublish: boolean;
  effect: string;
  arguments: Uint8Array;
}): RecordedCandidate {
  const { id, name, digest, policy, writeStart, writePublish, effect } = candidate;
  return {
    ...{ id, name, digest, policy, writeStart, writePublish, effect },
    ...said({ arguments: candidate.arguments }),
  } as RecordedCandidate;
}

/** Without what is empty or 0. */
function said<Fields extends object>(fields: Fields): Partial<Fields> {
  const saying = Object.entries(fields).filter(
    ([, value]) =>
      value !== 0 && !(typeof value === 'object' || typeof value === 'string' ? value.length === 0 : false),
  );
  return Object.fromEntries(saying) as Partial<Fields>;
}
