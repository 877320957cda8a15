/** Runs made up for the tests of the page: steps as the frames have them. */
import type { Edit, Frame, Step } from '../../../src/inspect/view/frames.js';

/** A step, of which a test names what it is about. */
export function step(n: number, parts: Partial<Step> = {}): Step {
  return {
    n,
    at: n * 10,
    actor: 's',
    kind: 'session',
    event: 'text',
    from: 'open.waiting',
    to: 'open.waiting',
    did: [],
    arrows: [],
    edits: [],
    ...parts,
  };
}

/** One frame with these steps. */
export function steps(...told: readonly Step[]): Frame {
  return { type: 'steps', steps: told };
}

/** What the steps of a scripted run do to its actors. */
export type Deed = {
  readonly actor: number;
  readonly to: number;
  readonly edit: number;
  readonly id: number;
  readonly isProvisional: boolean;
};

const states = ['executing', 'publishing', 'completed', 'abandoned.draining', 'abandoned.settled'];

/** A run of a session and its calls in which deeds follow one another: any deeds make a run that keeps F1 and F2. */
export function runOf(deeds: readonly Deed[]): Step[] {
  const now = new Map<string, string>();
  return deeds.map(({ actor, to, edit, id, isProvisional }, at) => {
    const name = actor === 0 || !now.has('s') ? 's' : `s/c${actor}`;
    const from = now.get(name) ?? '';
    const isNew = from === '';
    const next = isNew ? 'admitted' : (states[to % states.length] as string);
    now.set(name, next);
    return step(at + 1, {
      actor: name,
      kind: name === 's' ? 'session' : 'call',
      ...(isNew && name !== 's' ? { parent: 's', label: `tool${actor}` } : {}),
      from,
      to: next,
      event: isNew ? '' : `event${to}`,
      ...(to === 3 ? { why: `reason ${at}` } : {}),
      edits: [editOf(edit, `e${id}`, isProvisional, at)],
    });
  });
}

function editOf(edit: number, id: string, provisional: boolean, at: number): Edit {
  switch (edit % 7) {
    case 0:
    case 1:
      return { edit: 'add', id, who: 'agent', text: `said ${at}`, provisional };
    case 2:
      return { edit: 'append', id, text: ` and ${at}` };
    case 3:
      return { edit: 'replace', id, text: `instead ${at}`, provisional };
    case 4:
      return { edit: 'settle', id };
    case 5:
      return { edit: 'withdraw', id };
    default:
      return provisional ? { edit: 'settle' } : { edit: 'withdraw' };
  }
}
