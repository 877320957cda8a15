export * from './codec/index.js';
export * from './compaction.js';
export * from './digest.js';
export * from './memory-journal.js';
