export * from './bridge/index.js';
