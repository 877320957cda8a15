/** Every cause that an error of ours can have. */
export type ErrorCode =
  | 'bad_frame'
  | 'call_denied'
  | 'call_interrupted'
  | 'call_not_waiting'
  | 'call_timeout'
  | 'call_withdrawn'
  | 'conformance'
  | 'connect_aborted'
  | 'connect_failed'
  | 'connect_timeout'
  | 'conversation'
  | 'conversation_closed'
  | 'driver_contract'
  | 'illegal_order'
  | 'invalid_id'
  | 'invalid_input'
  | 'journal_closed'
  | 'journal_damaged'
  | 'journal_failed'
  | 'journal_format'
  | 'journal_locked'
  | 'not_supported'
  | 'recording'
  | 'response_stream'
  | 'result_refused'
  | 'result_unknown'
  | 'scenario'
  | 'session_close_timeout'
  | 'session_ended'
  | 'session_restarting'
  | 'socket_full'
  | 'stream_busy'
  | 'supervisor_limit'
  | 'supervisor_stopping'
  | 'unreadable_file'
  | 'xstate_version';

const family = Symbol.for('commitpoint.error');

/**
 * The family of all errors that this library makes. A host may hold two copies
 * of the library, or get an error from another realm: know one by
 * {@link isCommitpointError} and by its `code`, not by `instanceof`.
 */
export abstract class CommitpointError extends Error {
  /** The cause, from a closed list. */
  abstract readonly code: ErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    Object.defineProperty(this, family, { value: true });
  }
}

/** Whether a value is an error of this library, whichever copy of it made it. */
export function isCommitpointError(value: unknown): value is CommitpointError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[family] === true;
}

/** An id that the host handed in has not the shape of one. Mend the id, or leave it out and one is minted. */
export class InvalidIdError extends CommitpointError {
  readonly code = 'invalid_id';
  constructor(expected: string, found: unknown) {
    super(`invalid id: expected ${expected}, found ${show(found)}`);
  }
}

/** What the host handed to a session is not what the contract says. Nothing was passed on; mend the argument. */
export class InvalidInputError extends CommitpointError {
  readonly code = 'invalid_input';
  constructor(what: string, expected: string, found: unknown) {
    super(`invalid ${what}: expected ${expected}, found ${show(found)}`);
  }
}

/** The driver did not connect within `connectTimeoutMs`. A connection that comes later is closed. Start again, or raise the limit. */
export class ConnectTimeoutError extends CommitpointError {
  readonly code = 'connect_timeout';
  constructor(readonly timeoutMs: number) {
    super(`connect timed out: no connection within ${timeoutMs} ms`);
  }
}

/** The host closed the session while it was connecting, so there is none to give. */
export class ConnectAbortedError extends CommitpointError {
  readonly code = 'connect_aborted';
  constructor() {
    super('session closed while connecting');
  }
}

/**
 * A driver could not connect: the service refused, went away, or did not answer in time. The message holds the service's own
 * reason and never a key. `status`: of the HTTP answer, where the upgrade was refused; `closeCode`: of the close frame, where
 * the connection was taken first. Mend what the reason names, else try again later.
 */
export class ConnectFailedError extends CommitpointError {
  readonly code = 'connect_failed';
  readonly status: number | undefined;
  readonly closeCode: number | undefined;
  constructor(
    service: string,
    readonly reason: string,
    details: { readonly status?: number | undefined; readonly closeCode?: number | undefined } = {},
  ) {
    super(`connect to ${service} failed: ${reason}`);
    this.status = details.status;
    this.closeCode = details.closeCode;
  }
}

/** The driver's `close()` did not settle within `closeTimeoutMs`. The session has ended all the same; the driver may still hold its socket. */
export class SessionCloseTimeoutError extends CommitpointError {
  readonly code = 'session_close_timeout';
  constructor(readonly timeoutMs: number) {
    super(`close timed out: the driver did not close within ${timeoutMs} ms`);
  }
}

