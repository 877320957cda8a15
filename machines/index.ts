export * from './session/index.js';
export * from './stepping.js';
export * from './tool-invocation/index.js';
