// SPDX-License-Identifier: Apache-2.0

/** Make elements. */

const NAMESPACE = 'http://www.w3.org/2000/svg';

type Attributes = Record<string, string | number>;

export function element<K extends keyof SVGElementTagNameMap>(
  name: K, attributes: Attributes = {}, ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export function html<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Attributes = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}