/** The session has ended, for `reason`: nothing more can be sent. Start another session. */
export class SessionEndedError extends CommitpointError {
  readonly code = 'session_ended';
  constructor(readonly reason: string) {
    super(`session ended: ${reason}`);
  }
}

/** Why a tool's signal was aborted: its code ran longer than `timeoutMs`. The far side was sent an error result. */
export class CallTimeoutError extends CommitpointError {
  readonly code = 'call_timeout';
  constructor(
    readonly callId: string,
    readonly timeoutMs: number,
  ) {
    super(`call ${callId} timed out after ${timeoutMs} ms`);
  }
}

/** Why a tool's signal was aborted: the user interrupted, and the tool's policy is `cancel`. */
export class CallInterruptedError extends CommitpointError {
  readonly code = 'call_interrupted';
  constructor(readonly callId: string) {
    super(`call ${callId} was interrupted`);
  }
}

/** Why a tool's signal was aborted: the far side withdrew the call. */
export class CallWithdrawnError extends CommitpointError {
  readonly code = 'call_withdrawn';
  constructor(readonly callId: string) {
    super(`call ${callId} was withdrawn by the far side`);
  }
}

/** `approve` or `deny` named a call that does not wait for approval; nothing changed. */
export class CallNotWaitingError extends CommitpointError {
  readonly code = 'call_not_waiting';
  constructor(
    readonly callId: string,
    found: string,
  ) {
    super(`call ${callId} does not wait for approval: expected state awaiting_approval, found ${found}`);
  }
}

/** The driver has no such method, so the host's wish cannot be passed on; nothing changed. */
export class NotSupportedError extends CommitpointError {
  readonly code = 'not_supported';
  constructor(what: string, where: string) {
    super(`${what} is not supported by ${where}`);
  }
}

/** A driver gave something that the contract does not allow. Report it to whoever wrote the driver. */
export class DriverContractError extends CommitpointError {
  readonly code = 'driver_contract';
  constructor(expected: string, found: unknown) {
    super(`driver broke the contract: expected ${expected}, found ${show(found)}`);
  }
}

/** A scenario file that cannot be run. `line` counts from 1. Mend the file at that line. */
export class ScenarioError extends CommitpointError {
  readonly code = 'scenario';
  constructor(
    readonly file: string,
    readonly line: number,
    readonly problem: string,
  ) {
    super(`${file}:${line}: ${problem}`);
  }
}

/** A recording of wire frames that cannot be read. `line` counts from 1. Mend the file at that line. */
export class RecordingError extends CommitpointError {
  readonly code = 'recording';
  constructor(
    readonly file: string,
    readonly line: number,
    readonly problem: string,
  ) {
    super(`${file}:${line}: ${problem}`);
  }
}

/**
 * A frame of a response stream that cannot be read, or a longer one than was allowed. Nothing behind it was read: treat it as
 * the end of the connection, and ask again if the stream had not finished.
 */
export class BadFrameError extends CommitpointError {
  readonly code = 'bad_frame';
  /** What is wrong, without the place. */
  readonly problem: string;
  constructor(
    /** How many events the stream gave before it: its place among them, from 0. */
    readonly index: number,
    /** Where it begins, in bytes of the source. */
    readonly offset: number,
    readonly expected: string,
    readonly found: string,
    /** Its line, from 1, where the format has one frame a line. */
    readonly line?: number,
  ) {
    const problem = `expected ${expected}, found ${found}`;
    super(`bad frame ${index} at ${line === undefined ? '' : `line ${line}, `}byte ${offset}: ${problem}`);
    this.problem = problem;
  }
}

/**
 * A conversation in mode `strict` came upon something that it tells of: its stream has failed, and nothing behind it is read.
 * The diagnostic is the last of the list. Look at what the server sent, or fold it in mode `tolerant`.
 */
