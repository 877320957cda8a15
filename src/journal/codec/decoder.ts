/**
 * From the bytes of `commitpoint.journal.v1.Record` to a record, written by
 * hand: a journal of millions of records is read for a verdict (P12).
 *
 * Invariants kept here:
 *
 * D1. What the generated code writes is read to the same record, in any order of
 *     fields; a message that comes twice is merged, as protobuf has it.
 * D2. Bytes that hold no record are a {@link RecordFault}, and nothing else is
 *     thrown: a kind, a policy or an effect of a tool that is none, no `seq`, a
 *     number that cannot be held.
 * D3. What is empty in the bytes is absent in the record, where the record can
 *     do without it.
 * D4. The bytes are not kept. Texts, and lists of effects without a payload, are
 *     shared among records; they are frozen.
 */
import type { JournalRecord, Passed, RecordData, RecordedEffect, RecordedFold } from '../../contract/journal.js';
import { ByteCursor } from './byte-cursor.js';
import { readConversation } from './conversation-fields.js';
import { RecordFault } from './fault.js';
import { effectTags, foldedTags, kinds, passedTags, recordTags } from './fields.js';
import { readOccurrence } from './occurrence-fields.js';
import { readRecovery, readSession } from './session-fields.js';
import { mixed, TextTable, text } from './texts.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const nothingDone: readonly RecordedEffect[] = Object.freeze([]);
const longestKeptList = 256;
const placesForLists = 1024;

interface KeptList {
  readonly bytes: Uint8Array;
  readonly did: readonly RecordedEffect[];
}

/** Reads records one after another; it keeps the texts that come again, up to a bound. */
export class RecordDecoder {
  readonly #cursor = new ByteCursor();
  readonly #actors = new TextTable(4096);
  readonly #words = new TextTable(1024);
  readonly #lists: (KeptList | undefined)[] = new Array<undefined>(placesForLists).fill(undefined);

