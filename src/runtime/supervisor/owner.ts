import type { SupervisorEventType } from '../../../machines/index.js';
import type { CloseReason } from '../../contract/lifecycle.js';
import type { ActorSystem } from '../actors.js';
import type { PlacePool } from '../place-pool.js';
import type { SupervisorSettings } from './options.js';

/** What happens to a child. */
export interface ChildEvent<Child> {
  readonly type: SupervisorEventType;
  readonly child: Child;
  /** Why an incarnation, or its session, ended. */
  readonly reason?: CloseReason;
}

/** A supervisor, as its children see it. */
export interface Owner<Child> {
  readonly settings: SupervisorSettings;
  readonly system: ActorSystem;
  readonly pool: PlacePool;
  happens(event: ChildEvent<Child>): void;
}
