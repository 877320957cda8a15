/**
 * Nodes, made one by one: what a run holds is written by strangers, and becomes
 * text or the value of an attribute that is known, never markup.
 */

/** An element of the page, by its id. */
export function need<E extends Element = HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (element === null) throw new TypeError(`the page: expected an element with the id ${id}, found none`);
  return element as unknown as E;
}

/** A new element. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (inside.length > 0) element.append(...inside);
  return element;
}

/** A new element of a drawing. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>> = {},
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Writes a text where it is another one: as a new node, since one that is kept and is now shorter would count as moved. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.replaceChildren(text);
}

/** Writes an attribute where it is another one; takes it away where there is none to be. */
export function setAttribute(element: Element, name: string, value: string | undefined): void {
  if (value === undefined) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Writes the class where it is another one. */
export function setClass(element: Element, name: string): void {
  setAttribute(element, 'class', name);
}

/** A link to an instant, and to an actor at it. */
export function linkTo(text: string, n: number, actor?: string, className = 'link'): HTMLAnchorElement {
  const link = el('a', className, text);
  link.href = hashOf(n, actor);
  return link;
}

/** The address of an instant. */
export function hashOf(n: number | undefined, actor: string | undefined): string {
  const words = new URLSearchParams();
  if (n !== undefined) words.set('n', String(n));
  if (actor !== undefined) words.set('actor', actor);
  return `#${words}`;
}

/** Makes a group of an element, for those who do not see it; one that scrolls takes the keyboard. */
export function group(element: Element, name: string, scrolls = true): void {
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', name);
  if (scrolls) element.setAttribute('tabindex', '0');
}
