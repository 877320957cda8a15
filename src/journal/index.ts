export * from './codec/index.js';
export * from './compaction.js';
export * from './digest.js';
export * from './json-lines.js';
export * from './memory-journal.js';
export * from './payload.js';
