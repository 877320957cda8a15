// @ts-check
// What a user of the vendor's SDK would write: started by gemini.mjs with the folder of the SDK and the URL of the server.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [, , prefix = '', baseUrl = ''] = process.argv;
const { GoogleGenAI, Modality } = createRequire(join(prefix, 'package.json'))('@google/genai');

/**
 * A session whose messages can be waited for.
 *
 * @param {string} apiKey
 */
async function connect(apiKey) {
  /** @type {any[]} */
  const messages = [];
  /** @type {(() => void)[]} */
  let waiting = [];
  const told = () => {
    const all = waiting;
    waiting = [];
    for (const wake of all) wake();
  };
  /** @type {{ code: number, reason: string } | undefined} */
  let closed;
  const ai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
  const connecting = ai.live.connect({
    model: 'gemini-2.5-flash-live',
    config: {
      responseModalities: [Modality.AUDIO],
      systemInstruction: 'Be brief.',
      outputAudioTranscription: {},
      inputAudioTranscription: {},
      sessionResumption: {},
      tools: [
        {
          functionDeclarations: [
            { name: 'look', parameters: { type: 'OBJECT', properties: { for: { type: 'STRING' } } } },
          ],
        },
      ],
    },
    callbacks: {
      onmessage: (/** @type {any} */ message) => {
        messages.push(message);
        told();
      },
      onerror: () => {},
      onclose: (/** @type {any} */ event) => {
        closed = { code: event.code, reason: String(event.reason) };
        told();
      },
    },
  });
  return {
    connecting,
    messages,
    closed: () => closed,
    /** @param {() => unknown} test */
    async until(test) {
      while (!test()) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    },
  };
}

const one = await connect('a-key-of-a-test');
const session = await one.connecting;
const said = () => one.messages.map((message) => message.serverContent?.outputTranscription?.text ?? '').join('');
const ends = () => one.messages.filter((message) => message.serverContent?.turnComplete).length;

session.sendClientContent({ turns: 'rain', turnComplete: true });
await one.until(() => one.messages.some((message) => message.toolCall));
const { functionCalls } = one.messages.find((message) => message.toolCall).toolCall;
session.sendToolResponse({
  functionResponses: functionCalls.map((/** @type {any} */ { id, name, args }) => ({
    id,
    name,
    response: { output: `${args.for} found` },
  })),
});
await one.until(() => ends() === 1);
check('a round of two calls', said() === 'rain found and more found', said());
check(
  'audio',
  one.messages.some((message) => message.data),
  'none',
);

session.sendClientContent({ turns: 'long', turnComplete: true });
await one.until(() => said().includes('on and on'));
session.sendClientContent({ turns: 'stop', turnComplete: true });
await one.until(() => one.messages.some((message) => message.serverContent?.interrupted));
await one.until(() => ends() === 2);
check('an interruption, and the turnComplete that it owes', true, '');

session.sendRealtimeInput({ audio: { data: Buffer.alloc(640).toString('base64'), mimeType: 'audio/pcm;rate=16000' } });
session.sendRealtimeInput({ audioStreamEnd: true });
await one.until(() => one.messages.filter((message) => message.toolCall).length === 2);
check('realtime input', one.closed() === undefined, JSON.stringify(one.closed()));
session.close();

const two = await connect('another-key');
two.connecting.catch(() => {});
await two.until(() => two.closed());
check(
  'a bad key',
  two.closed()?.code === 1007 && two.closed()?.reason.startsWith('API key not valid'),
  JSON.stringify(two.closed()),
);
process.exit();

/**
 * @param {string} what
 * @param {unknown} held
 * @param {string} found
 */
function check(what, held, found) {
  console.log(held ? `${what}: ok` : `${what}: not ok, found ${found}`);
  if (!held) process.exit(1);
}
