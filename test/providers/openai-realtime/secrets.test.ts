import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import { Secrets } from '../../../src/providers/openai-realtime/secrets.js';
import { connected, key } from './far.js';

// A key is in nothing that a host could print.

it('a driver and a session show no key, however deep one looks', async () => {
  const { session, fake } = await connected();
  const provider = openaiRealtime({ apiKey: key, baseUrl: fake.baseUrl });
  for (const thing of [provider, session, session.events(), Object.entries(provider)]) {
    expect(inspect(thing, { depth: 20, showHidden: true })).not.toContain(key);
    expect(JSON.stringify(thing) ?? '').not.toContain(key);
  }
});

it.each([
  ['sk-a+b/c=', 'https://x?k=sk-a%2Bb%2Fc%3D sk-a+b/c= sk-a%2Bb/c='],
  ['sk-plain', 'Incorrect API key provided: sk-plain.'],
])('%s is hidden in every shape that a URL gives it', (secret, text) => {
  const hidden = new Secrets([secret]).hide(text);
  expect(hidden).toContain('[key]');
  for (const shape of [secret, encodeURIComponent(secret)]) expect(hidden).not.toContain(shape);
});
