import type { ConversationError } from '../../contract/errors.js';
import type { ConversationState } from '../../conversation/index.js';
import type { StreamActor } from './actors.js';
import type { Consumption } from './consumption.js';
import { RequestEnds } from './request-ends.js';

/** One stream of a conversation that lives. */
export class StreamLife {
  readonly ends = new RequestEnds();
  /** The source that it reads. */
  consumption: Consumption | undefined;
  /** Under `strict`: what has failed it. */
  failure: ConversationError | undefined;
  isClosed = false;
  /** Where it stood when it was closed. */
  lastPhase: ConversationState['phase'] = 'awaiting_init';

  constructor(
    /** 0 for the first. */
    readonly number: number,
    readonly actor: StreamActor,
  ) {}
}
