/**
 * Response streams as bytes: server-sent events, length-delimited protobuf, and lines of proto3 JSON. Decoders take bytes however
 * they are cut, and nothing but what the format says; encoders give what the decoders take.
 */
export { decodeBinary } from './binary.js';
export type { ByteSource, ByteStream, ByteStreamReader } from './byte-source.js';
export { encodeBinary, encodeJsonLine, encodeSse } from './encode.js';
export { decodeJsonLine, decodeJsonLines } from './json-lines.js';
export type { DecodeOptions } from './options.js';
export { decodeSse } from './sse.js';
