/** What is asked of the page from inside of it: expressions for `evaluate`, which know a browser's globals. */

/** Listens, before anything else runs, to what must not happen and to what is measured. */
export const watch = `
  globalThis.violations = [];
  globalThis.shifts = [];
  document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      shifts.push({
        value: entry.value,
        byHand: entry.hadRecentInput,
        what: entry.sources.map(({ node }) => (node?.id || node?.className || node?.nodeName || '?')),
      });
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** From here on counts how long each frame takes. */
export const startFrames = `
  globalThis.frames_ = [];
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  (() => {
    let last = performance.now();
    const tick = (now) => {
      frames_.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  })();
`;

/** Texts in view whose contrast with what is behind them is under 4.5, or 3 where they are large. */
export const contrast = `(() => {
  const parse = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, under) => ({
    r: top.r * top.a + under.r * (1 - top.a),
    g: top.g * top.a + under.g * (1 - top.a),
    b: top.b * top.a + under.b * (1 - top.a),
    a: 1,
  });
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.a > 0) layers.push(color);
      if (color.a === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const found = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '') continue;
    const element = node.parentElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ visibilityProperty: true }) || box.width === 0) continue;
    const isDrawn = element instanceof SVGElement;
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const ground = behind(element);
    const ink = parse(isDrawn ? style.fill : style.color);
    const mixed = over({ ...ink, a: ink.a * opacity }, ground);
    const [light, dark] = [luminance(mixed), luminance(ground)].sort((one, two) => two - one);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    looked++;
    if (ratio < (isLarge ? 3 : 4.5)) found.push(ratio.toFixed(2) + ' ' + node.data.slice(0, 40) + ' in .' + (element.getAttribute('class') ?? ''));
  }
  return { looked, found: [...new Set(found)] };
})()`;

/** What somebody who does not see the page would miss: names, roles that need others, references that lead nowhere. */
export const names = `(() => {
  const found = [];
  const nameOf = (element) => {
    const by = element.getAttribute('aria-labelledby');
    if (by) return by.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
    return (element.getAttribute('aria-label') ?? element.textContent ?? '').trim();
  };
  const seen = (element) => element.checkVisibility();
  const say = (element, what) => found.push(what + ': ' + element.outerHTML.slice(0, 100));
  const controls = 'button, a[href], input, [tabindex="0"], [role=tab], [role=tree], [role=listbox], [role=tabpanel], dialog[open]';
  for (const element of document.querySelectorAll(controls)) if (seen(element) && nameOf(element) === '') say(element, 'no name');
  for (const element of document.querySelectorAll('[role=option], [role=treeitem], [role=listitem]')) {
    if (!seen(element)) continue;
    if (nameOf(element) === '') say(element, 'no name');
    const owner = { option: 'listbox', treeitem: 'tree', listitem: 'list' }[element.getAttribute('role')];
    if (!element.closest('[role=' + owner + ']')) say(element, 'no ' + owner);
    if (!element.hasAttribute('aria-posinset') || !element.hasAttribute('aria-setsize')) say(element, 'no place');
  }
  for (const [attribute] of [['aria-controls'], ['aria-labelledby'], ['aria-activedescendant']]) {
    for (const element of document.querySelectorAll('[' + attribute + ']')) {
      for (const id of element.getAttribute(attribute).split(' ')) if (!document.getElementById(id)) say(element, attribute + ' leads nowhere');
    }
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id).filter((id) => id !== '');
  if (new Set(ids).size !== ids.length) found.push('ids twice: ' + ids.filter((id, at) => ids.indexOf(id) !== at));
  const headings = [...document.querySelectorAll('h1, h2, h3')].filter(seen).map(({ tagName }) => Number(tagName[1]));
  for (const [at, level] of headings.entries()) if (level > (headings[at - 1] ?? 0) + 1) found.push('a heading skips a level: h' + level);
  if (document.documentElement.lang === '') found.push('no language');
  if (document.querySelectorAll('main').length !== 1) found.push('main is not there once');
  return found;
})()`;

/** Controls in view that are smaller than 24 pixels and are no words of a text. */
export const smallTargets = `[...document.querySelectorAll('button, input, [role=tab], [role=option], [role=treeitem]')]
  .filter((element) => element.checkVisibility())
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 22)
  .map(([element, box]) => element.outerHTML.slice(0, 80) + ' ' + box.width + 'x' + box.height)`;

/** Tabs through the page once: what has the focus each time, and whether that is to be seen. */
export const focused = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return undefined;
  const style = getComputedStyle(element);
  return { who: element.id || element.className || element.tagName, isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
})()`;
