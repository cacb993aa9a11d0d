// SPDX-License-Identifier: Apache-2.0

/** The elements of the graph view; a page needs only its style sheet and a place for them. */

import { element } from './svg.ts';

const BODY = `
  <header role="toolbar" aria-label="Graph">
    <input id="search" type="search" placeholder="Find a node" aria-label="Find a node" spellcheck="false">
    <span id="matches" aria-live="polite"></span>
    <span id="against"></span>
    <span id="spring"></span>
    <label title="List the constants of each node"><input id="constants" type="checkbox"> Constants</label>
    <button id="direction" title="Turn the drawing" aria-label="Turn the drawing">⤵</button>
    <button id="out" title="Smaller (-)" aria-label="Smaller">−</button>
    <button id="in" title="Larger (+)" aria-label="Larger">+</button>
    <button id="fit" title="Show everything (0)">Fit</button>
    <button id="panel" title="Show the details of the selected node (i)" aria-pressed="true">Details</button>
  </header>
  <main>
    <div id="picture-place"></div>
    <aside id="details" aria-label="Details of the selected node" tabindex="0" hidden></aside>
  </main>
  <p id="notice" role="status" hidden></p>
  <p id="selection" aria-live="polite"></p>`;

const LABEL = 'Graph of the model. Arrow keys follow the edges, space opens and closes a group, backspace closes the group around, Enter goes to the text.';

export interface Page {
  svg: SVGSVGElement;
  search: HTMLInputElement;
  matches: HTMLElement;
  against: HTMLElement;
  constants: HTMLInputElement;
  direction: HTMLButtonElement;
  in: HTMLButtonElement;
  out: HTMLButtonElement;
  fit: HTMLButtonElement;
  panel: HTMLButtonElement;
  details: HTMLElement;
  notice: HTMLElement;
  announced: HTMLElement;
}

/** Fill an element with the graph view. */
export function buildPage(root: HTMLElement): Page {
  root.classList.add('graph-view');
  root.insertAdjacentHTML('afterbegin', BODY);
  const svg = element('svg', { id: 'picture', tabindex: 0, role: 'application', 'aria-label': LABEL });
  find(root, 'picture-place', HTMLElement).replaceWith(svg);
  return {
    svg,
    search: find(root, 'search', HTMLInputElement),
    matches: find(root, 'matches', HTMLElement),
    against: find(root, 'against', HTMLElement),
    constants: find(root, 'constants', HTMLInputElement),
    direction: find(root, 'direction', HTMLButtonElement),
    in: find(root, 'in', HTMLButtonElement),
    out: find(root, 'out', HTMLButtonElement),
    fit: find(root, 'fit', HTMLButtonElement),
    panel: find(root, 'panel', HTMLButtonElement),
    details: find(root, 'details', HTMLElement),
    notice: find(root, 'notice', HTMLElement),
    announced: find(root, 'selection', HTMLElement),
  };
}

function find<T extends Element>(root: HTMLElement, id: string, type: new () => T): T {
  const found = root.querySelector(`#${id}`);
  if (!(found instanceof type)) throw new Error(`the page lacks #${id}`);
  return found;
}
