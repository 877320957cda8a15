/** What the parts of a run throw. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** What the host aborts with. */
export class Enough extends Error {
  override readonly name = 'Enough';
}
