/** What an append takes from a patch from outside: nothing but the texts that its paths lead to. */
import type { FieldPlan, Fields } from '../message/plan.js';
import { refuse } from '../message/refuse.js';
import { adoptString } from '../message/scalar.js';
import type { ResolvedMask, ResolvedPath } from './path.js';

/**
 * The texts of a plain mask, one for each of its paths; empty where the patch has none.
 *
 * @throws {InvalidInputError} where the patch is not what the schema says
 */
export function deltasOf({ paths }: ResolvedMask, patch: Fields): readonly string[] {
  const [path] = paths;
  if (path !== undefined && paths.length === 1) return [deltaOf(path, patch)];
  const deltas: string[] = [];
  for (const path of paths) deltas.push(deltaOf(path, patch));
  return deltas;
}

function deltaOf({ steps }: ResolvedPath, patch: Fields): string {
  let value: unknown = patch;
  for (const field of steps) {
    value = memberOf(value, field);
    if (value === undefined || value === null) return '';
  }
  return adoptString(steps.at(-1)?.name ?? 'mask', value);
}

function memberOf(message: unknown, { name, oneof }: FieldPlan): unknown {
  if (typeof message !== 'object' || message === null) refuse(name, 'a message around it', message);
  if (oneof === undefined) return (message as Fields)[name];
  const group = (message as Fields)[oneof];
  if (group === undefined || group === null) return undefined;
  if (typeof group !== 'object') refuse(oneof, 'a case and its value', group);
  const { case: active, value } = group as { readonly case: unknown; readonly value: unknown };
  return active === name ? value : undefined;
}
