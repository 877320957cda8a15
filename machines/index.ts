export * from './response-stream/index.js';
export * from './session/index.js';
export * from './stepping.js';
export * from './supervisor/index.js';
export * from './tool-invocation/index.js';
export * from './transaction/index.js';
export * from './versions.js';
