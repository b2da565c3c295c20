import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectLines, testIdentity, testSpec } from '../testing.ts';
import { jobName } from './job-manifest.ts';
import { KubernetesRuntime, type KubernetesSettings } from './kubernetes-runtime.ts';
import { startRecordedCluster } from './testing.ts';

let folder: string;
let cluster: Awaited<ReturnType<typeof startRecordedCluster>>;
const runtimes: KubernetesRuntime[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'studio-kubernetes-'));
  cluster = await startRecordedCluster();
});

afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function open(given: Partial<KubernetesSettings> = {}, url = cluster.url) {
  const kubeconfig = join(folder, 'kubeconfig');
  const named = {
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(named));
  const runtime = new KubernetesRuntime({
    kubeconfig,
    namespace: 'test',
    image: 'ennead/agent:1',
    hostInside: 'studio.test',
    workspacesRoot: '/srv/workspaces',
    ...given,
  });
  runtimes.push(runtime);
  return runtime;
}

function specWithIdentity() {
  const spec = testSpec({ folder: '/srv/workspaces/wsp_1' });
  return { ...spec, identity: testIdentity(spec.agentId) };
}

const terminated = (state: object) => ({
  phase: 'Failed',
  containerStatuses: [{ state: { terminated: state } }],
});

describe('calls to a cluster, recorded by a small HTTP API (no cluster runs them)', () => {
  test('a job is made without privilege, and its secret belongs to it', async () => {
    const runtime = await open({ volumeClaim: 'workspaces' });
    const spec = specWithIdentity();
    const program = await runtime.start(spec);
    const [job, secret] = cluster.calls.filter(({ method }) => method === 'POST');
    expect(job).toMatchObject({
      path: '/apis/batch/v1/namespaces/test/jobs',
      body: {
        spec: {
          backoffLimit: 0,
          template: {
            spec: {
              restartPolicy: 'Never',
              automountServiceAccountToken: false,
              securityContext: { runAsNonRoot: true },
              containers: [
                {
                  resources: { limits: { cpu: '500m', memory: String(256 * 2 ** 20) } },
                  securityContext: {
                    allowPrivilegeEscalation: false,
                    readOnlyRootFilesystem: true,
                    capabilities: { drop: ['ALL'] },
                  },
                },
              ],
            },
          },
        },
      },
    });
    expect(JSON.stringify(job)).toContain('"subPath":"wsp_1"');
    expect(JSON.stringify(job)).not.toContain(spec.identity.apiKey);
    expect(secret).toMatchObject({
      path: '/api/v1/namespaces/test/secrets',
      body: { metadata: { ownerReferences: [{ kind: 'Job', name: jobName(spec.agentId) }] } },
    });
    const { stringData } = secret!.body as { stringData: { identity: string } };
    expect(JSON.parse(stringData.identity)).toMatchObject({
      apiKey: spec.identity.apiKey,
      folder: '/workspace',
      urls: { mesh: 'http://studio.test:9' },
    });
    expect(program.reference).toBe(`test/${jobName(spec.agentId)}`);
  });

  test('the end is watched for, told with its reason, and the job removed', async () => {
    const spec = specWithIdentity();
    const program = await (await open()).start(spec);
    cluster.logs.push('2026-11-22T08:00:01.000000001Z one\n2026-11-22T08:00:01.000000001Z two\n');
    const lines = collectLines(program);
    await expect.poll(() => cluster.watchers.size).toBe(1);
    cluster.change(jobName(spec.agentId), terminated({ exitCode: 137, reason: 'OOMKilled' }));
    expect(await program.ended).toEqual({ exitCode: 137, signal: null, reason: 'out_of_memory' });
    expect(lines).toEqual(['stdout: one', 'stdout: two']);
    expect(cluster.things.has(`/apis/batch/v1/namespaces/test/jobs/${jobName(spec.agentId)}`)).toBe(
      false,
    );
    expect(await program.use()).toBeUndefined();
  });

  test('an image that is not there is a reason', async () => {
    const spec = specWithIdentity();
    const program = await (await open()).start(spec);
    await expect.poll(() => cluster.watchers.size).toBe(1);
    const state = { waiting: { reason: 'ImagePullBackOff' } };
    cluster.change(jobName(spec.agentId), { phase: 'Pending', containerStatuses: [{ state }] });
    expect(await program.ended).toMatchObject({ reason: 'image_missing' });
  });

  test('a pod that is taken away is lost; one that is stopped is not', async () => {
    const runtime = await open();
    const [lost, stopped] = [specWithIdentity(), specWithIdentity()];
    const first = await runtime.start(lost);
    await expect.poll(() => cluster.watchers.size).toBe(1);
    cluster.removePod(jobName(lost.agentId));
    expect(await first.ended).toMatchObject({ reason: 'lost' });
    const second = await runtime.start(stopped);
    await expect.poll(() => cluster.watchers.size).toBe(1);
    await second.stop(1_500);
    expect(await second.ended).toEqual({ exitCode: null, signal: null });
    const deletion = cluster.calls.findLast(({ path }) => path.includes('/jobs/'));
    expect(deletion?.method).toBe('DELETE');
  });

  test('what runs is found again, what does not is not', async () => {
    const spec = specWithIdentity();
    const first = await open();
    const { reference } = await first.start(spec);
    await first[Symbol.asyncDispose]();
    const runtime = await open();
    const program = await runtime.adopt(reference, spec);
    await expect.poll(() => cluster.watchers.size).toBe(1);
    cluster.change(jobName(spec.agentId), terminated({ exitCode: 0 }));
    expect(await program?.ended).toEqual({ exitCode: 0, signal: null });
    expect(await runtime.adopt(reference, spec)).toBeUndefined();
  });
});

test('what is missing is said: a kubeconfig, a cluster, an address, an identity', async () => {
  const none = await open({ kubeconfig: join(folder, 'absent') });
  expect(await none.missing()).toContain('KUBECONFIG');
  const silent = await open({}, 'http://127.0.0.1:1');
  expect(await silent.missing()).toContain('no Kubernetes cluster answers at http://127.0.0.1:1');
  const unreachable = await open({ hostInside: undefined });
  await expect(unreachable.start(specWithIdentity())).rejects.toThrow('STUDIO_AGENT_HOST');
  await expect(unreachable.start(testSpec())).rejects.toMatchObject({ reason: 'start_failed' });
});
