/**
 * The story that `commitpoint demo` tells: a booking assistant that is spoken
 * over. One tool is interrupted while it runs, one is past its commit point.
 */
export const demoScenario = `
{"scenario":"A booking assistant is spoken over","tools":{"find_rooms":{"effect":"read"},"book_room":{"effect":"irreversible","input":{"type":"object","properties":{"room":{"type":"integer"}},"required":["room"]}}},"provider":{"holdPublish":true}}
{"host":"send","input":{"type":"text","text":"Book me a room for nine people."}}
{"far":{"type":"text","text":"Let me look. "}}
{"far":{"type":"tool_call","id":"c1","name":"book_room","arguments":"{\\"room\\":7}"}}
{"clock":400}
{"far":{"type":"tool_call","id":"c2","name":"find_rooms","arguments":"{\\"seats\\":9}"}}
{"clock":250}
{"tool":"c1","resolve":"room 7 is booked"}
{"far":{"type":"text","text":"I have taken room 7, and I am looking for a larger"}}
{"clock":120}
{"host":"send","input":{"type":"text","text":"Stop, seven is fine."}}
{"far":{"type":"interrupted"}}
{"clock":80}
{"publish":"c1","accept":true}
{"tool":"c2","resolve":"rooms 9, 12"}
{"far":{"type":"text","text":"Room 7 it is."}}
{"far":{"type":"turn_complete"}}
{"host":"close"}
`;
