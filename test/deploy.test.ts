import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node';

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

test('the pod of Kubernetes may run where restricted ones alone are admitted', async () => {
  const { pod, container } = await readManifest();
  expect(pod?.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(container?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toContain('/data');
});

test('the variables that Kubernetes makes of a service named ennead are no settings', async () => {
  const { pod } = await readManifest();
  expect(pod?.enableServiceLinks).toBe(false);
});

test('the service of Kubernetes has every port that the image exposes', async () => {
  const { service, container } = await readManifest();
  const dockerfile = await read('deploy/Dockerfile');
  const [, first = 0, last = -1, ...others] =
    /^EXPOSE (\d+)-(\d+) (\d+) (\d+)$/m.exec(dockerfile)?.map(Number) ?? [];
  const exposed = [...Array.from({ length: last - first + 1 }, (_, at) => first + at), ...others];
  expect(exposed).toHaveLength(12);
  expect(service.spec?.ports?.map(({ port }) => port)).toEqual(exposed);
  expect(container?.ports?.map(({ containerPort }) => containerPort)).toEqual(exposed);
});

test('the unit of systemd starts what the image starts, and sets what are settings', async () => {
  const [unit, settings] = await Promise.all([
    read('deploy/ennead.service'),
    read('gen/config.md'),
  ]);
  expect(unit).toContain('node --max-semi-space-size=32 dist/main.js up');
  const [, variables = ''] = /^Environment=(.+)$/m.exec(unit) ?? [];
  const ours = variables.match(/ENNEAD_\w+/g) ?? [];
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
});

async function readManifest() {
  const documents = parseAllDocuments(await read('deploy/kubernetes/ennead.yaml'));
  const [set, service] = documents.map((document) => document.toJS() as unknown);
  const pod = (set as V1StatefulSet).spec?.template.spec;
  return { service: service as V1Service, pod, container: pod?.containers[0] };
}
