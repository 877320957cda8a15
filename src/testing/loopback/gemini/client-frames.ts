import type { Fields, Shape } from './shape.js';

// The messages of a client, field by field, as the service's own JSON knows them.

const message = (fields: Fields): Shape => ({ message: fields });
const list = (shape: Shape): Shape => ({ list: shape });
const empty = message({});

const blob = message({ data: 'base64', mimeType: 'text', displayName: 'text' });

const functionResponse = message({
  id: 'text',
  name: 'text',
  response: 'struct',
  scheduling: ['one of', 'SCHEDULING_UNSPECIFIED', 'SILENT', 'WHEN_IDLE', 'INTERRUPT'],
  willContinue: 'flag',
  parts: list('struct'),
});

const part = message({
  text: 'text',
  thought: 'flag',
  thoughtSignature: 'text',
  inlineData: blob,
  functionCall: message({ id: 'text', name: 'text', args: 'struct' }),
  functionResponse,
});

const content = message({ role: ['one of', 'user', 'model', 'system', 'tool'], parts: list(part) });

const tool = message({
  functionDeclarations: list(
    message({
      name: 'text',
      description: 'text',
      parameters: 'struct',
      parametersJsonSchema: 'any',
      response: 'struct',
      responseJsonSchema: 'any',
      behavior: ['one of', 'UNSPECIFIED', 'BLOCKING', 'NON_BLOCKING'],
    }),
  ),
  googleSearch: 'struct',
  codeExecution: empty,
});

const transcription = message({ languageCodes: list('text') });

const setup = message({
  model: 'text',
  generationConfig: message({
    candidateCount: 'integer',
    maxOutputTokens: 'integer',
    temperature: 'number',
    topP: 'number',
    topK: 'number',
    presencePenalty: 'number',
    frequencyPenalty: 'number',
    seed: 'integer',
    responseModalities: list(['one of', 'TEXT', 'AUDIO', 'IMAGE']),
    speechConfig: message({
      voiceConfig: message({ prebuiltVoiceConfig: message({ voiceName: 'text' }) }),
      languageCode: 'text',
    }),
    mediaResolution: 'text',
    thinkingConfig: message({ includeThoughts: 'flag', thinkingBudget: 'integer', thinkingLevel: 'text' }),
    enableAffectiveDialog: 'flag',
  }),
  systemInstruction: content,
  tools: list(tool),
  realtimeInputConfig: message({
    automaticActivityDetection: message({
      disabled: 'flag',
      startOfSpeechSensitivity: ['one of', 'START_SENSITIVITY_HIGH', 'START_SENSITIVITY_LOW'],
      endOfSpeechSensitivity: ['one of', 'END_SENSITIVITY_HIGH', 'END_SENSITIVITY_LOW'],
      prefixPaddingMs: 'integer',
      silenceDurationMs: 'integer',
    }),
    activityHandling: ['one of', 'START_OF_ACTIVITY_INTERRUPTS', 'NO_INTERRUPTION'],
    turnCoverage: ['one of', 'TURN_INCLUDES_ONLY_ACTIVITY', 'TURN_INCLUDES_ALL_INPUT'],
  }),
  sessionResumption: message({ handle: 'text', transparent: 'flag' }),
  contextWindowCompression: message({ triggerTokens: 'any', slidingWindow: message({ targetTokens: 'any' }) }),
  inputAudioTranscription: transcription,
  outputAudioTranscription: transcription,
  proactivity: message({ proactiveAudio: 'flag' }),
  historyConfig: message({ initialHistoryInClientContent: 'flag' }),
  explicitVadSignal: 'flag',
  labels: 'struct',
});

/** Every message of a client. A frame holds exactly one of them. */
export const clientMessages: Fields = {
  setup,
  clientContent: message({ turns: list(content), turnComplete: 'flag' }),
  realtimeInput: message({
    audio: blob,
    video: blob,
    text: 'text',
    audioStreamEnd: 'flag',
    activityStart: empty,
    activityEnd: empty,
    mediaChunks: list(blob),
  }),
  toolResponse: message({ functionResponses: list(functionResponse) }),
  contextUpdate: message({ systemInstruction: content, tools: message({ tools: list(tool) }) }),
};
