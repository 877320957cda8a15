export { createSupervisor } from './create-supervisor.js';
export type {
  Backoff,
  Incarnation,
  RestartAttempt,
  RestartOptions,
  SupervisedSessionOptions,
  SupervisorOptions,
} from './options.js';
export type { ChildReport, IncarnationEnd, ShutdownReport, SupervisedCloseReport } from './report.js';
export type { SupervisorStats } from './stats.js';
export { SupervisedSession } from './supervised-session.js';
export { Supervisor, type SupervisorActorRef } from './supervisor.js';
