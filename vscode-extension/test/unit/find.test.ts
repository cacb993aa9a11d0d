// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAt, nodeById } from '../../src/graph/find.ts';
import { nested } from './models.ts';

const at = (line: number, character: number) => nodeAt(nested(), { line, character })?.id;

test('the innermost node at a place', () => {
  assert.equal(at(14, 5), 'end');
  assert.equal(at(6, 5), 'half');
  assert.equal(at(8, 0), 'if'); // between the branches
  assert.equal(at(12, 0), 'loop');
  assert.equal(at(21, 3), 'scale');
});

test('on a line, the node of that line; elsewhere none', () => {
  assert.equal(at(14, 0), 'end');
  assert.equal(at(14, 99), 'end');
  assert.equal(at(6, 0), 'half'); // although it is inside of `if`
  assert.equal(at(17, 0), undefined);
});

test('nodes by id, in all graphs', () => {
  assert.equal(nodeById(nested(), 'plus')?.op, 'Add');
  assert.equal(nodeById(nested(), 'ghost'), undefined);
});
