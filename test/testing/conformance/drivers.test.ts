import { describe, it } from 'vitest';
import type { OpenAiRealtimeDialect } from '../../../src/providers/openai-realtime/index.js';
import { providerConformance } from '../../../src/testing/conformance/index.js';
import { gaps } from './gaps.js';
import { geminiFarSide } from './gemini-far-side.js';
import { openaiFarSide } from './openai-far-side.js';
import { ScriptedFarSide } from './scripted-far-side.js';

const runner = { describe, it };

providerConformance({ farSide: (plan) => new ScriptedFarSide(plan), gaps: gaps.scripted }).register('scripted', runner);

for (const service of ['developer', 'vertex'] as const) {
  providerConformance({
    farSide: (plan) => geminiFarSide(plan, service),
    connect: { model: service === 'vertex' ? 'gemini-live-2.5-flash' : 'gemini-2.5-flash-live' },
    gaps: gaps.gemini,
  }).register(`Gemini Live, ${service}`, runner);
}

for (const dialect of ['openai', 'azure', 'azure-voice-live', 'xai'] as const satisfies OpenAiRealtimeDialect[]) {
  providerConformance({
    farSide: (plan) => openaiFarSide(plan, dialect),
    connect: { model: 'gpt-realtime' },
    gaps: gaps.openai,
  }).register(`OpenAI Realtime, dialect ${dialect}`, runner);
}
