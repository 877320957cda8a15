/** Server frames of Gemini Live, hand-made. */

export const content = (fields: object) => ({ serverContent: fields });

export const parts = (...list: unknown[]) => content({ modelTurn: { parts: list } });

export const text = (said: string) => parts({ text: said });

export const audio = (data: string, mimeType = 'audio/pcm;rate=24000') => parts({ inlineData: { mimeType, data } });

export const transcript = (said: string) => content({ outputTranscription: { text: said } });

export const thought = (said: string) => parts({ text: said, thought: true });

export const generationComplete = content({ generationComplete: true });

export const interrupted = content({ interrupted: true });

export const turnComplete = content({ turnComplete: true });

export const toolCall = (...ids: string[]) => ({
  toolCall: { functionCalls: ids.map((id) => ({ id, name: 'look', args: { a: 1 } })) },
});

export const cancellation = (...ids: string[]) => ({ toolCallCancellation: { ids } });

export const usage = { usageMetadata: { totalTokenCount: 3 } };
