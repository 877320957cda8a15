/** What differs between the models behind one protocol. */
export interface ModelTraits {
  /** Whether tools have to be declared `BLOCKING` to be so: from 3.8 on a tool that says nothing does not block. */
  readonly declaresBlocking: boolean;
  /** How text of the user goes out once the session stands: as content of the conversation, or as realtime text where content is taken for the history alone. */
  readonly text: 'content' | 'realtime';
  /** How history goes out: announced in the set-up, or as content that asks for no answer. */
  readonly history: 'initial' | 'content';
}

/**
 * What is known of a model by its name. A name that says nothing (an alias, a
 * tuned model, a local server) is taken for the oldest kind, which every
 * service understands.
 */
export function traitsOf(model: string): ModelTraits {
  const version = /(?:^|\/)gemini-(?:live-)?(\d+)(?:\.(\d+))?(?=$|[^\d.])/.exec(model);
  const major = Number(version?.[1] ?? 0);
  const minor = Number(version?.[2] ?? 0);
  if (major < 3) return { declaresBlocking: false, text: 'content', history: 'content' };
  const current = major > 3 || minor >= 8;
  return { declaresBlocking: current, text: current ? 'content' : 'realtime', history: 'initial' };
}
