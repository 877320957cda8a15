import { createInterface } from 'node:readline';
import { ConnectAbortedError, InvalidInputError } from '../../contract/errors.js';
import { fileJournal } from '../../journals/file/index.js';
import { type Session, startSession } from '../../runtime/index.js';
import type { ExitStatus } from '../exit.js';
import { LiveConversation } from '../live-conversation.js';
import { type LiveService, liveService, type ServiceChoice } from '../live-service.js';
import { exampleTools } from '../live-tools.js';
import { complain } from '../output.js';

export interface RunLiveOptions extends ServiceChoice {
  /** Said at once; the command ends after the answer. Default: the lines of standard input are said, one after another. */
  readonly text?: string;
  readonly json?: boolean;
  readonly journal?: string;
}

/** `commitpoint run` without a recording: a text session with a live service, and two example tools. */
export async function runLive(options: RunLiveOptions): Promise<ExitStatus> {
  if (options.text?.trim() === '') throw new InvalidInputError('--text', 'something to say', options.text);
  const service = await liveService(options, process.env);
  const journal = options.journal === undefined ? undefined : await fileJournal(options.journal);
  const connecting = new AbortController();
  let onCtrlC = () => connecting.abort(new ConnectAbortedError());
  const listener = () => onCtrlC();
  process.on('SIGINT', listener);
  try {
    const session = await startSession({
      provider: service.provider,
      tools: exampleTools(),
      connect: { model: service.model, system: 'Answer briefly, in plain text.' },
      signal: connecting.signal,
      ...(journal === undefined ? {} : { journal }),
    });
    return await talk(session, service, options, (act) => {
      onCtrlC = act;
    });
  } catch (error) {
    if (error !== connecting.signal.reason) throw error;
    complain((error as ConnectAbortedError).message);
    return 1;
  } finally {
    // from here on a Ctrl-C ends the process
    process.off('SIGINT', listener);
    await journal?.close();
  }
}

async function talk(
  session: Session,
  { provider, model }: LiveService,
  { text, json = false }: RunLiveOptions,
  onCtrlC: (act: () => void) => void,
): Promise<ExitStatus> {
  const conversation = new LiveConversation(session, { json, patient: text !== undefined || !process.stdin.isTTY });
  onCtrlC(() => conversation.ctrlC());
  if (text !== undefined) {
    const { answered } = await conversation.hold([text], () => {});
    return answered ? 0 : 1;
  }
  complain(`${provider.id}, ${model}: write, a line at a time. Ctrl-C interrupts, and ends at the second.`);
  const lines = createInterface({ input: process.stdin, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const { byHost } = await conversation.hold(lines, () => {
    lines.close();
    // a terminal that waits for a line would hold the process
    process.stdin.destroy();
  });
  return byHost ? 0 : 1;
}
