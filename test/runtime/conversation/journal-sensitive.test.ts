/** Nothing that is marked sensitive is in the bytes of a journal, under any policy, and what is kept still folds as it did. */
import { create, type DescField, type DescMessage, fromBinary, getOption, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { fileDescriptors, type ResponseEvent, ResponseEventSchema, sensitive } from '../../../proto/index.js';
import type { JournalRecord, PayloadPolicy, RecordedFold } from '../../../src/contract/journal.js';
import { createFold, foldJournal } from '../../../src/conversation/index.js';
import { createConversation } from '../../../src/index.js';
import { encodeRecord, memoryJournal } from '../../../src/journal/index.js';
import { actions, add, append, done, init, said, task } from '../../conversation/events.js';
import { messagesOf } from '../../proto/descriptor-rows.js';

const secret = 'xSECRETx';

/** Fields that lead from a response event to something that is marked, or that stands below it. */
interface Way {
  readonly fields: readonly DescField[];
  /** The field that is marked. */
  readonly marked: DescField;
}

function* waysFrom(desc: DescMessage, before: readonly DescField[], marked: DescField | undefined): Iterable<Way> {
  for (const field of desc.fields) {
    const fields = [...before, field];
    const mark = getOption(field, sensitive) ? field : marked;
    const isLeaf =
      ('scalar' in field && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES)) ||
      field.fieldKind === 'map' ||
      field.message?.typeName === 'google.protobuf.Struct';
    if (isLeaf && mark !== undefined) yield { fields, marked: mark };
    if (field.message?.typeName === 'google.protobuf.Struct') continue;
    if (field.message !== undefined && !before.some(({ parent }) => parent === field.message)) {
      yield* waysFrom(field.message, fields, mark);
    }
  }
}

/** A message in which this way, and nothing else, leads to the secret. */
function messageAlong(desc: DescMessage, [field, ...rest]: readonly DescField[]): object {
  const message = create(desc) as unknown as Record<string, unknown>;
  if (field === undefined) return message;
  const inner = (): unknown => {
    if (rest.length > 0) return messageAlong(field.message as DescMessage, rest);
    if (field.message?.typeName === 'google.protobuf.Struct') return { [secret]: { [secret]: [secret] } };
    const isBytes = 'scalar' in field && field.scalar === ScalarType.BYTES;
    return isBytes ? new TextEncoder().encode(secret) : secret;
  };
  const mapped = () => ({ [secret]: rest.length > 0 || field.message === undefined ? inner() : create(field.message) });
  const value = field.fieldKind === 'list' ? [inner(), inner()] : field.fieldKind === 'map' ? mapped() : inner();
  if (field.oneof === undefined) message[field.localName] = value;
  else message[field.oneof.localName] = { case: field.localName, value };
  return message;
}

/** Whatever is looked up by an id, is there. */
function withIds(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  const message = value as Record<string, unknown>;
  if (message['$typeName'] === 'warp.multi_agent.v1.Message') message['id'] = 'm';
  if (message['$typeName'] === 'warp.multi_agent.v1.Task') message['id'] = 's';
  if ('taskId' in message) message['taskId'] = 't';
  for (const inner of Object.values(message)) withIds(inner);
}

const ways = [...waysFrom(ResponseEventSchema, [], undefined)];
const nameOf = (way: Way) => way.fields.map(({ name }) => name).join('.');

function bytesOf(records: readonly JournalRecord[]): string {
  return records.map((record) => Buffer.from(encodeRecord(record)).toString('latin1')).join('\n');
}

const policies: PayloadPolicy[] = ['keep', 'hash', 'omit'];

