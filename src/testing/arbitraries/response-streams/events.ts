/** Events of every kind. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { type ResponseEvent, ResponseEventSchema } from '../../../../proto/index.js';
import { type ActionInit, actions } from './actions.js';
import { newer } from './messages.js';
import { text } from './words.js';

const conversationId = fc.oneof(
  { weight: 12, arbitrary: fc.constant('c') },
  fc.constantFrom('c#2', 'c#3', 'd', 'e', ''),
);
const requestId = fc.oneof({ weight: 4, arbitrary: fc.constant('r') }, fc.constantFrom('r2', 'r3', ''));
const usage = fc.array(fc.record({ modelId: text, totalInput: fc.nat(100), output: fc.nat(100) }), { maxLength: 2 });
const reason = fc.constantFrom(
  undefined,
  'done',
  'done',
  'done',
  'other',
  'maxTokenLimit',
  'quotaLimit',
  'contextWindowExceeded',
  'llmUnavailable',
  'internalError',
);

/** An event as it may be written. */
export type EventInit = MessageInitShape<typeof ResponseEventSchema>;

/** An init, of this conversation and this request, mostly. */
export const init = fc
  .record({ conversationId, requestId })
  .map((value): EventInit => ({ type: { case: 'init', value } }));
/** A finish, for any reason or none. */
export const finished = fc.tuple(reason, usage, fc.constantFrom(undefined, 0.25, 2.5)).map(
  ([name, tokenUsage, exact]): EventInit => ({
    type: {
      case: 'finished',
      value: {
        tokenUsage,
        ...(exact && { requestCost: { exact } }),
        ...(name && { reason: { case: name, value: name === 'internalError' ? { message: 'x' } : {} } as never }),
      },
    },
  }),
);

/** Made of bytes, so that every event is one that can come. */
export function received(given: EventInit): ResponseEvent {
  return fromBinary(ResponseEventSchema, toBinary(ResponseEventSchema, create(ResponseEventSchema, given)));
}

/** An event of up to four actions. @param plain only what JSON can say */
export const actionEvent = (plain: boolean): fc.Arbitrary<EventInit> =>
  fc
    .array(actions(plain), { maxLength: 4 })
    .map((list): EventInit => ({ type: { case: 'clientActions', value: { actions: list } } }));

/** An event. @param plain only what JSON can say */
export function responseEvents(plain = false): fc.Arbitrary<ResponseEvent> {
  return fc
    .oneof(
      { weight: 26, arbitrary: actionEvent(plain) },
      { weight: 2, arbitrary: init },
      { weight: 2, arbitrary: finished },
      { weight: 1, arbitrary: fc.constant<EventInit>({}) },
      ...(plain
        ? []
        : [
            {
              weight: 1,
              arbitrary: finished.map((event) => {
                const value = event.type?.case === 'finished' ? event.type.value : {};
                return { type: { case: 'finished', value: newerFinish(value) } } as EventInit;
              }),
            },
            { weight: 1, arbitrary: fc.constant(newer(ResponseEventSchema, {}, 9)) },
          ]),
    )
    .map(received);
}

function newerFinish(value: object) {
  const extra = new BinaryWriter().tag(99, WireType.LengthDelimited).bytes(new Uint8Array()).finish();
  const event = toBinary(ResponseEventSchema, create(ResponseEventSchema, { type: { case: 'finished', value } }));
  const { type } = fromBinary(ResponseEventSchema, event);
  if (type.case !== 'finished') return value;
  type.value.$unknown = [{ no: 99, wireType: WireType.LengthDelimited, data: extra.subarray(2) }];
  return type.value;
}

/** An event of these actions. */
export function acted(...actions: ActionInit[]): ResponseEvent {
  return received({ type: { case: 'clientActions', value: { actions: actions.map((action) => ({ action })) } } });
}
