export { recover } from './recover.js';
export type {
  Notice,
  NoticeFailure,
  OutcomeCounts,
  RecoveredCall,
  RecoveredCode,
  RecoveredOutcome,
  RecoveredSession,
  RecoverOptions,
  Recovery,
} from './recovery.js';
