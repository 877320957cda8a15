import type { PayloadPolicy } from '../contract/journal.js';
import { digestOf } from './digest.js';

/** What a record keeps of a content: one of them, or nothing. */
export interface KeptPayload {
  /** Under the policy `hash`. */
  readonly digest?: string;
  /** Under the policy `keep`: a text as UTF-8. */
  readonly payload?: Uint8Array;
}

const utf8 = new TextEncoder();
const nothing: KeptPayload = Object.freeze({});

/**
 * What a record keeps of a text or of bytes, under a policy. The bytes are taken as they are, not copied. Of an empty content the
 * payload is empty, which a stored record does not tell from none.
 */
export function payloadUnder(policy: PayloadPolicy, content: string | Uint8Array): KeptPayload {
  switch (policy) {
    case 'keep':
      return { payload: typeof content === 'string' ? utf8.encode(content) : content };
    case 'hash':
      return { digest: digestOf(content) };
    case 'omit':
      return nothing;
  }
}
