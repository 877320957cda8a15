import { InvalidIdError } from './errors.js';

declare const brand: unique symbol;

/** A nominal mark: a plain string is not an id until somebody has checked or minted it. */
export type Brand<Name extends string> = { readonly [brand]: Name };

/** Names one session run: `ses_` and at least one character of `A-Za-z0-9_-`. */
export type SessionId = `ses_${string}` & Brand<'SessionId'>;

/** Names the whole run of a session towards the host (constant for a session): `turn_` and a tail like that of {@link SessionId}. */
export type TurnId = `turn_${string}` & Brand<'TurnId'>;

const shape = /^[A-Za-z0-9_-]{1,200}$/;

function checked(prefix: string, value: unknown): string {
  if (typeof value === 'string' && value.startsWith(prefix) && shape.test(value.slice(prefix.length))) {
    return value;
  }
  throw new InvalidIdError(`${prefix} and 1 to 200 characters of A-Z a-z 0-9 _ -`, value);
}

/**
 * Takes a string that the host brings along as a session's id.
 * @throws {InvalidIdError} when it is no `ses_…`; mint one by leaving `sessionId` out instead.
 */
export function asSessionId(value: string): SessionId {
  return checked('ses_', value) as SessionId;
}

/**
 * Takes a string that the host brings along as a turn id.
 * @throws {InvalidIdError} when it is no `turn_…`.
 */
export function asTurnId(value: string): TurnId {
  return checked('turn_', value) as TurnId;
}
