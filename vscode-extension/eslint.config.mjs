// SPDX-License-Identifier: Apache-2.0
import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'bundled', 'node_modules', 'test/out', 'test/host/**/*.cjs'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: ['tsconfig.json', 'src/webview/tsconfig.json', 'src/viewer/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // Numbers in paths of SVG, and in messages.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `test(…)` of Node returns a promise that nobody has to await.
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', name: ['test'], package: 'node:test' }] }],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', fetch: 'readonly', performance: 'readonly', Buffer: 'readonly', require: 'readonly', exports: 'writable', document: 'readonly', getComputedStyle: 'readonly', window: 'readonly', WheelEvent: 'readonly', requestAnimationFrame: 'readonly' } },
  },
);
