/** The same message with its fields in another order, at every level, and with fields of a newer schema among them. */
import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { joined, unknownFields } from '../../src/testing/arbitraries/message-of.js';

interface Piece {
  readonly no: number;
  readonly bytes: Uint8Array;
}

/** Fields of one number keep their order among themselves, since that means something. */
export function reordered(desc: DescMessage, bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const pieces = piecesOf(bytes).map((piece) => inner(desc, piece));
  return fc
    .tuple(fc.tuple(...pieces), fc.option(unknownFields(desc)), fc.array(fc.nat(), { maxLength: 20 }))
    .map(([fields, unknown, order]) => {
      const all: Piece[] = unknown === null ? [...fields] : [...fields, { no: -1, bytes: unknown }];
      order.forEach((value, index) => {
        const at = index % Math.max(1, all.length - 1);
        const [a, b] = [all[at], all[at + 1]];
        if (a === undefined || b === undefined || a.no === b.no || value % 2 === 0) return;
        all[at] = b;
        all[at + 1] = a;
      });
      return joined(...all.map((piece) => piece.bytes));
    });
}

function inner(desc: DescMessage, piece: Piece): fc.Arbitrary<Piece> {
  const message = desc.fields.find(({ number }) => number === piece.no)?.message;
  if (message === undefined) return fc.constant(piece);
  const reader = new BinaryReader(piece.bytes);
  reader.tag();
  return reordered(message, reader.bytes()).map((bytes) => ({
    no: piece.no,
    bytes: new BinaryWriter().tag(piece.no, WireType.LengthDelimited).bytes(bytes).finish(),
  }));
}

function piecesOf(bytes: Uint8Array): Piece[] {
  const reader = new BinaryReader(bytes);
  const pieces: Piece[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [no, type] = reader.tag();
    reader.skip(type, no);
    pieces.push({ no, bytes: bytes.slice(start, reader.pos) });
  }
  return pieces;
}
