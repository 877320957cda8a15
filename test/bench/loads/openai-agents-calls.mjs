import { EventEmitter } from 'node:events';
import { Meter, nextTurn } from '../meter.mjs';
import { importOpenaiAgents } from '../peers.mjs';

const inFlight = 16;
const measureMs = 600;

/**
 * The far side of `RealtimeSession`, in this process. Only what the session
 * asks of a transport; every result is accepted at once.
 */
class Transport extends EventEmitter {
  status = 'disconnected';
  muted = null;
  results = 0;
  /** @type {() => void} */
  onResult = () => {};

  async connect() {
    this.status = 'connected';
  }

  sendFunctionCallOutput() {
    this.results += 1;
    this.onResult();
  }

  sendEvent() {}
  requestResponse() {}
  sendMessage() {}
  addImage() {}
  sendAudio() {}
  updateSessionConfig() {}
  mute() {}
  interrupt() {}
  resetHistory() {}
  sendMcpResponse() {}
  close() {
    this.status = 'disconnected';
  }
}

/**
 * The work of `calls.mjs` done by `@openai/agents-realtime`: sixteen function
 * calls at a time of a tool that answers at once, until the transport has the
 * results. Everything is made as easy for it as can be: a JSON schema, which it
 * announces and does not check; no guardrails; one response for all calls; no
 * frames to parse; a history that does not grow.
 * @param {{ history?: number }} options `history`: messages said before.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function openaiAgentsCalls({ history = 0 }) {
  const { RealtimeAgent, RealtimeSession, tool } = await importOpenaiAgents();
  const measured = history === 0 ? 2_048 : 512;
  const agent = new RealtimeAgent({
    name: 'bench',
    instructions: '',
    tools: [
      tool({
        name: 'lookup',
        description: 'Look a word up.',
        parameters: {
          type: 'object',
          properties: { word: { type: 'string' } },
          required: ['word'],
          additionalProperties: false,
        },
        execute: async () => 'found',
      }),
    ],
  });

  const open = async () => {
    const transport = new Transport();
    const session = new RealtimeSession(agent, { transport, model: 'm' });
    session.on('error', (/** @type {unknown} */ problem) => {
      throw new Error('openai-agents reported an error', { cause: problem });
    });
    await session.connect({ apiKey: 'none' });
    for (let at = 0; at < history; at += 1) {
      transport.emit('item_update', {
        itemId: `item_${at}`,
        type: 'message',
        role: at % 2 === 0 ? 'user' : 'assistant',
        status: 'completed',
        content: [
          {
            type: at % 2 === 0 ? 'input_text' : 'output_text',
            text: 'Twenty words or so are what people say in one go before they wait for an answer to come.',
          },
        ],
      });
    }
    if (session.history.length !== history) throw new Error(`the history has ${session.history.length} items`);
    let asked = 0;
    return {
      /** @param {number} count */
      async make(count) {
        for (const goal = asked + count; asked < goal; ) {
          const answers = new Promise((/** @type {(nothing: void) => void} */ resolve) => {
            transport.onResult = () => {
              if (transport.results === asked) setImmediate(resolve);
            };
          });
          for (let at = 0; at < inFlight; at += 1) {
            asked += 1;
            transport.emit('function_call', {
              type: 'function_call',
              id: `item_call_${asked}`,
              callId: `call_${asked}`,
              name: 'lookup',
              arguments: '{"word":"gate"}',
              responseId: 'resp_1',
            });
          }
          await answers;
        }
      },
      close: () => session.close(),
    };
  };

  const warmUp = await open();
  await warmUp.make(measured * 4);
  warmUp.close();

  const meter = new Meter();
  do {
    const session = await open();
    await nextTurn();
    meter.start();
    await session.make(measured);
    meter.stop(measured);
    session.close();
  } while (meter.cpuMs < measureMs);
  return meter.sample;
}
