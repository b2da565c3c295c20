import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const compose = parse(await read('deploy/compose.yaml')) as {
  readonly services: {
    readonly ennead: { readonly environment: Readonly<Record<string, string>> };
  };
};
const { environment } = compose.services.ennead;

test('what is set in containers is a setting', async () => {
  const [settings, dockerfile] = await Promise.all([
    read('gen/config.md'),
    read('deploy/Dockerfile'),
  ]);
  const names = [...Object.keys(environment), ...(dockerfile.match(/\bENNEAD_\w+(?==)/g) ?? [])];
  const ours = names.filter((name) => name.startsWith('ENNEAD_'));
  expect(ours.length).toBeGreaterThan(2);
  expect(ours.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
});

test('a database password of any characters is taken as it is', () => {
  expect(environment['ENNEAD_DATABASE_URL']).not.toContain('${');
  expect(environment['PGPASSWORD']).toContain('${POSTGRES_PASSWORD');
});

test('the container runs as a user whom Kubernetes sees not to be root, or as any of the group 0', async () => {
  const dockerfile = await read('deploy/Dockerfile');
  expect(dockerfile).toMatch(/^USER [1-9]\d*$/m);
  expect(dockerfile).toMatch(/^RUN mkdir --mode 770 \/data && chown node:root \/data$/m);
});
