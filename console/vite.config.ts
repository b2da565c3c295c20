import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const console = `http://127.0.0.1:${process.env['ENNEAD_PORT_BASE'] ?? 7400}`;

const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Lays each built text beside itself as browsers take it: Brotli, or gzip where the address is no safe one. */
const compressed: Plugin = {
  name: 'compressed',
  writeBundle: async ({ dir = '' }, bundle) => {
    const paths = Object.keys(bundle).map((name) => join(dir, name));
    await Promise.all(
      paths.map(async (path) => {
        const text = await readFile(path);
        await writeFile(`${path}.br`, await promisify(brotliCompress)(text, brotli));
        await writeFile(`${path}.gz`, await promisify(gzip)(text));
      }),
    );
  },
};

/** `npm start` builds the pages; `npx vite console` serves them while they are worked on. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic' } },
  plugins: [compressed],
  build: { outDir: '../dist/console/pages', emptyOutDir: true, target: 'es2022' },
  server: {
    proxy: {
      '^/session(?:/refresh)?$': { target: console },
      '^/status\\.json$': { target: console },
      '^/services/': { target: console, ws: true },
    },
  },
});