  /**
   * The record in `bytes` from `start` to `end`.
   *
   * @throws {RecordFault} when there is none
   */
  read(bytes: Uint8Array, start: number, end: number): JournalRecord {
    const cursor = this.#cursor;
    cursor.open(bytes, start);
    let seq = 0;
    let at = 0;
    let actor = '';
    let kindNumber = 0;
    let event = '';
    let from = '';
    let to = '';
    let cause = 0;
    let did = nothingDone;
    let passed: Passed | undefined;
    let data: RecordData | undefined;
    while (cursor.at < end) {
      const tag = cursor.uint32(end);
      switch (tag) {
        case recordTags.seq:
          seq = cursor.uint64(end);
          break;
        case recordTags.at:
          at = cursor.double(end);
          break;
        case recordTags.actor:
          actor = text(cursor, end, this.#actors);
          break;
        case recordTags.kind:
          kindNumber = cursor.uint64(end);
          break;
        case recordTags.event:
          event = text(cursor, end, this.#words);
          break;
        case recordTags.from:
          from = text(cursor, end, this.#words);
          break;
        case recordTags.to:
          to = text(cursor, end, this.#words);
          break;
        case recordTags.cause:
          cause = cursor.uint64(end);
          break;
        case recordTags.did:
          did = this.#effects(did, end);
          break;
        case recordTags.passed:
          passed = this.#passed(cursor.delimited(end), passed);
          break;
        case recordTags.session:
          data = { session: readSession(cursor, cursor.delimited(end), this.#words, dataOf(data, 'session')) };
          break;
        case recordTags.occurrence:
          data = { occurrence: readOccurrence(cursor, cursor.delimited(end), this.#words, dataOf(data, 'occurrence')) };
          break;
        case recordTags.conversation:
          data = { conversation: readConversation(cursor, cursor.delimited(end), dataOf(data, 'conversation')) };
          break;
        case recordTags.folded:
          data = { folded: this.#folded(cursor.delimited(end), dataOf(data, 'folded')) };
          break;
        case recordTags.recovery:
          data = { recovery: readRecovery(cursor, cursor.delimited(end), dataOf(data, 'recovery')) };
          break;
        default:
          cursor.skip(tag, end);
      }
    }
    const kind = kinds[kindNumber];
    if (kind === undefined)
      throw new RecordFault(`expected the kind of an actor, found the number ${kindNumber}`, start);
    if (seq === 0) throw new RecordFault('expected a record with a seq from 1, found none', start);
    const record: Writable<JournalRecord> = { seq, at, actor, kind, event, from, to, cause, did };
    if (passed !== undefined) record.passed = passed;
    if (data !== undefined) record.data = data;
    return record;
  }

  /** Lets go of the bytes that were read last. */
  release(): void {
    this.#cursor.close();
  }

  /** This effect, whose tag was read, and those that follow on it. */
  #effects(before: readonly RecordedEffect[], end: number): readonly RecordedEffect[] {
    const cursor = this.#cursor;
    const { bytes, at: start } = cursor;
    let listEnd = cursor.delimited(end);
    cursor.at = listEnd;
    while (listEnd < end && bytes[listEnd] === recordTags.did) {
      cursor.at = listEnd + 1;
      listEnd = cursor.delimited(end);
      cursor.at = listEnd;
    }
    const mayKeep = before === nothingDone && listEnd - start <= longestKeptList;
    const place = mayKeep ? mixed(bytes, start, listEnd) % placesForLists : 0;
    if (mayKeep) {
      const kept = this.#lists[place];
      if (kept !== undefined && isSame(kept.bytes, bytes, start, listEnd)) return kept.did;
    }
    cursor.at = start;
    const did: RecordedEffect[] = [...before];
    let isPlain = true;
    do {
      const effect = this.#effect(cursor.delimited(listEnd));
      if (effect.digest !== undefined || effect.payload !== undefined || effect.version !== undefined) isPlain = false;
      did.push(effect);
      // the tag of the next one, which was seen above
    } while (cursor.at++ < listEnd);
    cursor.at = listEnd;
    if (mayKeep && isPlain) this.#lists[place] = { bytes: bytes.slice(start, listEnd), did: Object.freeze(did) };
    return did;
  }

  #effect(end: number): RecordedEffect {
    const cursor = this.#cursor;
    const effect: Writable<RecordedEffect> = { effect: '' };
    while (cursor.at < end) {
      const tag = cursor.uint32(end);
      switch (tag) {
        case effectTags.effect:
          effect.effect = text(cursor, end, this.#words);
          break;
        case effectTags.detail:
          effect.detail = text(cursor, end, this.#words);
          break;
        case effectTags.digest:
          effect.digest = text(cursor, end);
          break;
        case effectTags.payload:
          effect.payload = cursor.copy(cursor.delimited(end));
          break;
        case effectTags.version:
          effect.version = cursor.uint64(end);
          break;
        default:
          cursor.skip(tag, end);
      }
    }
    if (effect.detail === '') delete effect.detail;
    if (effect.digest === '') delete effect.digest;
    if (effect.payload?.length === 0) delete effect.payload;
    if (effect.version === 0) delete effect.version;
    return effect;
  }

  #passed(end: number, before: Passed | undefined): Passed {
    const cursor = this.#cursor;
    let [textTaken, textDelivered] = before?.text ?? [0, 0];
    let [audioTaken, audioDelivered] = before?.audio ?? [0, 0];
    while (cursor.at < end) {
      const tag = cursor.uint32(end);
      switch (tag) {
        case passedTags.textTaken:
          textTaken = cursor.uint64(end);
          break;
        case passedTags.textDelivered:
          textDelivered = cursor.uint64(end);
          break;
        case passedTags.audioTaken:
          audioTaken = cursor.uint64(end);
          break;
        case passedTags.audioDelivered:
          audioDelivered = cursor.uint64(end);
          break;
        default:
          cursor.skip(tag, end);
      }
    }
    return { text: [textTaken, textDelivered], audio: [audioTaken, audioDelivered] };
  }

  #folded(end: number, before: RecordedFold | undefined): RecordedFold {
    const cursor = this.#cursor;
    const folded: Writable<RecordedFold> = before === undefined ? { version: 0 } : { ...before };
    while (cursor.at < end) {
      const tag = cursor.uint32(end);
      switch (tag) {
        case foldedTags.stream:
          folded.stream = cursor.uint32(end);
          break;
        case foldedTags.version:
          folded.version = cursor.uint64(end);
          break;
        case foldedTags.level:
          folded.level = cursor.uint32(end);
          break;
        case foldedTags.digest:
          folded.digest = text(cursor, end);
          break;
        case foldedTags.input:
          folded.input = cursor.copy(cursor.delimited(end));
          break;
        case foldedTags.message:
          folded.message = text(cursor, end);
          break;
        default:
          cursor.skip(tag, end);
      }
    }
    if (folded.stream === 0) delete folded.stream;
    if (folded.level === 0) delete folded.level;
    if (folded.digest === '') delete folded.digest;
    if (folded.input?.length === 0) delete folded.input;
    if (folded.message === '') delete folded.message;
    return folded;
  }
}

type Members = { readonly [Data in RecordData as keyof Data]: Data[keyof Data] };

/** The member that was read before, where it is this one: another one that comes later stands alone. */
function dataOf<Name extends keyof Members>(data: RecordData | undefined, name: Name): Members[Name] | undefined {
  return data === undefined ? undefined : (data as Partial<Members>)[name];
}

function isSame(kept: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (kept.length !== end - start) return false;
  for (let i = 0; i < kept.length; i++) if (kept[i] !== bytes[start + i]) return false;
  return true;
}
