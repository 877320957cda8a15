import type { InspectionEvent, Observer } from 'xstate';

/** Who looks on: an observer of XState inspection events, as stock inspectors hand out. A throw in it harms nobody. */
export type InspectionObserver = Observer<InspectionEvent> | ((event: InspectionEvent) => void);
