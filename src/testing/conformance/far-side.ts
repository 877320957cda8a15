import type { BidiProvider } from '../../contract/provider.js';

/** What a far side is made to do about connections and results. */
export type FarSideSituation =
  | 'ordinary'
  /** It refuses the connection, for the reason of the plan. */
  | 'refuses_connection'
  /** It never answers whoever connects. */
  | 'leaves_connection_unanswered'
  /** It refuses every result, for the reason of the plan. */
  | 'refuses_results'
  /** It takes results and says nothing more: neither that it took them nor anything else. */
  | 'leaves_results_unanswered';

/** What a far side does in one case. */
export interface FarSidePlan {
  readonly situation: FarSideSituation;
  /** Turns of the model, in order: each begins when the user has sent a text. */
  readonly turns: readonly ConformanceTurn[];
  /** Why it refuses, where it does. */
  readonly reason: string;
}

/** One turn of the model. */
export interface ConformanceTurn {
  /** What it says first. */
  readonly text?: string;
  /** The tools that it calls then. */
  readonly calls?: readonly ConformanceCall[];
  /** What it says when every call is answered. */
  readonly after?: string;
  /** It does not end after its text, but waits to be interrupted. */
  readonly held?: boolean;
}

/** A tool call that the far side makes. */
export interface ConformanceCall {
  readonly id: string;
  /** `look` or `book`, which the suite declares. */
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

/** A result, as the far side got it. */
export interface ReceivedResult {
  readonly id: string;
  readonly output: string;
  readonly isError: boolean;
}

/** The other end of a driver in one case, in the hand of the suite: a fake service, or a script. */
export interface ConformanceFarSide {
  /** The driver, pointed at this far side. */
  readonly provider: BidiProvider;
  /** Resolves when a driver has asked for a connection. */
  readonly asked: Promise<void>;
  /** The user speaks over the model: its turn is cut. `stale`: what the wire still carries of it, where it can carry any. */
  interrupt(stale?: string): void;
  /** The wire carries the calls of the turn once more. Absent where a wire cannot. */
  repeatCalls?(): void;
  /** The far side takes calls back. Absent where it cannot. */
  withdraw?(...ids: readonly string[]): void;
  /** The results that it got, in order. */
  readonly results: readonly ReceivedResult[];
  /** Resolves when it has got so many. */
  received(count: number): Promise<void>;
  /** It ends the connection, in order and with a reason. */
  end(reason: string): void;
  /** The connection breaks. */
  cut(): void;
  /** Resolves when no connection is open any more. */
  gone(): Promise<void>;
  /** Lets go of everything. */
  dispose(): Promise<void>;
}
