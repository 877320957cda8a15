/** One row for one trace line. */
import type { TraceEvent, TraceLine } from '../scenario.js';
import { audioBytes, raw } from './far-words.js';
import type { CallMark, Lane, Mark, Row } from './row.js';
import { callName, quoted } from './text.js';

/** A row without the time, which is known where the line stands. */
export type Told = Omit<Row, 'at' | 'consequence'>;

/** Calls whose code runs; kept by whoever tells the rows. */
export interface Running {
  has(id: string): boolean;
}

/** Tells a line; `undefined` for the summary, which is told at the end. */
export function tellLine(line: TraceLine, running: Running): Told | undefined {
  if ('event' in line) return tellEvent(line.event, running);
  if ('execute' in line) {
    const text = `${callName(line.tool)} executes with ${raw(line.execute)}`;
    return onCall(line.tool, 'executes', text, 'run', 'running');
  }
  if ('signal' in line) return onCall(line.tool, 'aborted', `the signal of ${callName(line.tool)} is aborted`, 'bad');
  if ('settled_late' in line) {
    const text = `the code of ${callName(line.tool)} has ${line.settled_late}: too late, only noted`;
    return onCall(line.tool, 'late', text, 'quiet', 'over');
  }
  if ('provider' in line) return tellDriverCall(line);
  if ('host' in line)
    return arrow('session', 'host', `the host's ${line.host} is refused: ${quoted(line.rejected)}`, 'bad');
  if ('closed' in line) {
    const { reason, calls } = line.closed;
    const cut = [...calls].flatMap(([id, state]) => endMark(id, state, running));
    return {
      from: 'session',
      marks: cut,
      text: `the session is closed: ${reason}`,
      tone: 'bad',
      ends: ['session', 'far'],
    };
  }
  return undefined;
}

/** A call that the end of the session has cut short. */
function endMark(call: string, state: string, running: Running): CallMark[] {
  const life = running.has(call) ? 'draining' : 'over';
  if (state === 'cancelled') return [{ call, mark: 'cancelled', life }];
  return state === 'unconfirmed' ? [{ call, mark: 'unanswered', life }] : [];
}

function onCall(call: string, mark: Mark, text: string, tone: Row['tone'], life?: CallMark['life']): Told {
  return { marks: [life === undefined ? { call, mark } : { call, mark, life }], text, tone };
}

function arrow(from: Lane, to: Lane, text: string, tone: Row['tone'], marks: readonly CallMark[] = []): Told {
  return { from, to, marks, text, tone };
}

function tellEvent(event: TraceEvent, running: Running): Told {
  switch (event.type) {
    case 'text':
      return arrow('session', 'host', `the host reads ${quoted(event.text)}`, 'host');
    case 'audio':
      return arrow('session', 'host', `the host hears ${audioBytes(event.data)} bytes of audio`, 'host');
    case 'error':
      return arrow('session', 'host', `error: ${quoted(event.message)}`, 'bad');
    case 'closed':
      return arrow('session', 'host', 'the host is told: closed', 'host');
    case 'turn_complete':
    case 'interrupted':
      return arrow('session', 'host', `the host is told: ${event.type}`, 'host');
    case 'tool_started':
      return arrow(
        { call: event.toolUseId },
        'host',
        `the host is told: ${callName(event.toolUseId)} has started`,
        'host',
      );
    case 'tool_abandoned':
      return abandoned(event.toolUseId, running.has(event.toolUseId));
    case 'tool_completed': {
      const mark: CallMark = { call: event.toolUseId, mark: 'completed', life: 'over' };
      return arrow({ call: event.toolUseId }, 'host', `${callName(event.toolUseId)} is completed`, 'good', [mark]);
    }
  }
}

function abandoned(call: string, codeRuns: boolean): Told {
  const mark: CallMark = { call, mark: 'abandoned', life: codeRuns ? 'draining' : 'over' };
  const text = `${callName(call)} is abandoned${codeRuns ? ', its code runs on' : ''}`;
  return arrow({ call }, 'host', text, 'bad', [mark]);
}

function tellDriverCall(line: Extract<TraceLine, { readonly provider: string }>): Told {
  switch (line.provider) {
    case 'connect':
      return arrow('session', 'far', 'the session connects', 'plain');
    case 'send':
      return arrow('session', 'far', 'the far side is given the input', 'host');
    case 'sendToolResult': {
      const mark: CallMark = { call: line.id, mark: 'commits', life: 'committed' };
      const text = `COMMIT POINT of ${callName(line.id)}: ${line.isError ? 'error' : 'result'} ${quoted(line.output)}`;
      return arrow({ call: line.id }, 'far', text, 'commit', [mark]);
    }
    case 'abandonToolCall': {
      const text = `the far side is told that ${callName(line.id)} gets no answer`;
      return arrow({ call: line.id }, 'far', text, 'quiet');
    }
    case 'interrupt':
      return arrow('session', 'far', 'the far side is asked to stop', 'host');
    case 'close':
      return { ...arrow('session', 'far', 'the session closes the driver', 'plain'), ends: ['far'] };
  }
}
