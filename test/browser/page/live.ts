/** A page with a session of each driver. The test asks for them by name, and reads what they did. */
import { type BidiProvider, defineTool, startSession } from '../../../src/index.js';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { openaiRealtime } from '../../../src/providers/openai-realtime/index.js';

/** What a session did. */
export interface LiveRun {
  /** Types of the events, one after another; those of audio and text that follow each other once. */
  readonly events: string[];
  /** All that the model said, in words; and how much of its audio came, in characters. */
  readonly said: string;
  readonly audio: number;
  readonly ended: { readonly reason: string; readonly calls: unknown };
}

/** What is tried: a key of the host's own server for each connection, a call, an interruption, another word, the end. */
async function live(provider: BidiProvider): Promise<LiveRun> {
  const session = await startSession({
    provider,
    connect: { model: 'any-model' },
    tools: [
      defineTool({
        name: 'lookup',
        description: 'Look a word up.',
        input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        effect: 'read',
        execute: ({ word }) => `${word}: a light at night`,
      }),
    ],
  });
  const events: string[] = [];
  let said = '';
  let audio = 0;
  let turns = 0;
  let interrupted = false;
  await session.send({ type: 'text', text: 'lookup' });
  for await (const event of session.events()) {
    const name = event.type === 'audio' ? 'text' : event.type;
    if (name !== 'text' || events.at(-1) !== name) events.push(name);
    if (event.type === 'text') said += event.text;
    if (event.type === 'audio') audio += event.data.length;
    if (event.type === 'audio' && turns === 1 && !interrupted) {
      interrupted = true;
      await session.interrupt({ playedMs: 20 });
    }
    if (event.type === 'interrupted') await session.send({ type: 'text', text: 'bye' });
    if (event.type === 'turn_complete' && ++turns === 1) {
      // the user has heard all of it, whatever the clock says: what is cut next is of the next turn alone
      await session.played(60_000);
      await session.send({ type: 'text', text: 'long' });
    }
    if (turns === 2) await session.close();
  }
  const { reason, calls } = await session.closed;
  return { events, said, audio, ended: { reason, calls } };
}

/** Keys that serve once come from the page's own server. */
const keyFrom = (path: string) => async () => (await fetch(path, { method: 'POST' })).text();

Object.assign(globalThis, {
  openai: (baseUrl: string) => live(openaiRealtime({ baseUrl, apiKey: keyFrom('/ephemeral-key') })),
  gemini: (baseUrl: string) => live(geminiLive({ baseUrl, accessToken: keyFrom('/live-token') })),
  /** What comes of a key that is none: the message that a host would show. */
  refused: async (baseUrl: string) => {
    try {
      await live(openaiRealtime({ baseUrl, apiKey: 'ek_wrong_0123456789' }));
      return 'connected';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },
});
