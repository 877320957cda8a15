/** Frames held against what they promise: F1–F3 of `frames.ts`, and steps that follow on one another. */
import type { Frame, Step } from '../../../src/inspect/view/frames.js';

/** Everything that is wrong with frames. */
export function problemsOf(frames: readonly Frame[], maxText = 2000): string[] {
  const problems: string[] = [];
  const states = new Map<string, string>();
  const entries = new Set<string>();
  let n = 0;
  if (frames[0]?.type !== 'opening') problems.push('the first frame is no opening');
  if (frames.at(-1)?.type !== 'ended') problems.push('the last frame is no end');
  for (const frame of frames) {
    if (frame.type !== 'steps') continue;
    for (const step of frame.steps) {
      n++;
      const { actor, from, to, parent, cause } = step;
      if (step.n !== n) problems.push(`step ${step.n} stands where ${n} should`);
      const before = states.get(actor);
      if (from === '') {
        if (parent !== undefined && !states.has(parent)) problems.push(`step ${n}: ${actor} comes before its parent`);
      } else if (before === undefined) problems.push(`step ${n}: ${actor} was not introduced`);
      else if (before !== from) problems.push(`step ${n}: ${actor} leaves ${from}, and stood in ${before}`);
      states.set(actor, to);
      if (cause !== undefined && cause >= n) problems.push(`step ${n} was led to by step ${cause}`);
      problems.push(...editProblems(step, entries, maxText));
    }
  }
  return problems;
}

function editProblems({ n, edits, why = '', arrows, did }: Step, entries: Set<string>, maxText: number): string[] {
  const problems: string[] = [];
  for (const edit of edits) {
    if (edit.edit === 'add') {
      if (entries.has(edit.id)) problems.push(`step ${n} adds ${edit.id} again`);
      entries.add(edit.id);
    } else if (edit.id === undefined || !entries.has(edit.id))
      problems.push(`step ${n}: no entry ${edit.id} for ${edit.edit}`);
    if ('text' in edit && edit.text.length > maxText) problems.push(`step ${n}: a text of ${edit.text.length}`);
  }
  const texts = [why, ...arrows.map(({ text }) => text), ...did.map(({ detail = '' }) => detail)];
  for (const text of texts) if (text.length > maxText) problems.push(`step ${n}: a text of ${text.length}`);
  return problems;
}

export function stepsOf(frames: readonly Frame[]): Step[] {
  return frames.flatMap((frame) => (frame.type === 'steps' ? frame.steps : []));
}

/** Where each actor stands at the end. */
export function statesOf(frames: readonly Frame[]): Map<string, string> {
  return new Map(stepsOf(frames).map(({ actor, to }) => [actor, to]));
}

export function findingsOf(frames: readonly Frame[]) {
  return frames.flatMap((frame) => (frame.type === 'judged' ? frame.findings : []));
}

/** The conversation as it stands at the end. */
export function conversationOf(frames: readonly Frame[]): { id: string; who: string; text: string; how: string }[] {
  const entries = new Map<string, { id: string; who: string; text: string; how: string }>();
  for (const { edits } of stepsOf(frames)) {
    for (const edit of edits) {
      if (edit.edit === 'add') {
        const { id, who, text, provisional } = edit;
        entries.set(id, { id, who, text, how: provisional ? 'provisional' : 'stands' });
        continue;
      }
      const entry = edit.id === undefined ? undefined : entries.get(edit.id);
      if (entry === undefined) continue;
      if (edit.edit === 'append') entry.text += edit.text;
      else if (edit.edit === 'replace')
        Object.assign(entry, { text: edit.text, how: edit.provisional ? 'provisional' : 'stands' });
      else entry.how = edit.edit === 'settle' ? 'stands' : 'withdrawn';
    }
  }
  return [...entries.values()];
}
