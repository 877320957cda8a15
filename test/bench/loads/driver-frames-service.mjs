/**
 * The far side of `driver-frames.mjs`: a service in a process of its own, so that the one that is measured has a core for the
 * driver alone. It greets as OpenAI Realtime or Gemini Live, whichever is asked for, and then does what it is told to.
 *
 * Each of its sessions gets fifty events a second, spread evenly over the time: 46 texts, and four pieces of audio of a quarter
 * of a second. What the service has no time for it leaves out.
 */
import { LoopbackServer } from 'commitpoint/testing/loopback';

const perSecond = 50;
/** Longest time for which events are made up when this process had to wait: a burst of more would be measured, not the driver. */
const longestLagMs = 5;

/** A quarter of a second at 24 kHz. */
const sound = 'A'.repeat(16_000);

const openai = {
  text: '{"type":"response.output_text.delta","response_id":"r0","item_id":"i","content_index":0,"delta":" word"}',
  audio: audioOf('r0'),
};
const gemini = {
  text: '{"serverContent":{"outputTranscription":{"text":" word"}}}',
  audio: `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"${sound}"}}]}}}`,
};

/** @param {string} id */
function audioOf(id) {
  return `{"type":"response.output_audio.delta","response_id":"${id}","item_id":"i${id}","content_index":0,"delta":"${sound}"}`;
}

let wire = openai;

const server = await LoopbackServer.listen({
  upgrade: () => ({ accept: true }),
  connected(connection) {
    if (connection.request.path.includes('BidiGenerateContent')) {
      wire = gemini;
      connection.sendBinary();
      connection.onMessage((message) => {
        if (message.startsWith('{"setup"')) connection.sendJson({ setupComplete: {} });
      });
      return;
    }
    connection.onMessage((message) => {
      if (JSON.parse(message).type !== 'session.update') return;
      connection.sendJson({ type: 'session.updated', session: {} });
      connection.sendJson({ type: 'response.created', response: { id: 'r0' } });
    });
    connection.sendJson({ type: 'session.created', session: {} });
  },
});

let sending = false;

/** The events of all sessions as one sequence: as many apart in time as they are in number. */
function send() {
  const open = server.connections.filter(({ isOpen }) => isOpen);
  const everyMs = 1000 / perSecond / open.length;
  let since = performance.now();
  let next = 0;
  const tick = () => {
    if (!sending) return;
    const now = performance.now();
    if (now - since - next * everyMs > longestLagMs) since = now - next * everyMs;
    for (; next * everyMs <= now - since; next += 1) {
      const round = Math.floor(next / open.length) % 25;
      open[next % open.length]?.send(round === 0 || round === 12 ? wire.audio : wire.text);
    }
    setTimeout(tick, 1);
  };
  tick();
}

let responses = 0;

process.on('message', (/** @type {'start' | 'stop' | 'flood' | 'speak'} */ told) => {
  const connection = server.connections.at(-1);
  switch (told) {
    case 'start':
      sending = true;
      send();
      break;
    case 'stop':
      sending = false;
      break;
    case 'flood': {
      const id = `r${++responses}`;
      connection?.sendJson({ type: 'response.created', response: { id } });
      for (let n = 0; n < 200; n += 1) connection?.send(audioOf(id));
      break;
    }
    case 'speak':
      connection?.sendJson({ type: 'input_audio_buffer.speech_started', item_id: 'u' });
      connection?.sendJson({ type: 'response.done', response: { id: `r${responses}`, status: 'cancelled' } });
  }
});
process.on('disconnect', () => process.exit());
process.send?.(server.host);
