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

const viewer = new Viewer(ask);
const feed = new Feed(viewer, ask);
const tabs = new Tabs(viewer, ask);
const header = new Header(viewer, () => feed.connect());
const events = new EventList(viewer, ask);
const sequence = new SequenceView(viewer, ask);
const time = new TimeView(viewer);
const views: readonly View[] = [
  tabs,
  header,
  new TreeView(viewer, ask),
  events,
  new StatechartView(viewer, ask),
  sequence,
  new DetailsView(viewer, ask),
  new ConversationView(viewer, ask),
  time,
];

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
    for (const view of views) view.draw();
  } else header.draw();
  finishDrawing();
  if (viewer.hash !== told) {
    told = viewer.hash;
    settling = framesToSettle;
  }
  if (settling > 0 && --settling === 0) settle();
  if (isMore || settling > 0) ask();
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
