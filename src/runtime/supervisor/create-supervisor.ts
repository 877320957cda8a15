import { type SupervisorOptions, settingsOf } from './options.js';
import { Supervisor } from './supervisor.js';
import { SupervisorRuntime } from './supervisor-runtime.js';

/**
 * Makes a supervisor, which runs until its `shutdown`.
 *
 * @throws {InvalidInputError} for an option that is none, {@link InvalidIdError} for an id that is none
 * @throws {XStateVersionError} when the XState that is installed does not step as this library needs it
 */
export function createSupervisor(options: SupervisorOptions = {}): Supervisor {
  return new Supervisor(new SupervisorRuntime(settingsOf(options)));
}
