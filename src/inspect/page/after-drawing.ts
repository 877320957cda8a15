/** What needs the layout is done once all views have written what they say, so that a frame is laid out once. */

let waiting: (() => void)[] = [];

/** Does something once everything is drawn. */
export function afterDrawing(deed: () => void): void {
  waiting.push(deed);
}

/** Does what waits. */
export function finishDrawing(): void {
  const deeds = waiting;
  waiting = [];
  for (const deed of deeds) deed();
}
