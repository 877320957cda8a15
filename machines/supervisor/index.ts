export * from './restart.js';
export * from './supervisor.events.js';
export * from './supervisor.machine.js';
export * from './supervisor.stepper.js';
