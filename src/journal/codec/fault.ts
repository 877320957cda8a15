/**
 * What is wrong with the bytes of a record, before it is known which journal
 * they are from. Thrown within the codec and by what reads with it, never out of
 * a store: a host gets a `JournalDamagedError`, which adds the place.
 */
export class RecordFault {
  constructor(
    readonly problem: string,
    /** In the bytes that were handed in. */
    readonly at: number,
  ) {}
}
