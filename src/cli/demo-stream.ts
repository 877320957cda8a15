/**
 * The response stream that `commitpoint demo` folds: what a server tells a
 * client of the same conversation. Its first attempt at an answer is rolled
 * back, the second one is committed.
 */
export const demoStream = `
{"init":{"conversationId":"booking","requestId":"r1"}}
{"clientActions":{"actions":[{"createTask":{"task":{"id":"t1","description":"Book a room"}}}]}}
{"clientActions":{"actions":[{"addMessagesToTask":{"taskId":"t1","messages":[{"id":"m1","userQuery":{"query":"A room for nine, please."}}]}}]}}
{"clientActions":{"actions":[{"beginTransaction":{}}]}}
{"clientActions":{"actions":[{"addMessagesToTask":{"taskId":"t1","messages":[{"id":"m2","agentOutput":{"text":"Room 9 is "}}]}}]}}
{"clientActions":{"actions":[{"appendToMessageContent":{"taskId":"t1","message":{"id":"m2","agentOutput":{"text":"yours."}},"mask":"agentOutput.text"}}]}}
{"clientActions":{"actions":[{"rollbackTransaction":{}}]}}
{"clientActions":{"actions":[{"beginTransaction":{}}]}}
{"clientActions":{"actions":[{"addMessagesToTask":{"taskId":"t1","messages":[{"id":"m2","agentOutput":{"text":"Room 7 "}}]}}]}}
{"clientActions":{"actions":[{"appendToMessageContent":{"taskId":"t1","message":{"id":"m2","agentOutput":{"text":"it is."}},"mask":"agentOutput.text"}}]}}
{"clientActions":{"actions":[{"commitTransaction":{}}]}}
{"finished":{"done":{}}}
`;
