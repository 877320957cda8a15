import { anyRun, matchesText } from '../../scenario/text-pattern.js';

/** Whether two texts are the same as far as anybody can tell: either may come from an `expect`, where `…` stands for any run of characters. */
export function alike(one: string, other: string): boolean {
  return one === other || matchesText(one, other) || matchesText(other, one);
}

/** Whether a text mentions a word, as far as anybody can tell. */
export function mayMention(text: string, word: string): boolean {
  return text.includes(word) || text.includes(anyRun);
}
