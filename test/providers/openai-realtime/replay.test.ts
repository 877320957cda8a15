import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../../src/contract/provider.js';
import {
  type OpenAiRealtimeDialect,
  openaiRealtime,
  openaiRealtimeMapping,
} from '../../../src/providers/openai-realtime/index.js';
import { type ReplayOptions, replayLoopback } from '../../../src/testing/loopback/replay.js';
import { haveRecordings, recordingsOf } from '../recordings.js';
import { feed } from '../steps.js';

// Every recording over a socket, against the same recording without one.

function dialectOf(name: string): OpenAiRealtimeDialect {
  if (name.startsWith('dialect-xai')) return 'xai';
  return name.startsWith('dialect-azure-voice-live') ? 'azure-voice-live' : 'openai';
}

const ways: [string, ReplayOptions][] = [
  ['all at once', {}],
  ['in fragments', { prepare: (connection) => connection.fragment(3) }],
  ['in writes of seven bytes', { prepare: (connection) => connection.splitWrites(7) }],
  ['as binary messages', { prepare: (connection) => connection.sendBinary() }],
];

describe.runIf(haveRecordings)('recordings over a socket', () => {
  const recordings = recordingsOf('openai', 'recorded');
  const cases = recordings.flatMap((recording) => ways.map(([way, options]) => ({ ...recording, way, options })));

  it('are there', () => expect(recordings.length).toBeGreaterThan(0));

  it.each(cases)('$name, $way: the events of the mapping', async ({ name, frames, server, options }) => {
    const dialect = dialectOf(name);
    const expected: BidiEvent[] = [
      ...feed(openaiRealtimeMapping({ dialect }), server).events,
      { type: 'closed', reason: 'close code 1000' },
    ];
    await using loopback = await replayLoopback(frames, options);
    const provider = openaiRealtime({ apiKey: 'sk-of-no-use', baseUrl: `ws://${loopback.host}`, dialect });
    const session = await provider.connect({ model: 'recorded' });
    const events: BidiEvent[] = [];
    const answers: Promise<unknown>[] = [];
    for await (const event of session.events()) {
      events.push(event);
      // As a session would; whether it comes before or after the recorded acknowledgement is up to the sockets.
      if (event.type === 'tool_call')
        answers.push(session.sendToolResult(event.id, 'x').catch((error: unknown) => error));
    }
    await Promise.all(answers);
    expect(events).toEqual(expected);
    await session.close();
  });
});
