/**
 * From a record to the bytes of `commitpoint.journal.v1.Record`, written by
 * hand: a journal that is on may cost a control event a third of what it costs
 * without (P11), and the library's encoder alone costs more than that.
 *
 * Invariants kept here:
 *
 * E1. The generated code reads what is written here to the same record, field
 *     by field, and would write the same bytes.
 * E2. A record that cannot be written leaves nothing of itself in the sink.
 * E3. What comes again is written once, and copied after that: what was done by
 *     a transition that many lives take, where the list of it is frozen, and so
 *     the same for all of them and for ever; a transition by its names; an effect
 *     of which nothing but the name is said. What is kept for that is bounded,
 *     whatever names come.
 */
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
} from '../../contract/journal.js';
import { ByteSink } from './byte-sink.js';
import {
  candidateTags,
  conversationTags,
  effectTags,
  foldedTags,
  numberOfKind,
  occurrenceTags,
  passedTags,
  policyTags,
  recordTags,
  recoveryTags,
  sessionTags,
} from './fields.js';

/**
 * Writes a record to the end of a sink, without a length before it.
 *
 * @throws {InvalidInputError} when a number of it fits in no field
 */
export function writeRecord(sink: ByteSink, seq: number, entry: JournalEntry): void {
  const start = sink.length;
  const { actor, cause, did, passed, data } = entry;
  try {
    sink.uint64(recordTags.seq, seq);
    sink.double(recordTags.at, entry.at);
    sink.text(recordTags.actor, actor);
    const known = writtenBefore(entry);
    if (known === undefined) {
      writeTransition(sink, entry);
      sink.uint64(recordTags.cause, cause);
      writeEffects(sink, did);
    } else if (cause === 0) sink.copy(known.whole);
    else {
      sink.copy(known.transition);
      sink.uint64(recordTags.cause, cause);
      sink.copy(known.did);
    }
    if (passed !== undefined) writePassed(sink, passed);
    if (data !== undefined) writeData(sink, data);
  } catch (thrown) {
    sink.length = start;
    throw thrown;
  }
}

/** The bytes of a transition, and of what was done by it. */
interface Written {
  readonly kind: ActorKind;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly transition: Uint8Array;
  readonly did: Uint8Array;
  /** Both, as they stand where nothing is between them. */
  readonly whole: Uint8Array;
}

/** Bounds of what is kept: names, lists by one name, bytes of one. */
const mostKept = 256;
const mostOfOne = 16;
const longestKept = 256;
const written = new WeakMap<readonly RecordedEffect[], Written[]>();

/** What is known of an entry that was done by a transition taken before. */
function writtenBefore(entry: JournalEntry): Written | undefined {
  const { kind, event, from, to, did } = entry;
  const several = written.get(did);
  if (several === undefined) {
    if (!Object.isFrozen(did) || !did.every((effect) => Object.isFrozen(effect))) return undefined;
    const known = writtenNow(entry);
    if (known.whole.length <= longestKept) written.set(did, [known]);
    return known;
  }
  for (let at = 0; at < several.length; at++) {
    const known = several[at] as Written;
    if (known.event === event && known.from === from && known.to === to && known.kind === kind) return known;
  }
  if (several.length === mostOfOne) return undefined;
  const known = writtenNow(entry);
  if (known.whole.length <= longestKept) several.push(known);
  return known;
}

function writtenNow(entry: JournalEntry): Written {
  const { kind, event, from, to } = entry;
  const transition = bytesOf((sink) => writeTransition(sink, entry));
  const did = bytesOf((sink) => writeEffects(sink, entry.did));
  const whole = new Uint8Array(transition.length + did.length);
  whole.set(transition);
  whole.set(did, transition.length);
  return { kind, event, from, to, transition, did, whole };
}

function bytesOf(write: (sink: ByteSink) => void): Uint8Array {
  const sink = new ByteSink(64);
  write(sink);
  return sink.written.slice();
}

/** Transitions that were written before, by their event; what is done by them may be another thing each time. */
const transitions = new Map<string, Transition[]>();

interface Transition extends Names {
  readonly bytes: Uint8Array;
}

type Names = Pick<JournalEntry, 'kind' | 'event' | 'from' | 'to'>;

function writeTransition(sink: ByteSink, entry: Names): void {
  const { kind, event, from, to } = entry;
  let several = transitions.get(event);
  if (several !== undefined) {
    for (let at = 0; at < several.length; at++) {
      const known = several[at] as Transition;
      if (known.from === from && known.to === to && known.kind === kind) {
        sink.copy(known.bytes);
        return;
      }
    }
  }
  const start = sink.length;
  sink.uint32(recordTags.kind, numberOfKind[kind]);
  sink.text(recordTags.event, event);
  sink.text(recordTags.from, from);
  sink.text(recordTags.to, to);
  if (sink.length - start > longestKept) return;
  if (several === undefined) {
    if (transitions.size === mostKept) return;
    several = [];
    transitions.set(event, several);
  }
  if (several.length < mostOfOne) several.push({ kind, event, from, to, bytes: sink.bytes.slice(start, sink.length) });
}

function writeEffects(sink: ByteSink, did: readonly RecordedEffect[]): void {
  for (let at = 0; at < did.length; at++) writeEffect(sink, did[at] as RecordedEffect);
}

/**
 * The bytes of one record. What is empty (a detail, a payload, a digest) is as if it were absent, and so is a version of 0 of an
 * effect.
 *
 * @throws {InvalidInputError} when a number of it fits in no field
 */
export function encodeRecord(record: JournalRecord): Uint8Array {
  const sink = new ByteSink(256);
  writeRecord(sink, record.seq, record);
  return sink.bytes.slice(0, sink.length);
}

/** Effects of which nothing but the name is said, by it: most are. */
const named = new Map<string, Uint8Array>();

