/** How a stream may be folded. */
import fc from 'fast-check';
import {
  type ConversationMode,
  type ConversationPolicies,
  conversationModes,
  policyValues,
} from '../../../conversation/index.js';

/** A way to fold. */
export interface Way {
  readonly mode: ConversationMode;
  readonly policies: Partial<ConversationPolicies>;
}

/** Every mode; every single policy, alone and with others. */
export const ways: fc.Arbitrary<Way> = fc.record({
  mode: fc.constantFrom('tolerant', 'tolerant', ...conversationModes),
  policies: fc.record(
    {
      nested: fc.constantFrom(...policyValues.nested),
      onDoomedCommit: fc.constantFrom(...policyValues.onDoomedCommit),
      onFailure: fc.constantFrom(...policyValues.onFailure),
      onCancel: fc.constantFrom(...policyValues.onCancel),
    },
    { requiredKeys: [] },
  ),
});
