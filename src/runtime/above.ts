import type { CloseReport } from '../contract/lifecycle.js';
import type { ActorSystem } from './actors.js';
import type { Delivery, DeliveryCounter } from './delivery.js';
import type { ReportIds } from './far-event.js';

/** Who a session belongs to, where that is not the host alone. Both are called within a step of the session. */
export interface Above {
  /** Under which the session's actor is shown. */
  readonly system: ActorSystem;
  /** What the session reports into, where that is not a buffer of its own. */
  makeDelivery(ids: ReportIds, counter: DeliveryCounter | undefined): Delivery;
  /** The session is closed; nothing happens to it any more. */
  ended(report: CloseReport): void;
}

/** How the connect of a session ended. Called within the step, before the first event is read. */
export interface StartAnswer {
  resolve(): void;
  reject(error: unknown): void;
}
