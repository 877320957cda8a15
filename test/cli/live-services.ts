/** The two services, each played by its fake with the same manners, for tests of `commitpoint run`. */
import {
  type GeminiLoopbackOptions,
  geminiLoopback,
  geminiScript,
  type OpenAiLoopbackOptions,
  type OpenAiReply,
  openaiLoopback,
} from '../../src/testing/loopback/index.js';

/** What a test needs of either fake. */
export interface Far {
  readonly baseUrl: string;
  /** What the client sent that no client should. */
  readonly violations: readonly string[];
  /** How many connections were asked for. */
  readonly asked: () => number;
  /** Resolves when a connection is asked for. */
  readonly asksNow: Promise<void>;
  /** Ends the connection without a word. */
  cut(): void;
  close(): Promise<void>;
}

/** What goes otherwise than usual. */
export interface Manners {
  /** The one good key. */
  readonly key?: string;
  /** Requests for a connection are never answered. */
  readonly hangs?: boolean;
}

export interface LiveServiceCase {
  readonly name: string;
  readonly args: readonly string[];
  readonly keyVariable: string;
  serve(manners?: Manners): Promise<Far>;
}

/*
 * What the model does, by what it is told: `time` and `note` call the tools of the command and say what those gave; at `long`
 * it begins to speak and does not come to an end; anything else it says back.
 */

export const key = 'sk-not-a-real-key-0123456789';

function openaiCase(
  name: string,
  keyVariable: string,
  args: readonly string[],
  dialect: NonNullable<OpenAiLoopbackOptions['dialect']> = 'openai',
): LiveServiceCase {
  return {
    name,
    args: ['--provider', 'openai', ...args],
    keyVariable,
    async serve({ key: good, hangs } = {}) {
      let asked = 0;
      let tell = () => {};
      const asksNow = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const fake = await openaiLoopback({
        dialect,
        ...(good === undefined ? {} : { keys: [good] }),
        reply: ({ items }) => openaiReply(items.at(-1) ?? {}),
        pace: 'stepwise',
        connectFault: () => {
          asked++;
          tell();
          return hangs === true ? { type: 'hang' } : undefined;
        },
      });
      // What is told `long` stops after its first word; all else comes to its end.
      const serve = async () => {
        for (;;) {
          const session = await fake.nextSession();
          session.intercept = (message) => {
            if (message.type !== 'response.create') return false;
            queueMicrotask(() => {
              if (JSON.stringify(session.items.at(-1)).includes('"long"')) session.stepPast(deltaOf[dialect]);
              else session.finish();
            });
            return false;
          };
        }
      };
      void serve();
      return {
        baseUrl: fake.baseUrl,
        get violations() {
          return fake.violations;
        },
        asked: () => asked,
        asksNow,
        cut: () => fake.session.connection.cut(),
        close: () => fake.close(),
      };
    },
  };
}

const deltaOf = {
  openai: 'response.output_text.delta',
  azure: 'response.output_text.delta',
  'azure-voice-live': 'response.output_text.delta',
  xai: 'response.output_audio_transcript.delta',
};

function openaiReply(last: Readonly<Record<string, unknown>>): OpenAiReply {
  if (last.type === 'function_call_output') return { text: `It says: ${String(last.output)}` };
  const [part] = last.content as { text: string }[];
  const text = part?.text ?? '';
  if (text === 'time') return { calls: [{ name: 'current_time' }] };
  if (text === 'note') return { calls: [{ name: 'keep_note', arguments: '{"note":"milk"}' }] };
  return { text: text === 'long' ? 'Once upon a time there was a king' : `You said: ${text}` };
}

function geminiCase(): LiveServiceCase {
  return {
    name: 'gemini',
    args: ['--provider', 'gemini'],
    keyVariable: 'GEMINI_API_KEY',
    async serve({ key: good, hangs } = {}) {
      let asked = 0;
      let tell = () => {};
      const asksNow = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const options: GeminiLoopbackOptions = {
        ...(good === undefined ? {} : { keys: [good] }),
        model: geminiModel,
        upgrade: () => {
          asked++;
          tell();
          return hangs === true ? { hang: true } : undefined;
        },
      };
      const fake = await geminiLoopback(options);
      return {
        baseUrl: fake.url,
        get violations() {
          return fake.violations;
        },
        asked: () => asked,
        asksNow,
        cut: () => fake.peer?.cut(),
        close: () => fake.close(),
      };
    },
  };
}

function* geminiModel(turn: geminiScript.UserTurn): geminiScript.Reply {
  const text = turn.type === 'text' ? turn.text : '';
  if (text === 'time' || text === 'note') {
    const name = text === 'time' ? 'current_time' : 'keep_note';
    const [answer] = yield geminiScript.call({ name, args: text === 'time' ? {} : { note: 'milk' } });
    yield geminiScript.say(`It says: ${String(answer?.response.output ?? answer?.response.error)}`);
  } else if (text === 'long') {
    yield geminiScript.say('Once upon a time there was a king');
    // on a clock that nobody moves
    yield geminiScript.pause(1);
  } else yield geminiScript.say(`You said: ${text}`);
}

export const openai = openaiCase('openai', 'OPENAI_API_KEY', []);
export const gemini = geminiCase();
/** Other services that speak the protocol of OpenAI. */
export const dialects = [
  openaiCase('azure', 'AZURE_OPENAI_API_KEY', ['--dialect', 'azure'], 'azure'),
  openaiCase('azure-voice-live', 'AZURE_VOICELIVE_API_KEY', ['--dialect', 'azure-voice-live'], 'azure-voice-live'),
  openaiCase('xai', 'XAI_API_KEY', ['--dialect', 'xai'], 'xai'),
];
