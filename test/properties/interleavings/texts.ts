/** §5 *Texts*, and what a report and the last event say of an end. */
import { isCall, type Story } from './story.js';
import { isSound, wordProblem } from './word.js';

export function checkTexts(story: Story): string[] {
  return [...story.driverCalls('sendToolResult').flatMap((result) => checkResult(story, result)), ...checkLast(story)];
}

/** What a result may say, by what became of its call before. */
function checkResult(
  story: Story,
  result: { readonly id?: string; readonly output?: string; readonly isError?: boolean; readonly index: number },
): string[] {
  const { id = '', output = '', isError } = result;
  if (isError === true && output.startsWith('too many calls')) return [];
  const wrong = (expected: string) => [`the result of call ${id} has to ${expected}, found ${JSON.stringify(output)}`];
  const tool = story.toolOf(id);
  const { name = '', arguments: text = '' } = story.asked.get(id) ?? {};
  if (tool === undefined) return output.includes(name) ? [] : wrong(`name the tool ${name}`);
  if (!isSound(text, false)) return output.includes('JSON') ? [] : wrong('mention JSON');
  // of the code, or of a judgement that takes its time
  if (isError === true && output.includes('timed out') && (tool.timeoutMs ?? 0) > 0) return [];
  const problem = tool.input === undefined ? undefined : wordProblem(text === '' ? {} : JSON.parse(text));
  if (problem !== undefined) {
    const property = problem.split(':')[0] ?? '';
    return output.includes(property) ? [] : wrong(`name the property ${property}`);
  }
  const [end] = [...story.codeOf(id, 'resolved'), ...story.codeOf(id, 'rejected')].filter(
    ({ index }) => index < result.index,
  );
  if (end === undefined) return output === 'not allowed' && tool.needsApproval === true ? [] : wrong('be a denial');
  if (end.is === 'resolved') return output === 'done' && isError === false ? [] : wrong('be what the code gave');
  return output === `code of ${id} failed` && isError === true ? [] : wrong('be what the code threw');
}

const farReasons = ['protocol_failure', 'stream_ended', 'stream_failed', 'overflow', 'journal_failed'];

/** The last event tells of the end, and so does the report. */
function checkLast(story: Story): string[] {
  const { report, isPrompt, events } = story;
  if (report === undefined || !isPrompt) return [];
  const { reason, message } = report;
  const last = events.at(-1)?.event;
  const wrong = (what: string) => [`${what}, found ${JSON.stringify(last)} and ${JSON.stringify(message)} (${reason})`];
  if (reason === 'far_side') {
    const isRight = last?.type === 'closed' && last.reason === message;
    return isRight ? [] : wrong('the last event and the report have to be what the far side said');
  }
  if (!farReasons.includes(reason)) return [];
  if (last?.type !== 'error' || last.message !== message) return wrong('the last event has to be the error of the end');
  if (reason === 'stream_failed' && !message.includes('socket gone')) return wrong('the failure has to be told');
  if (reason === 'journal_failed' && !message.includes('refused')) return wrong('the failure has to be told');
  return reason === 'protocol_failure' ? checkRepeat(story, message) : [];
}

function checkRepeat(story: Story, message: string): string[] {
  const seen = new Set<string>();
  for (const { far } of story.all('far')) {
    if (!isCall(far)) continue;
    const first = story.asked.get(far.id);
    if (seen.has(far.id) && message.includes(far.id)) {
      const isSame = first?.name === far.name && first.arguments === far.arguments;
      const word = isSame ? 'identical' : 'conflicting';
      return message.includes(word) ? [] : [`a repeat of call ${far.id} has to be told as ${word}, found ${message}`];
    }
    seen.add(far.id);
  }
  return [];
}