export class ConversationError extends CommitpointError {
  readonly code = 'conversation';
  constructor(
    /** What was told of. */
    readonly diagnostic: {
      readonly code: string;
      readonly event: number;
      readonly action?: number;
      readonly detail: string;
    },
  ) {
    const { code, event, action, detail } = diagnostic;
    const where = action === undefined ? `event ${event}` : `event ${event}, action ${action}`;
    super(`${code} at ${where}: ${detail}`);
  }
}

/** The host has closed the conversation, or this stream of it: nothing more is taken. What it came to can still be read. Make another conversation. */
export class ConversationClosedError extends CommitpointError {
  readonly code = 'conversation_closed';
  constructor(options?: ErrorOptions) {
    super('conversation closed: the host closed it, or aborted its signal', options);
  }
}

/** The stream is reading a source already. The other source was not touched: open another stream for it, or wait for the first to end. */
export class StreamBusyError extends CommitpointError {
  readonly code = 'stream_busy';
  constructor() {
    super('stream busy: expected one source at a time, found a second one while the first is read');
  }
}

/**
 * A response stream was asked for something that no client could fold without a diagnostic, or that it has no room for. Nothing of
 * it was written, and the stream goes on as it stood. `problem` says what to do next:
 *
 * - `finished`: it was finished; make another one for the next request
 * - `transaction_open`: transactions do not nest, and while one is open only it is written to; finish after it
 * - `transaction_over`: the transaction has ended; do not keep it beyond its function
 * - `refused`: a client would tell of the action, by `diagnostic`: an unknown task or message, an id that is taken, another member of
 *   a oneof; mend the action
 * - `full`: as many events as may wait are unread; wait for what each write returns
 * - `reader_left`: whoever read the events has left; stop writing
 * - `second_reader`: the events have one reader, and had it
 */
export class ResponseStreamError extends CommitpointError {
  readonly code = 'response_stream';
  constructor(
    readonly problem:
      | 'finished'
      | 'transaction_open'
      | 'transaction_over'
      | 'refused'
      | 'full'
      | 'reader_left'
      | 'second_reader',
    detail: string,
    /** With `refused`: the code of the diagnostic that a client would tell of. */
    readonly diagnostic?: string,
  ) {
    super(`response stream: ${detail}`);
  }
}

/** The far side did not take the result of a call. It was not delivered; sending it again is of no use. */
export class ResultRefusedError extends CommitpointError {
  readonly code = 'result_refused';
  constructor(
    readonly callId: string,
    message: string,
  ) {
    super(`result of call ${callId} refused: ${message}`);
  }
}

/** Whether the far side took the result of a call cannot be known: it was written, and nothing told what became of it. Do not take it for delivered, nor for refused. */
export class ResultUnknownError extends CommitpointError {
  readonly code = 'result_unknown';
  constructor(
    readonly callId: string,
    message: string,
  ) {
    super(`result of call ${callId} may or may not have arrived: ${message}`);
  }
}

/**
 * Recorded events came in an order in which no session gives them, or no server sends them. `problems`: one line each. Look at how
 * they were recorded; else mend what sent them, or report it.
 */
export class IllegalOrderError extends CommitpointError {
  readonly code = 'illegal_order';
  constructor(readonly problems: readonly string[]) {
    super(`illegal order of events: ${problems.join('; ')}`);
  }
}

/** The XState that is installed does not step as the range that we declare does. Install a version of the peer range. */
export class XStateVersionError extends CommitpointError {
  readonly code = 'xstate_version';
  constructor(expected: string, found: string) {
    super(`xstate does not behave as expected: expected ${expected}, found ${found}`);
  }
}

