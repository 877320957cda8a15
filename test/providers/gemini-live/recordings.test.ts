import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../../src/contract/provider.js';
import { geminiLive, geminiLiveMapping } from '../../../src/providers/gemini-live/index.js';
import { haveRecordings, type Json, type Recording, recordingsOf } from '../recordings.js';
import { against, Reading, server, tool } from './live.js';

/** Declared, called, or not at all: the names of a recording's tools. */
function toolsOf({ frames }: Recording): string[] {
  const names = JSON.stringify(frames).matchAll(/"name":"(\w+)"/g);
  return [...new Set([...names].map(([, name = '']) => name))];
}

/** Events of the frames of the server before each message of the client, and of all of them. */
function withoutSocket({ frames }: Recording): { before: number[]; events: BidiEvent[] } {
  const mapping = geminiLiveMapping();
  const events: BidiEvent[] = [];
  const before: number[] = [];
  for (const frame of frames) {
    if ('close' in frame) continue;
    if (frame.dir === 'c2s') before.push(events.length);
    else events.push(...mapping.frame(frame.data).events);
  }
  events.push(...mapping.release().events);
  return { before, events };
}

describe.runIf(haveRecordings)('a recording gives over the socket the same events as without', () => {
  it('for every recording there is', () => expect(recordingsOf('gemini', 'recorded').length).toBeGreaterThan(4));

  describe.each([
    ['whole messages', 1],
    ['messages in five fragments', 5],
  ])('%s', (_, pieces) => {
    it.each(recordingsOf('gemini', 'recorded'))('$name', async (recording) => {
      const { before, events } = withoutSocket(recording);
      const far = await server({
        recording: recording.frames,
        connected: ({ connection }) => connection.fragment(pieces),
      });
      const tools = toolsOf(recording).map(tool);
      const session = await geminiLive(against(far)).connect({ model: 'gemini-2.5-flash-live', tools });
      const reading = new Reading(session);
      const results: Promise<unknown>[] = [];
      const said = recording.frames.filter((frame) => frame.dir === 'c2s' && 'data' in frame).slice(1);
      for (const [index, frame] of said.entries()) {
        await reading.reaches(before[index + 1] ?? 0);
        const data: Json = 'data' in frame ? frame.data : {};
        const answer = data.toolResponse ?? data.tool_response;
        const content = data.clientContent ?? data.client_content;
        const audio = (data.realtimeInput ?? data.realtime_input)?.audio;
        if (answer) {
          for (const { id, response } of answer.functionResponses) {
            results.push(session.sendToolResult(id, String(response.output)));
          }
        } else if (content) await session.send({ type: 'text', text: content.turns[0].parts[0].text });
        else await session.send({ type: 'audio', data: audio.data, mediaType: audio.mimeType ?? audio.mime_type });
      }
      await reading.done;
      expect(reading.events).toEqual([...events, { type: 'closed', reason: 'close code 1000' }]);
      await Promise.allSettled(results);
      // What the model said after a result is what shows that it had it.
      const answered = recording.name.startsWith('text-tool-round');
      if (answered) await expect(Promise.all(results)).resolves.toHaveLength(1);
      expect(far.violations).toEqual([]);
    });
  });
});
