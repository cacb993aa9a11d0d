// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GraphDocument, Place, Position, ToView } from '../../src/graph/protocol.ts';
import { type GraphRequest, Session } from '../../src/graph/session.ts';
import { blocks } from './models.ts';

/** A session on the model of two blocks; the source opens what is asked for. */
function start(cursor?: Position) {
  const posted: ToView[] = [];
  const requests: GraphRequest[] = [];
  const place: Place = { path: ['main', 'one', 'inner'], id: 'n2' };
  const state = { moved: 0 };
  const answer = (request: GraphRequest): GraphDocument => {
    const here = request.position === undefined ? null : place;
    const model = blocks([...request.opened, ...(here?.path ?? [])].filter((id) => !request.closed.includes(id)));
    for (const { items } of model.groups) for (const { range } of items) range.start.line += state.moved;
    return { ...model, here };
  };
  const session = new Session({
    source: {
      graph: (request) => { requests.push(structuredClone(request)); return Promise.resolve(answer(request)); },
      place: () => Promise.resolve(place),
      details: (id) => Promise.resolve({ title: id, subtitle: '', text: '', sections: [] }),
      find: (words) => Promise.resolve(words === 'n2' ? [place] : []),
    },
    layout: () => Promise.resolve({ width: 1, height: 1, nodes: [], groups: [], edges: [], omitted: 0 }),
    post: (message) => { posted.push(message); },
    title: () => 'm.onnxtxt',
    mostNodes: () => 100,
    cursor: () => cursor,
  }, { direction: 'down', constants: true });
  const open = () => session.model?.groups.map(({ id }) => id).join(' ');
  const last = <T extends ToView['type']>(type: T) => posted.filter((message): message is Extract<ToView, { type: T }> => message.type === type).at(-1);
  return { session, posted, requests, state, open, last, place };
}

test('it opens around the cursor, and keeps that open', async () => {
  const { session, requests, open, last, place } = start({ line: 2, character: 0 });
  await session.draw();
  assert.deepEqual(requests[0]?.position, { line: 2, character: 0 });
  assert.deepEqual(last('drawing')?.focus, place);
  await session.draw();
  assert.equal(requests[1]?.position, undefined);
  assert.equal(open(), 'main one inner');
});

test('groups open and close, and show where they are', async () => {
  const { session, open, last } = start();
  await session.draw();
  assert.equal(open(), 'main');
  await session.take({ type: 'toggle', id: 'two', open: true });
  assert.equal(open(), 'main two');
  assert.equal(last('drawing')?.focus?.id, 'two');
  await session.take({ type: 'toggle', id: 'two', open: false });
  assert.equal(open(), 'main');
  await session.take({ type: 'show', id: 'n2' });
  assert.equal(open(), 'main one inner');
  assert.deepEqual(last('select')?.place?.id, 'n2');
});

test('what a search selects stays until the cursor moves', async () => {
  const { session, last, place, posted } = start();
  await session.draw();
  const selected = () => posted.filter(({ type }) => type === 'select').length;
  // A question about the cursor, which is answered later than the search.
  const outdated = session.follow({ line: 1, character: 0 });
  await Promise.all([session.take({ type: 'show', id: 'n2' }), outdated]);
  assert.equal(selected(), 1);
  // The types arrive, and the text is drawn again.
  await session.follow({ line: 1, character: 0 }, false);
  assert.equal(selected(), 1);
  await session.follow({ line: 2, character: 0 });
  assert.equal(selected(), 2);
  await session.follow({ line: 2, character: 0 }, false);
  assert.equal(selected(), 3);
  assert.deepEqual(last('select'), { type: 'select', place, scroll: false });
});

test('a change of places alone draws nothing, but ranges are those of the newest text', async () => {
  const { session, posted, state } = start();
  await session.draw();
  const before = posted.length;
  const line = session.rangeOf('x')?.start.line ?? NaN;
  state.moved = 7;
  await session.draw();
  assert.equal(posted.length, before);
  assert.equal(session.rangeOf('x')?.start.line, line + 7);
  await session.take({ type: 'options', options: { direction: 'right', constants: true } });
  assert.equal(posted.filter(({ type }) => type === 'drawing').length, 2);
});

test('details of groups need no request; those of nodes come from the source; a search goes everywhere', async () => {
  const { session, last, place } = start();
  await session.draw();
  await session.take({ type: 'details', id: 'one' });
  assert.deepEqual(last('details')?.details?.sections, [{ title: 'Operators', rows: [{ name: 'Relu', value: '3' }] }]);
  await session.take({ type: 'details', id: 'x' });
  assert.equal(last('details')?.details?.title, 'x');
  await session.take({ type: 'find', words: 'n2' });
  assert.deepEqual(last('found')?.places, [place]);
  await session.take({ type: 'find', words: '' });
  assert.deepEqual(last('found')?.places, []);
});

test('the details that are shown are asked for again with each new text', async () => {
  const { session, posted } = start();
  await session.draw();
  await session.take({ type: 'details', id: 'x' });
  const shown = () => posted.filter((message) => message.type === 'details').map(({ id }) => id);
  await session.draw();
  assert.deepEqual(shown(), ['x', 'x']);
  await session.take({ type: 'details', id: 'one' });
  await session.draw();
  assert.deepEqual(shown(), ['x', 'x', 'one', 'one']);
});

test('what is closed while it is laid out is not shown open', async () => {
  const waiting: (() => void)[] = [];
  const shown: string[] = [];
  let drawn = '';
  const session = new Session({
    source: {
      graph: ({ opened }) => Promise.resolve({ ...blocks(opened), here: null }),
      place: () => Promise.resolve(null), details: () => Promise.resolve(null), find: () => Promise.resolve([]),
    },
    // As a worker: a newer task ends the one before.
    layout: ({ model }) => new Promise((resolve, reject) => {
      const ids = model.groups.map(({ id }) => id).join(' ');
      waiting.shift()?.();
      waiting.push(() => { reject(new Error('superseded')); });
      setTimeout(() => {
        drawn = ids;
        resolve({ width: 1, height: 1, nodes: [], groups: [], edges: [], omitted: 0 });
      }, 5);
    }),
    post: (message) => { if (message.type === 'drawing') shown.push(drawn); },
    title: () => '', mostNodes: () => 100, cursor: () => undefined,
  }, { direction: 'down', constants: true });
  await session.draw();
  assert.deepEqual(shown, ['main']);
  const opening = session.take({ type: 'toggle', id: 'one', open: true }).catch(() => undefined);
  await new Promise((resolve) => { setTimeout(resolve, 1); });
  await session.take({ type: 'toggle', id: 'one', open: false });
  await opening;
  assert.equal(shown.at(-1), 'main');
});
