export * from './levels.js';
export * from './transaction.events.js';
export * from './transaction.machine.js';
export * from './transaction.stepper.js';
