// SPDX-License-Identifier: Apache-2.0

/** Build SVG paths. */

import type { Box } from '../graph/protocol.ts';

const ROUND = 12;

const spell = (value: number) => String(Math.round(value * 10) / 10);

/** A line through points (alternating x and y) with rounded corners. */
export function roundedLine(points: number[]): string {
  const count = points.length / 2;
  if (count < 2) return '';
  const at = (index: number): [number, number] => [points[2 * index] ?? 0, points[2 * index + 1] ?? 0];
  const [firstX, firstY] = at(0);
  let path = `M${spell(firstX)} ${spell(firstY)}`;
  for (let index = 1; index < count - 1; index += 1) {
    const [x, y] = at(index);
    const [fromX, fromY] = towards(at(index), at(index - 1));
    const [toX, toY] = towards(at(index), at(index + 1));
    path += `L${spell(fromX)} ${spell(fromY)}Q${spell(x)} ${spell(y)} ${spell(toX)} ${spell(toY)}`;
  }
  const [lastX, lastY] = at(count - 1);
  return `${path}L${spell(lastX)} ${spell(lastY)}`;
}

/** A point on the segment between two points, at most halfway. */
function towards([x, y]: [number, number], [toX, toY]: [number, number]): [number, number] {
  const length = Math.hypot(toX - x, toY - y);
  const part = length === 0 ? 0 : Math.min(ROUND, length / 2) / length;
  return [x + (toX - x) * part, y + (toY - y) * part];
}

/** The corners of a box. */
export function boxPath({ x, y, width, height }: Box): string {
  return `M${spell(x)} ${spell(y)}h${spell(width)}v${spell(height)}h${spell(-width)}z`;
}

/** The box around a line. */
export function boundsOf(points: number[]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index + 1 < points.length; index += 2) {
    left = Math.min(left, points[index] ?? 0);
    right = Math.max(right, points[index] ?? 0);
    top = Math.min(top, points[index + 1] ?? 0);
    bottom = Math.max(bottom, points[index + 1] ?? 0);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function overlap(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}