function writeEffect(sink: ByteSink, { effect, detail, digest, payload, version }: RecordedEffect): void {
  const isNamed = detail === undefined && digest === undefined && payload === undefined && version === undefined;
  const known = isNamed ? named.get(effect) : undefined;
  if (known !== undefined) {
    sink.copy(known);
    return;
  }
  const before = sink.length;
  const start = sink.begin(recordTags.did);
  sink.text(effectTags.effect, effect);
  if (detail !== undefined) sink.text(effectTags.detail, detail);
  if (digest !== undefined) sink.text(effectTags.digest, digest);
  if (payload !== undefined) sink.raw(effectTags.payload, payload);
  if (version !== undefined) sink.uint64(effectTags.version, version);
  sink.end(start);
  if (isNamed && named.size < mostKept && sink.length - before <= longestKept) {
    named.set(effect, sink.bytes.slice(before, sink.length));
  }
}

function writePassed(sink: ByteSink, { text, audio }: Passed): void {
  const start = sink.begin(recordTags.passed);
  sink.uint64(passedTags.textTaken, text[0]);
  sink.uint64(passedTags.textDelivered, text[1]);
  sink.uint64(passedTags.audioTaken, audio[0]);
  sink.uint64(passedTags.audioDelivered, audio[1]);
  sink.end(start);
}

function writeData(sink: ByteSink, data: RecordData): void {
  if ('occurrence' in data) writeOccurrence(sink, data.occurrence);
  else if ('folded' in data) writeFolded(sink, data.folded);
  else if ('session' in data) writeSession(sink, data.session);
  else if ('conversation' in data) writeConversation(sink, data.conversation);
  else {
    const start = sink.begin(recordTags.recovery);
    sink.uint32(recoveryTags.machines, data.recovery.machines);
    sink.end(start);
  }
}

function writeSession(sink: ByteSink, session: SessionBegan): void {
  const start = sink.begin(recordTags.session);
  sink.uint32(sessionTags.machines, session.machines);
  sink.text(sessionTags.turnId, session.turnId);
  sink.text(sessionTags.provider, session.provider);
  sink.flag(sessionTags.durable, session.durable);
  sink.uint32(sessionTags.maxConcurrentTools, session.maxConcurrentTools);
  sink.uint32(sessionTags.maxOpenCalls, session.maxOpenCalls);
  sink.flag(sessionTags.dropUnreadAudio, session.dropUnreadAudio);
  if (session.pool !== undefined) sink.text(sessionTags.pool, session.pool);
  if (session.poolPlaces !== undefined) sink.uint32(sessionTags.poolPlaces, session.poolPlaces);
  sink.end(start);
}

function writeOccurrence(sink: ByteSink, occurrence: RecordedOccurrence): void {
  const { type, call, candidate, ids, act, actId, room, unreadAudio, places } = occurrence;
  const start = sink.begin(recordTags.occurrence);
  if (type !== undefined) sink.text(occurrenceTags.type, type);
  if (call !== undefined) sink.text(occurrenceTags.call, call);
  if (candidate !== undefined) writeCandidate(sink, candidate);
  if (ids !== undefined) for (const id of ids) sink.presentText(occurrenceTags.ids, id);
  if (act !== undefined) sink.text(occurrenceTags.act, act);
  if (actId !== undefined) sink.text(occurrenceTags.actId, actId);
  if (room !== undefined) sink.presentUint32(occurrenceTags.room, room);
  if (unreadAudio !== undefined) sink.uint32(occurrenceTags.unreadAudio, unreadAudio);
  if (places !== undefined) sink.presentUint32(occurrenceTags.places, places);
  sink.end(start);
}

function writeCandidate(sink: ByteSink, candidate: RecordedCandidate): void {
  const start = sink.begin(occurrenceTags.candidate);
  sink.text(candidateTags.id, candidate.id);
  sink.text(candidateTags.name, candidate.name);
  sink.text(candidateTags.digest, candidate.digest);
  sink.text(candidateTags.policy, candidate.policy);
  sink.flag(candidateTags.writeStart, candidate.writeStart);
  sink.flag(candidateTags.writePublish, candidate.writePublish);
  sink.text(candidateTags.effect, candidate.effect);
  if (candidate.arguments !== undefined) sink.raw(candidateTags.arguments, candidate.arguments);
  sink.end(start);
}

function writeConversation(sink: ByteSink, conversation: ConversationBegan): void {
  const start = sink.begin(recordTags.conversation);
  sink.uint32(conversationTags.machines, conversation.machines);
  sink.text(conversationTags.mode, conversation.mode);
  for (const [key, value] of Object.entries(conversation.policies)) {
    const entry = sink.begin(conversationTags.policies);
    sink.presentText(policyTags.key, key);
    sink.presentText(policyTags.value, value);
    sink.end(entry);
  }
  sink.uint32(conversationTags.maxDiagnostics, conversation.maxDiagnostics);
  sink.flag(conversationTags.durable, conversation.durable);
  if (conversation.initial !== undefined) sink.raw(conversationTags.initial, conversation.initial);
  sink.end(start);
}

function writeFolded(sink: ByteSink, folded: RecordedFold): void {
  const start = sink.begin(recordTags.folded);
  if (folded.stream !== undefined) sink.uint32(foldedTags.stream, folded.stream);
  sink.uint64(foldedTags.version, folded.version);
  if (folded.level !== undefined) sink.uint32(foldedTags.level, folded.level);
  if (folded.digest !== undefined) sink.text(foldedTags.digest, folded.digest);
  if (folded.input !== undefined) sink.raw(foldedTags.input, folded.input);
  if (folded.message !== undefined) sink.text(foldedTags.message, folded.message);
  sink.end(start);
}
