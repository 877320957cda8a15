/** What a line after the first may hold: by the key that says what kind of step it is. */
import {
  anything,
  choice,
  duration,
  either,
  fields,
  list,
  milliseconds,
  object,
  type Rule,
  text,
  variants,
} from './rule.js';

const input: Rule = variants('type', {
  text: needing({ type: text, text }, 'text'),
  audio: needing({ type: text, data: text, mediaType: text }, 'data', 'mediaType'),
});

function needing(rules: Readonly<Record<string, Rule>>, ...required: readonly string[]): Rule {
  return fields(rules, required);
}

function answer(key: string, good: string, bad: string): Rule {
  return variants(key, {
    [good]: fields({ [key]: text }),
    [bad]: fields({ [key]: text, message: text }),
  });
}

/** By the key that every step of the kind has; no step has two of them. */
export const stepRules: Readonly<Record<string, Rule>> = {
  far: fields({ far: anything }),
  far_stream: answer('far_stream', 'end', 'fail'),
  connect: answer('connect', 'resolve', 'reject'),
  tool: either('resolve', fields({ tool: text, resolve: text }), 'reject', fields({ tool: text, reject: text })),
  publish: either(
    'accept',
    fields({ publish: text, accept: choice(true) }),
    'reject',
    fields({ publish: text, reject: text }),
  ),
  close: answer('close', 'resolve', 'reject'),
  flush: answer('flush', 'resolve', 'reject'),
  host: variants('host', {
    send: needing({ host: text, input }, 'input'),
    close: fields({ host: text }),
    abort: fields({ host: text, reason: text }),
    interrupt: fields({ host: text, playedMs: duration }),
    approve: needing({ host: text, id: text }, 'id'),
    deny: needing({ host: text, id: text, message: text }, 'id'),
    pause: fields({ host: text }),
    resume: fields({ host: text }),
  }),
  clock: fields({ clock: milliseconds }),
  expect: fields({ expect: list(object) }),
};
