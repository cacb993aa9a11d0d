// SPDX-License-Identifier: Apache-2.0

/** Decompress what the page holds in an element. */
export async function unpacked(id: string): Promise<string> {
  const element = document.getElementById(id);
  const bytes = Uint8Array.from(atob(element?.textContent ?? ''), (character) => character.charCodeAt(0));
  element?.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return await new Response(stream).text();
}
