export * from './decode-record.js';
export { encodeRecord } from './encoder.js';
