/** The inspector's page: takes in what the server says, and draws once per frame what somebody looks at. */
import { finishDrawing } from './after-drawing.js';
import { ConversationView } from './conversation.js';
import { DetailsView } from './details.js';
import { EventList } from './event-list.js';
import { Feed } from './feed.js';
import { Header } from './header.js';
import { listen } from './keyboard.js';
import { SequenceView } from './sequence.js';
import { StatechartView } from './statechart.js';
import { Tabs } from './tabs.js';
import { TimeView } from './time.js';
import { TreeView } from './tree-view.js';
import { type View, Viewer } from './viewer.js';

/** Steps that a list looks at in one frame. */
const stepsPerFrame = 10_000;
/** Frames without a move before the address says where it went: a browser takes only so many changes of it. */
const framesToSettle = 20;

let isAsked = false;
let settling = 0;
let told = '';
let passedOver = 0;
let drawn = { last: 0, moves: -1, half: 0 };

const viewer = new Viewer(ask);
const feed = new Feed(viewer, ask);
const tabs = new Tabs(viewer, ask);
const header = new Header(viewer, () => feed.connect());
const events = new EventList(viewer, ask);
const sequence = new SequenceView(viewer, ask);
const time = new TimeView(viewer);
/** While steps come faster than anybody reads, a frame draws one half of these and the next one the other. */
const halves: readonly (readonly View[])[] = [
  [tabs, header, events, sequence, time],
  [
    new TreeView(viewer, ask),
    new StatechartView(viewer, ask),
    new DetailsView(viewer, ask),
    new ConversationView(viewer, ask),
  ],
];
/** So many steps in one frame are more than anybody reads. */
const rush = 5;

function ask(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(draw);
}

function draw(): void {
  isAsked = false;
  let isMore = feed.take();
  isMore = !viewer.matches.advance(viewer.run, stepsPerFrame) || isMore;
  isMore = !sequence.advance(stepsPerFrame) || isMore;
  // A long run that comes at once is taken in first, and drawn now and then.
  if (!feed.isBehind || ++passedOver > 6) {
    passedOver = 0;
    isMore = drawViews() || isMore;
  } else header.draw();
  finishDrawing();
  if (viewer.hash !== told) {
    told = viewer.hash;
    settling = framesToSettle;
  }
  if (settling > 0 && --settling === 0) settle();
  if (isMore || settling > 0) ask();
}

/** Draws all views, or one half of them; `true` where the other one is left. */
function drawViews(): boolean {
  const { moves, isFollowing, run } = viewer;
  const isRushed = isFollowing && moves === drawn.moves && run.last - drawn.last > rush;
  drawn = { last: run.last, moves, half: 1 - drawn.half };
  for (const [at, views] of halves.entries()) if (!isRushed || at === drawn.half) for (const view of views) view.draw();
  return isRushed;
}

/** Writes where we are into the address and the title, once nobody moves any more. */
function settle(): void {
  if (location.hash !== viewer.hash && `${location.hash}#` !== viewer.hash)
    history.replaceState(null, '', `${location.pathname}${location.search}${viewer.hash}`);
  const where = viewer.isFollowing ? [] : [`step ${viewer.n}`];
  const whose = viewer.actor === undefined ? [] : [viewer.actor.label];
  document.title = [...whose, ...where, viewer.run.opening?.title ?? 'commitpoint'].join(' · ');
}

listen(viewer, {
  closeFindings: () => header.close(),
  clearSearch: () => events.clear(),
  toggleOnly: () => events.toggleOnly(),
  toggleFollow: () => time.toggle(),
  focus: (pane) => tabs.focus(pane),
});
addEventListener('hashchange', () => viewer.read(location.hash));
viewer.read(location.hash);
feed.connect();
