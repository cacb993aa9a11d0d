// SPDX-License-Identifier: Apache-2.0

/** The viewport of the drawing: pan and zoom by mouse, wheel, touch and keys. */

import type { Box } from '../graph/protocol.ts';

export interface View {
  x: number;
  y: number;
  scale: number;
}

const SMALLEST = 0.005;
const LARGEST = 4;

/** A view of the whole drawing, or of its beginning if that would be unreadably small. */
export function fitting(drawing: { width: number; height: number }, width: number, height: number, least = SMALLEST): View {
  const margin = 24;
  const whole = Math.min((width - margin) / Math.max(1, drawing.width), (height - margin) / Math.max(1, drawing.height), 1.25);
  const scale = Math.max(whole, least);
  const place = (extent: number, size: number) => (extent * scale > size - margin ? margin / 2 : (size - extent * scale) / 2);
  return { x: drawing.width * scale > width ? (width - drawing.width * scale) / 2 : place(drawing.width, width), y: place(drawing.height, height), scale };
}

/** A view with a box in its middle, which fits if that needs no scale below `least`. */
export function centered(box: Box, width: number, height: number, most: number, least = SMALLEST): View {
  const margin = 40;
  const scale = Math.max(least, Math.min((width - margin) / Math.max(1, box.width), (height - margin) / Math.max(1, box.height), most));
  return { x: width / 2 - (box.x + box.width / 2) * scale, y: height / 2 - (box.y + box.height / 2) * scale, scale };
}

/** Scale the view around a place on the screen. */
export function zoomed({ x, y, scale }: View, factor: number, atX: number, atY: number): View {
  const next = Math.min(LARGEST, Math.max(SMALLEST, scale * factor));
  const ratio = next / scale;
  return { x: atX - (atX - x) * ratio, y: atY - (atY - y) * ratio, scale: next };
}

/** Center the view on a box if the box is not visible. */
export function showing(view: View, box: Box, width: number, height: number): View {
  const left = box.x * view.scale + view.x;
  const top = box.y * view.scale + view.y;
  const bottom = top + Math.min(box.height, 60) * view.scale;
  const margin = 12;
  const inSight = left >= margin && top >= margin && left + box.width * view.scale <= width - margin && bottom <= height - margin;
  if (inSight) return view;
  return {
    ...view,
    x: width / 2 - (box.x + box.width / 2) * view.scale,
    y: height / 2 - (box.y + Math.min(box.height, 60) / 2) * view.scale,
  };
}

/** Pan and zoom by pointer and wheel. */
export function handle(target: SVGSVGElement, get: () => View, set: (view: View) => void): void {
  let grabbed: { x: number; y: number; view: View } | undefined;
  target.addEventListener('pointerdown', (event) => {
    if (event.button === 0 || event.button === 1) grabbed = { x: event.clientX, y: event.clientY, view: get() };
  });
  target.addEventListener('pointermove', (event) => {
    if (!grabbed) return;
    const [right, down] = [event.clientX - grabbed.x, event.clientY - grabbed.y];
    if (!target.hasPointerCapture(event.pointerId) && Math.hypot(right, down) < 4) return;
    // Not earlier: a captured pointer cannot click on other elements.
    target.setPointerCapture(event.pointerId);
    target.classList.add('moving');
    set({ ...grabbed.view, x: grabbed.view.x + right, y: grabbed.view.y + down });
  });
  const release = () => {
    grabbed = undefined;
    target.classList.remove('moving');
  };
  target.addEventListener('pointerup', release);
  target.addEventListener('pointercancel', release);
  target.addEventListener('wheel', (event) => {
    event.preventDefault();
    const view = get();
    if (event.shiftKey) set({ ...view, x: view.x - event.deltaY - event.deltaX });
    else {
      const box = target.getBoundingClientRect();
      const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const factor = Math.exp(-Math.max(-200, Math.min(200, event.deltaY * step)) * 0.002);
      set(zoomed(view, factor, event.clientX - box.left, event.clientY - box.top));
    }
  }, { passive: false });
}
