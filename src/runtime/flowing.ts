/** What the machine says of output that only goes on to the host: asked once, not for every piece. */
import { type Effect, type SessionSnapshot, sessionStepper } from '../../machines/index.js';

/** Where output changes nothing and is only delivered; `undefined` if there is no such state. */
export const flowing = sessionSnapshotInWhichOutputFlows();

function sessionSnapshotInWhichOutputFlows(): SessionSnapshot | undefined {
  const { snapshot } = sessionStepper.initial(undefined as never);
  const candidate = sessionStepper.step(sessionStepper.step(snapshot, 'connected').snapshot, 'text').snapshot;
  const flows = (['text', 'audio'] as const).every((type) => {
    const stepped = sessionStepper.step(candidate, type);
    return stepped.snapshot === candidate && deliversOnly(stepped.effects);
  });
  return flows ? candidate : undefined;
}

/** Whether a step asks for nothing but a delivery. */
export function deliversOnly(effects: readonly Effect[]): boolean {
  return effects.length === 1 && (effects[0] as Effect).type === 'deliver';
}
