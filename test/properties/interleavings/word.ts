/** What is wrong with an input by the schema that the tools of random headers have, said without a validator; nothing where it is sound. */
export function wordProblem(value: unknown): string | undefined {
  const { word, count, ...rest } = value as Readonly<Record<string, unknown>>;
  if (typeof word !== 'string') return 'word: expected a string';
  if (count !== undefined && !(Number.isInteger(count) && (count as number) >= 0)) return 'count: expected an integer';
  const [other] = Object.keys(rest);
  return other === undefined ? undefined : `${other}: unknown`;
}

/** Whether arguments, as the model wrote them, may ever reach the code of a tool. */
export function isSound(text: string, hasSchema: boolean): boolean {
  let value: unknown;
  try {
    value = text === '' ? {} : JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !hasSchema || wordProblem(value) === undefined;
}
