import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Contract } from '../contract.ts';

const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const start = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#docs', deepLinking: true, persistAuthorization: true,
});`;

/** What every service answers beside its contract, to GET and HEAD. */
export const builtInPaths: readonly string[] = [
  '/openapi.json',
  '/docs',
  '/docs/start.js',
  ...Object.keys(assets).map((name) => `/docs/${name}`),
];

/** Serves a page at `/docs` where people read a service's operations and try them. */
export function serveDocs(app: FastifyInstance, contract: Contract): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.get('/docs', (_request, reply) =>
    reply
      .header(
        'content-security-policy',
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'",
      )
      .type('text/html; charset=utf-8')
      .send(pageOf(contract)),
  );
  app.get('/docs/start.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(start),
  );
  for (const [name, type] of Object.entries(assets)) {
    app.get(`/docs/${name}`, async (_request, reply) => {
      const bytes = await readFile(join(folder, name));
      return reply.type(type).header('cache-control', 'max-age=86400').send(bytes);
    });
  }
}

function pageOf({ title, version }: Contract): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} ${version}</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
}
