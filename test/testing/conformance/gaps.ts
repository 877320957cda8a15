/** What drivers are known not to keep, each with the reason. A gap that is none any more fails the run. */
export const gaps = {
  scripted: {
    connections_are_apart: 'a scripted driver serves one session: its script is its far side',
  },
  gemini: {
    result_refused_rejects: 'the wire has no refusal of a result: a bad one ends the connection, which is another case',
  },
  openai: {},
} as const satisfies Record<string, Record<string, string>>;
