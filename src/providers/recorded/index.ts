export { recordedOutputs, recordedTools } from './client-frames.js';
export { type RecordedProviderOptions, recordedProvider } from './recorded-provider.js';
export { parseRecording, type RecordedClose, type RecordedFrame } from './recording.js';
