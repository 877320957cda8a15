/** The fields of an `Occurrence` and its `Candidate`; what is promised of them is said in `decoder.ts`. */
import type { RecordedCandidate, RecordedOccurrence } from '../../contract/journal.js';
import type { InterruptionPolicy, ToolEffect } from '../../contract/tool.js';
import type { ByteCursor } from './byte-cursor.js';
import { RecordFault } from './fault.js';
import { candidateTags, occurrenceTags } from './fields.js';
import { type TextTable, text } from './texts.js';

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

const policies: readonly string[] = ['abandon', 'cancel', 'deliver'] satisfies InterruptionPolicy[];
const effects: readonly string[] = ['read', 'idempotent', 'irreversible'] satisfies ToolEffect[];

export function readOccurrence(
  cursor: ByteCursor,
  end: number,
  words: TextTable,
  before: RecordedOccurrence | undefined,
): RecordedOccurrence {
  const occurrence: Writable<RecordedOccurrence> = { ...before };
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    switch (tag) {
      case occurrenceTags.type:
        occurrence.type = text(cursor, end, words);
        break;
      case occurrenceTags.call:
        occurrence.call = text(cursor, end);
        break;
      case occurrenceTags.candidate:
        occurrence.candidate = readCandidate(cursor, cursor.delimited(end), words, occurrence.candidate);
        break;
      case occurrenceTags.ids:
        occurrence.ids = [...(occurrence.ids ?? []), text(cursor, end)];
        break;
      case occurrenceTags.act:
        occurrence.act = text(cursor, end, words);
        break;
      case occurrenceTags.actId:
        occurrence.actId = text(cursor, end);
        break;
      case occurrenceTags.room:
        occurrence.room = cursor.uint32(end);
        break;
      case occurrenceTags.unreadAudio:
        occurrence.unreadAudio = cursor.uint32(end);
        break;
      case occurrenceTags.places:
        occurrence.places = cursor.uint32(end);
        break;
      default:
        cursor.skip(tag, end);
    }
  }
  if (occurrence.type === '') delete occurrence.type;
  if (occurrence.call === '') delete occurrence.call;
  if (occurrence.act === '') delete occurrence.act;
  if (occurrence.actId === '') delete occurrence.actId;
  if (occurrence.unreadAudio === 0) delete occurrence.unreadAudio;
  return occurrence;
}

function readCandidate(
  cursor: ByteCursor,
  end: number,
  words: TextTable,
  before: RecordedCandidate | undefined,
): RecordedCandidate {
  const start = cursor.at;
  let id = before?.id ?? '';
  let name = before?.name ?? '';
  let digest = before?.digest ?? '';
  let policy: string = before?.policy ?? '';
  let writeStart = before?.writeStart ?? false;
  let writePublish = before?.writePublish ?? false;
  let effect: string = before?.effect ?? '';
  let args = before?.arguments;
  while (cursor.at < end) {
    const tag = cursor.uint32(end);
    switch (tag) {
      case candidateTags.id:
        id = text(cursor, end);
        break;
      case candidateTags.name:
        name = text(cursor, end, words);
        break;
      case candidateTags.digest:
        digest = text(cursor, end);
        break;
      case candidateTags.policy:
        policy = text(cursor, end, words);
        break;
      case candidateTags.writeStart:
        writeStart = cursor.flag(end);
        break;
      case candidateTags.writePublish:
        writePublish = cursor.flag(end);
        break;
      case candidateTags.effect:
        effect = text(cursor, end, words);
        break;
      case candidateTags.arguments:
        args = cursor.copy(cursor.delimited(end));
        break;
      default:
        cursor.skip(tag, end);
    }
  }
  if (!policies.includes(policy)) throw notOneOf(policies, policy, start);
  if (!effects.includes(effect)) throw notOneOf(effects, effect, start);
  const candidate: Writable<RecordedCandidate> = {
    id,
    name,
    digest,
    policy: policy as InterruptionPolicy,
    writeStart,
    writePublish,
    effect: effect as ToolEffect,
  };
  if (args !== undefined && args.length > 0) candidate.arguments = args;
  return candidate;
}

function notOneOf(expected: readonly string[], found: string, at: number): RecordFault {
  return new RecordFault(`expected one of ${expected.join(', ')} in a candidate, found ${JSON.stringify(found)}`, at);
}
