/** One row for one step. */
import { isJsonObject } from '../json.js';
import type { Step } from '../scenario.js';
import { farWords } from './far-words.js';
import type { Told } from './line-rows.js';
import type { Lane, Row } from './row.js';
import { callName, quoted } from './text.js';

/** Tells a step; `undefined` for `expect`, at which nothing happens. */
export function tellStep(step: Step): Told | undefined {
  if ('far' in step) return tellFar(step.far);
  if ('far_stream' in step) {
    const text =
      step.far_stream === 'end'
        ? 'the stream of events ends'
        : `the stream of events fails: ${quoted(step.message ?? '')}`;
    return arrow('far', 'session', text, 'bad');
  }
  if ('connect' in step) {
    const made = step.connect === 'resolve';
    return arrow(
      'far',
      'session',
      made ? 'the connection is there' : refusal('the connection is refused', step.message),
      made ? 'far' : 'bad',
    );
  }
  if ('tool' in step) {
    const how = 'resolve' in step ? `returns ${quoted(step.resolve)}` : `throws ${quoted(step.reject)}`;
    return {
      marks: [{ call: step.tool, mark: 'settles' }],
      text: `the code of ${callName(step.tool)} ${how}`,
      tone: 'run',
    };
  }
  if ('publish' in step) return tellAnswer(step);
  if ('close' in step) {
    const closed = step.close === 'resolve';
    return arrow(
      'far',
      'session',
      closed ? 'the driver has closed' : refusal('the driver fails to close', step.message),
      closed ? 'plain' : 'bad',
    );
  }
  if ('flush' in step) {
    const durable = step.flush === 'resolve';
    const text = durable ? 'the journal is durable' : refusal('the journal fails', step.message);
    return { from: 'session', marks: [], text, tone: durable ? 'plain' : 'bad' };
  }
  if ('clock' in step) return { marks: [], text: `${step.clock.toLocaleString('en-US')} ms pass`, tone: 'quiet' };
  if ('host' in step) return tellHost(step);
  return undefined;
}

function arrow(from: Lane, to: Lane, text: string, tone: Row['tone']): Told {
  return { from, to, marks: [], text, tone };
}

function refusal(what: string, message: string | undefined): string {
  return message === undefined ? what : `${what}: ${quoted(message)}`;
}

function tellFar(payload: unknown): Told {
  const type = isJsonObject(payload) ? payload['type'] : undefined;
  const tone = type === 'error' || type === 'closed' || type === 'interrupted' ? 'bad' : 'far';
  return arrow('far', 'session', `the far side ${farWords(payload)}`, tone);
}

function tellAnswer(step: Extract<Step, { readonly publish: string }>): Told {
  const call = step.publish;
  const id = callName(call);
  return 'accept' in step
    ? arrow('far', { call }, `the far side accepts the result of ${id}`, 'good')
    : {
        ...arrow('far', { call }, `the far side refuses the result of ${id}: ${quoted(step.reject)}`, 'bad'),
        marks: [{ call, mark: 'rejected', life: 'over' }],
      };
}

function tellHost(step: Extract<Step, { readonly host: string }>): Told {
  switch (step.host) {
    case 'send': {
      const { input } = step;
      const what = input.type === 'text' ? `says ${quoted(input.text)}` : 'speaks';
      return arrow('host', 'session', `the user ${what}`, 'host');
    }
    case 'close':
      return arrow('host', 'session', 'the host closes the session', 'host');
    case 'abort':
      return arrow('host', 'session', refusal('the host aborts', step.reason), 'host');
    case 'interrupt': {
      const heard = step.playedMs === undefined ? '' : `, ${step.playedMs} ms were heard`;
      return arrow('host', 'session', `the host interrupts${heard}`, 'host');
    }
    case 'approve':
      return arrow('host', { call: step.id }, `the host approves ${callName(step.id)}`, 'host');
    case 'deny':
      return arrow('host', { call: step.id }, refusal(`the host denies ${callName(step.id)}`, step.message), 'host');
    case 'pause':
      return { from: 'host', marks: [], text: 'the host stops reading', tone: 'host' };
    case 'resume':
      return { from: 'host', marks: [], text: 'the host reads on', tone: 'host' };
  }
}
