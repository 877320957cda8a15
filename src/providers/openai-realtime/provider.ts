import type { BidiProvider } from '../../contract/provider.js';
import { connect } from './connect.js';
import { type OpenAiRealtimeOptions, settingsOf } from './options.js';

/**
 * A driver for OpenAI Realtime and the services that speak its protocol (`dialect`). It speaks WebSocket, in Node, in
 * browsers and wherever else there is one, and needs no SDK.
 *
 * `connect` rejects with the exact reason of an abort, with a `ConnectTimeoutError`, or with a `ConnectFailedError` that has
 * the service's own reason: a refused upgrade, an error before the session is set up, a connection that closed. It asks for
 * a `model`, and takes `history`; the service has no way to resume a session, so `resume` is a `NotSupportedError`.
 *
 * Of a session:
 *
 * - `interrupted` comes when the user speaks over what the model says, or over what of it still plays; when the host asks
 *   for it; and when text is sent while the model responds. What was not heard is then taken out of the conversation. Tell
 *   the driver by `played` what was heard (counted from the first audio of the stretch that is playing), else it goes by the clock.
 * - results of parallel calls are sent as they come, and the model is asked to go on after the last of them. The result of a
 *   call that was interrupted is sent, but makes nobody speak.
 * - there is no `abandonToolCall`: the service holds nothing open for a call without an output.
 * - `sendToolResult` rejects with a `ResultRefusedError` when the service refuses, and with a `ResultUnknownError` when the
 *   session ends, or `resultTimeoutMs` pass, before it answers.
 *
 * A key is never in an error, an event or a diagnostic.
 * @throws {InvalidInputError} on an option that is none.
 * @throws {NotSupportedError} on one that the dialect cannot do.
 */
export function openaiRealtime(options: OpenAiRealtimeOptions): BidiProvider {
  const settings = settingsOf(options);
  const { name } = settings.traits;
  return {
    id: name === 'openai' ? 'openai-realtime' : `openai-realtime/${name}`,
    connect: (params) => connect(settings, params),
  };
}