/** What a thrown value says, whatever was thrown; never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown as { message: unknown };
      if (typeof message === 'string') return message;
    }
    return String(thrown);
  } catch {
    return 'an error that cannot be printed';
  }
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return isList(value) ? 'an array' : `a value of type ${typeof value}`;
}

function isList(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    // a revoked proxy
    return false;
  }
}

/** A file that cannot be read. Name another, or mend its rights. */
export class UnreadableFileError extends CommitpointError {
  readonly code = 'unreadable_file';
  constructor(
    readonly file: string,
    cause: unknown,
  ) {
    super(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Something was appended to a journal that was closed. Open it again; what was appended before the close is in it. */
export class JournalClosedError extends CommitpointError {
  readonly code = 'journal_closed';
  constructor() {
    super('the journal is closed: nothing can be appended');
  }
}

/**
 * A journal cannot be written any more: the disk is full, the file is gone, too much waits to be written. What was flushed
 * before is safe. Mend the cause (`cause` says what the system said), open the journal again, and recover.
 */
export class JournalFailedError extends CommitpointError {
  readonly code = 'journal_failed';
  constructor(where: string, cause: unknown) {
    super(`the journal ${where} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/** Another process, or another journal of this one, has the journal open to write. Close that one first; reading needs no lock. */
export class JournalLockedError extends CommitpointError {
  readonly code = 'journal_locked';
  constructor(
    readonly path: string,
    holder: string,
  ) {
    super(`the journal ${path} is being written by ${holder}; one writer at a time`);
  }
}

/**
 * A journal holds something that is no record where one should be. `offset`: bytes from the beginning, or the row; the
 * records before it are sound, and nothing behind it is to be trusted. Keep the file for whoever finds out why.
 */
export class JournalDamagedError extends CommitpointError {
  readonly code = 'journal_damaged';
  constructor(
    where: string,
    readonly offset: number,
    problem: string,
  ) {
    super(`the journal ${where} is damaged at ${offset}: ${problem}`);
  }
}

/** What was opened as a journal is none, or one of a newer format than this version reads. */
export class JournalFormatError extends CommitpointError {
  readonly code = 'journal_format';
  constructor(where: string, expected: string, found: string) {
    super(`${where} is no journal that can be read: expected ${expected}, found ${found}`);
  }
}

/** More bytes wait to leave the socket than may. The input was not sent: leave live audio out, or send it again once the network keeps up. */
export class SocketFullError extends CommitpointError {
  readonly code = 'socket_full';
  constructor(
    readonly waitingBytes: number,
    readonly limit: number,
  ) {
    super(`socket full: ${waitingBytes} bytes wait to be sent, where at most ${limit} may`);
  }
}

/** A driver does not do what the contract promises, or a gap that was listed for it is none any more. `caseName` says which promise. */
export class ConformanceError extends CommitpointError {
  readonly code = 'conformance';
  constructor(
    readonly caseName: string,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`${caseName}: ${problem}`, options);
  }
}

/** The session is between two incarnations: this one went nowhere. Wait for `restarted` on `lifecycle$`, and ask again if it still makes sense. */
export class SessionRestartingError extends CommitpointError {
  readonly code = 'session_restarting';
  constructor(
    readonly childId: string,
    /** Why the last incarnation ended. */
    readonly reason: string,
  ) {
    super(`session ${childId} is restarting: its last incarnation ended with ${reason}`);
  }
}

/** A supervisor owns as many sessions or conversations as it may. Nothing was started, and nothing waits: end one, or raise the limit. */
export class SupervisorLimitError extends CommitpointError {
  readonly code = 'supervisor_limit';
  constructor(
    readonly what: 'sessions' | 'conversations',
    readonly limit: number,
  ) {
    super(`supervisor limit: ${limit} ${what} live, and no more may`);
  }
}

/** A supervisor that is shutting down, or has stopped, starts nothing, and its sessions take nothing new. Make another supervisor. */
export class SupervisorStoppingError extends CommitpointError {
  readonly code = 'supervisor_stopping';
  constructor(readonly supervisorId: string) {
    super(`supervisor ${supervisorId} is shutting down: nothing new is taken`);
  }
}
