import type { Tool } from '../../contract/tool.js';
import type { BidiTurnEvent } from '../../contract/turn-event.js';
import type { WireMapping } from '../../contract/wire-mapping.js';
import { geminiLiveMapping } from '../../providers/gemini-live/index.js';
import { openaiRealtimeMapping } from '../../providers/openai-realtime/index.js';
import type { RecordedFrame } from '../../providers/recorded/index.js';
import { parseRecording, recordedOutputs, recordedProvider, recordedTools } from '../../providers/recorded/index.js';
import { defineTool, startSession } from '../../runtime/index.js';
import { harmless } from '../../scenario/timeline/text.js';
import type { ExitStatus } from '../exit.js';
import { dialectOf, type ServiceChoice } from '../live-service.js';
import { print } from '../output.js';
import { readText } from '../read-file.js';

export interface RunRecordingOptions extends ServiceChoice {
  readonly recording: string;
  readonly json?: boolean;
}

/** `commitpoint run --recording FILE`: a recorded session, played through its mapping, a session and stub tools. */
export async function runRecording(options: RunRecordingOptions): Promise<ExitStatus> {
  const { provider, recording, json = false } = options;
  const mapping = mappingOf(options);
  const frames = parseRecording(await readText(recording), recording);
  await using session = await startSession({
    provider: recordedProvider({ frames, mapping, id: provider }),
    tools: stubTools(frames),
    connect: { model: 'recorded' },
  });
  for await (const event of session.events()) print(json ? JSON.stringify(event) : harmless(lineOf(event)));
  if (!json) {
    const { reason, calls } = await session.closed;
    print(`ended: ${reason}`);
    for (const { id, name, state } of calls) print(harmless(`  call ${id} (${name}): ${state}`));
  }
  return 0;
}

function mappingOf(choice: ServiceChoice): () => WireMapping {
  const dialect = dialectOf(choice);
  return dialect === undefined ? () => geminiLiveMapping() : () => openaiRealtimeMapping({ dialect });
}

/** Tools that answer each call with what was answered when it was recorded, else with `{}`. */
function stubTools(frames: readonly RecordedFrame[]): Tool[] {
  const outputs = recordedOutputs(frames);
  return recordedTools(frames).map((name) =>
    defineTool({
      name,
      description: 'answers as recorded',
      input: { type: 'object' },
      effect: 'read',
      execute: (_input, { toolUseId }) => outputs.get(toolUseId) ?? '{}',
    }),
  );
}

function lineOf(event: BidiTurnEvent): string {
  switch (event.type) {
    case 'text':
      return `text            ${JSON.stringify(event.text)}`;
    case 'audio':
      return `audio           ${event.data.length} characters of ${event.mediaType}`;
    case 'tool_started':
    case 'tool_abandoned':
      return `${event.type.padEnd(15)} ${event.toolName} ${event.toolUseId}`;
    case 'tool_completed':
      return `tool_completed  ${event.toolName} ${event.toolUseId} ${event.isError ? 'error ' : ''}${JSON.stringify(event.output)}`;
    case 'error':
      return `error           ${event.message}`;
    case 'closed':
      return `closed          ${event.reason ?? ''}`;
    default:
      return event.type;
  }
}
