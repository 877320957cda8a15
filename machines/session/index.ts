export * from './composition.js';
export * from './coordination.js';
export * from './moves.js';
export * from './session.events.js';
export * from './session.machine.js';
export * from './session.stepper.js';
