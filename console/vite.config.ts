import { defineConfig } from 'vite';

const console = `http://127.0.0.1:${process.env['ENNEAD_PORT_BASE'] ?? 7400}`;

/** `npm start` builds the pages; `npx vite console` serves them while they are worked on. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic' } },
  build: { outDir: '../dist/console/pages', emptyOutDir: true, target: 'es2022' },
  server: {
    proxy: {
      '^/session(?:/refresh)?$': { target: console },
      '^/status\\.json$': { target: console },
      '^/services/': { target: console, ws: true },
    },
  },
});
