import { defineConfig } from 'vitest/config';

/** Machines of CI are shared: what is slow there is not broken. */
const patience = process.env['CI'] ? 3 : 1;

export default defineConfig({
  test: {
    include: ['{src,console,test}/**/*.test.ts'],
    globalSetup: ['scripts/test-setup.mjs'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000 * patience,
    hookTimeout: 60_000 * patience,
    expect: { poll: { timeout: 20_000 * patience } },
  },
});
