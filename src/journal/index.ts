export * from './memory-journal.js';
