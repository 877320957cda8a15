/** The supervisor as an XState actor: custom logic over the machine's table, moved by the supervisor alone (A1 of `../actors.ts`). */
import type { SnapshotFrom } from 'xstate';
import { type SupervisorEventType, type supervisorMachine, supervisorStepper } from '../../../machines/index.js';
import { type ActorSystem, LivingActor, living, makeRoot } from '../actors.js';

const logic = living(supervisorStepper);

/** Its children are not in its snapshot: that would be copied with each of them. They have it as their parent. */
export class SupervisorActor extends LivingActor<typeof supervisorMachine> {
  /** @throws {XStateVersionError} when the XState that is installed does not step as this library needs it */
  static create(system: ActorSystem, id: string): SupervisorActor {
    const actor = makeRoot(system, ({ parent }) => new SupervisorActor(logic, { parent, id } as never));
    actor.start();
    return actor;
  }

  step(type: SupervisorEventType, next: SnapshotFrom<typeof supervisorMachine>): void {
    this.advance(supervisorStepper.event(type), next);
  }
}