describe('what is marked sensitive', () => {
  it('is led to by many ways, by every mark of the schema that an event can hold', () => {
    const marks = fileDescriptors
      .flatMap(messagesOf)
      .flatMap(({ fields }) => fields)
      .filter((field) => getOption(field, sensitive));
    const led = new Set(ways.map(({ marked }) => marked));
    expect(marks.filter((field) => !led.has(field)).map((field) => `${field.parent.typeName}.${field.name}`)).toEqual(
      [],
    );
    expect(ways.length).toBeGreaterThan(marks.length);
  });

  it.each(policies)('%s: is in no record, by none of the ways', (payloads) => {
    const leaking: string[] = [];
    for (const way of ways) {
      const event = messageAlong(ResponseEventSchema, way.fields) as ResponseEvent;
      withIds(event);
      const journal = memoryJournal({ payloads });
      const conversation = createConversation({ journal });
      conversation.apply(init());
      conversation.apply(actions(task('t')));
      conversation.apply(event);
      expect(journal.records.length, nameOf(way)).toBe(4);
      if (bytesOf(journal.records).includes(secret)) leaking.push(nameOf(way));
    }
    expect(leaking).toEqual([]);
  });

  it('is not in what a life that goes on begins with, even if the host hands it in', () => {
    const inputs = [
      init(),
      actions(task('t'), add('t', { id: 'm', userQuery: { query: secret } }), add('t', said('a', 'shown'))),
    ];
    const first = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal: first, id: 'c' });
    for (const input of inputs) conversation.apply(input);
    const recovered = foldJournal('c', first.records);
    const fold = createFold();
    const state = inputs.reduce((before, input) => fold.take(before, input).state, fold.initial);
    const journal = memoryJournal({ payloads: 'keep' });
    createConversation({ journal, from: { ...recovered, state } });
    const bytes = bytesOf(journal.records);
    expect(bytes).toContain('shown');
    expect(bytes).not.toContain(secret);
  });

  it('may be in what a newer server sends: unknown fields are kept by their numbers alone', () => {
    const extra = (no: number) =>
      new BinaryWriter()
        .tag(no, WireType.LengthDelimited)
        .string(secret)
        .tag(no + 1, WireType.Varint)
        .uint32(7)
        .tag(no + 2, WireType.Bit32)
        .fixed32(7)
        .tag(no + 3, WireType.Bit64)
        .fixed64(7)
        .tag(no + 4, WireType.StartGroup)
        .tag(1, WireType.LengthDelimited)
        .string(secret)
        .tag(no + 4, WireType.EndGroup);
    const newer = [
      fromBinary(ResponseEventSchema, extra(900).finish()),
      // an action without a case that it knows
      fromBinary(
        ResponseEventSchema,
        new BinaryWriter()
          .tag(2, WireType.LengthDelimited)
          .bytes(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(extra(900).finish()).finish())
          .finish(),
      ),
    ];
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal, id: 'c' });
    conversation.apply(init());
    for (const event of newer) conversation.apply(event);
    expect(bytesOf(journal.records)).not.toContain(secret);
    const codes = ['unknown_event', 'unknown_action'];
    expect(conversation.state.diagnostics.map(({ code }) => code)).toEqual(codes);
    const { state } = foldJournal('c', journal.records);
    expect(state?.conversation.diagnostics.map(({ code, detail }) => [code, detail])).toEqual(
      conversation.state.diagnostics.map(({ code, detail }) => [code, detail]),
    );
    expect(state?.conversation.diverged).toBe(true);
  });
});

describe('what is left of an event', () => {
  const query = (text: string) => add('t', { id: 'm', userQuery: { query: text } });

  it('does to a conversation what it did: texts stay texts, and empty ones empty', () => {
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal, id: 'c' });
    conversation.apply(init());
    conversation.apply(
      actions(task('t'), query(''), append('t', { id: 'm', userQuery: { query: 'x' } }, 'userQuery.query')),
    );
    // an append that makes the member that it goes to
    conversation.apply(
      actions(add('t', { id: 'n' }), append('t', { id: 'n', userQuery: { query: 'x' } }, 'userQuery.query')),
    );
    conversation.apply(
      actions(add('t', { id: 'o' }), append('t', { id: 'o', userQuery: { query: '' } }, 'userQuery.query')),
    );
    const { state } = foldJournal('c', journal.records);
    const messages = state?.conversation.tasks.get('t')?.messages.toArray() ?? [];
    expect(
      messages.map(({ message }) => [message.case, (message.value as { query: string } | undefined)?.query]),
    ).toEqual([
      ['userQuery', '[redacted]'],
      ['userQuery', '[redacted]'],
      [undefined, undefined],
    ]);
  });

  it('folds to no state where what is gone has decided', () => {
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal, id: 'c' });
    conversation.apply(init());
    const other = (text: string) => task('t', undefined, { messages: [{ id: 'm', userQuery: { query: text } }] });
    conversation.apply(actions(other('one'), other('one')));
    expect(foldJournal('c', journal.records).state).toBeDefined();
    conversation.apply(actions(other('two')));
    expect(conversation.state.diagnostics.map(({ code }) => code)).toEqual(['duplicate_task']);
    const recovered = foldJournal('c', journal.records);
    expect(recovered.state).toBeUndefined();
    expect(recovered.position).toBe(3);
  });

  it('without anything sensitive is the very event', () => {
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal, id: 'c' });
    const inputs = [init(), actions(task('t'), add('t', said('a', 'x'))), actions(append('t', said('a', 'y'))), done];
    for (const input of inputs) conversation.apply(input);
    const kept = journal.records
      .slice(1)
      .map(({ data }) =>
        fromBinary(ResponseEventSchema, (data as { folded: RecordedFold }).folded.input as Uint8Array),
      );
    expect(kept).toEqual(inputs);
  });
});
