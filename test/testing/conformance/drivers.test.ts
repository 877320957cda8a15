import { afterAll, describe, it } from 'vitest';
import type { OpenAiRealtimeDialect } from '../../../src/providers/openai-realtime/index.js';
import { type ConformanceOptions, providerConformance } from '../../../src/testing/conformance/index.js';
import { gaps } from './gaps.js';
import { geminiFarSide } from './gemini-far-side.js';
import { openaiFarSide } from './openai-far-side.js';
import { ScriptedFarSide } from './scripted-far-side.js';
import { ConformanceTable } from './table.js';

const table = new ConformanceTable();

function conforms(driver: string, options: ConformanceOptions): void {
  describe(driver, () => {
    for (const one of providerConformance(options).cases) it(`${one.name}: ${one.promise}`, table.watched(driver, one));
  });
}

afterAll(() => {
  if (process.env.COMMITPOINT_TABLE !== undefined) console.log(table.print());
});

conforms('scripted', {
  farSide: (plan) => new ScriptedFarSide(plan),
  gaps: gaps.scripted,
  // what its gap waits for never comes
  patienceMs: 500,
});

for (const service of ['developer', 'vertex'] as const) {
  conforms(`gemini ${service}`, {
    farSide: (plan) => geminiFarSide(plan, service),
    connect: { model: service === 'vertex' ? 'gemini-live-2.5-flash' : 'gemini-2.5-flash-live' },
    gaps: gaps.gemini,
  });
}

for (const dialect of ['openai', 'azure', 'azure-voice-live', 'xai'] as const satisfies OpenAiRealtimeDialect[]) {
  conforms(dialect, {
    farSide: (plan) => openaiFarSide(plan, dialect),
    connect: { model: 'gpt-realtime' },
    gaps: gaps.openai,
  });
}
