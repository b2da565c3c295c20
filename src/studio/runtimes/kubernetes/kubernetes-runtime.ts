import { relative } from 'node:path';
import { Availability } from '../availability.ts';
import { runtimeFault } from '../faults.ts';
import type { ProgramIdentity, Runtime, RuntimeLimit, RuntimeSpec } from '../runtime.ts';
import { hasLoopback, tellInside } from '../told-identity.ts';
import { openCluster, sayingOf, statusOf, type Cluster } from './cluster.ts';
import {
  identitySecret,
  jobFolder,
  jobManifest,
  jobName,
  type JobSettings,
} from './job-manifest.ts';
import { JobProgram } from './job-program.ts';

export interface KubernetesSettings extends JobSettings {
  /** A file; undefined is that of the user, else the cluster in which this process runs. */
  readonly kubeconfig?: string | undefined;
  /** A name or address of this machine for pods; undefined leaves addresses as they are. */
  readonly hostInside?: string | undefined;
  /** The root of all workspaces on this machine, which the volume holds. */
  readonly workspacesRoot: string;
}

const answerMs = 3_000;

/** Agents as jobs of a Kubernetes cluster. */
export class KubernetesRuntime implements Runtime {
  readonly name = 'kubernetes';
  readonly #settings: KubernetesSettings;
  readonly #availability = new Availability(() => this.#findMissing());
  readonly #programs = new Set<JobProgram>();
  #cluster: Promise<Cluster> | undefined;

  constructor(settings: KubernetesSettings) {
    this.#settings = settings;
  }

  missing(): Promise<string | undefined> {
    return this.#availability.missing();
  }

  limits(): readonly RuntimeLimit[] {
    const byNode = 'the node decides (podPidsLimit, the limits of its container runtime)';
    return [
      { name: 'cpu', isEnforced: true, means: 'limits of the container' },
      { name: 'memory', isEnforced: true, means: 'limits of the container' },
      { name: 'processes', isEnforced: false, means: byNode },
      { name: 'files', isEnforced: false, means: byNode },
    ];
  }

  async start(spec: RuntimeSpec): Promise<JobProgram> {
    const { identity } = spec;
    if (!identity) {
      throw runtimeFault('start_failed', 'an agent in a cluster cannot be started ahead of time');
    }
    const missing = await this.missing();
    if (missing !== undefined) throw runtimeFault('runtime_unavailable', missing);
    const inside = this.#tell(identity, spec);
    const cluster = await this.#open();
    try {
      await this.#make(cluster, spec, inside);
    } catch (error) {
      this.#availability.forget();
      const why = `the cluster did not take the agent's job: ${sayingOf(error)}`;
      throw runtimeFault('start_failed', why, error);
    }
    return this.#keep(cluster, jobName(spec.agentId), { spec, linesAfterMs: 0 });
  }

  async adopt(reference: string, spec: RuntimeSpec): Promise<JobProgram | undefined> {
    const missing = await this.missing();
    if (missing !== undefined) throw runtimeFault('runtime_unavailable', missing);
    const cluster = await this.#open();
    const { namespace } = this.#settings;
    const name = jobName(spec.agentId);
    if (reference !== `${namespace}/${name}`) return undefined;
    try {
      const { status } = await cluster.batch.readNamespacedJob({ name, namespace });
      const linesAfterMs = spec.linesAfterMs ?? Date.now();
      const hasEnded = (status?.succeeded ?? 0) + (status?.failed ?? 0) > 0;
      if (!hasEnded) return this.#keep(cluster, name, { spec, linesAfterMs });
      await cluster.batch.deleteNamespacedJob({ name, namespace, propagationPolicy });
      return undefined;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw runtimeFault('runtime_unavailable', 'the cluster does not tell of the agent', error);
    }
  }

  /** Lets go of the jobs, which run on. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) program.release();
    this.#programs.clear();
  }

  /** The job first, as it owns the secret: whatever happens then, one removal takes both. */
  async #make(cluster: Cluster, spec: RuntimeSpec, identity: ProgramIdentity): Promise<void> {
    const { namespace } = this.#settings;
    const name = jobName(spec.agentId);
    const body = jobManifest(spec, this.#settings, this.#subPath(spec));
    const job = await cluster.batch
      .createNamespacedJob({ namespace, body })
      .catch(async (error: unknown) => {
        if (statusOf(error) !== 409) throw error;
        // Of a start that the studio did not live to note.
        const options = { name, namespace, propagationPolicy: 'Foreground' };
        await cluster.batch.deleteNamespacedJob(options);
        await untilGone(() => cluster.batch.readNamespacedJob({ name, namespace }));
        return cluster.batch.createNamespacedJob({ namespace, body });
      });
    try {
      await cluster.core.createNamespacedSecret({ namespace, body: identitySecret(identity, job) });
    } catch (error) {
      const options = { name, namespace, propagationPolicy };
      await cluster.batch.deleteNamespacedJob(options).catch(() => undefined);
      throw error;
    }
  }

  #keep(
    cluster: Cluster,
    name: string,
    { spec, linesAfterMs }: { readonly spec: RuntimeSpec; readonly linesAfterMs: number },
  ): JobProgram {
    const { namespace } = this.#settings;
    const { agentId } = spec;
    const program = new JobProgram({ cluster, namespace, name, agentId, linesAfterMs });
    this.#programs.add(program);
    void program.ended.then(() => this.#programs.delete(program));
    return program;
  }

  #tell(identity: ProgramIdentity, spec: RuntimeSpec): ProgramIdentity {
    const { hostInside } = this.#settings;
    if (hostInside === undefined && hasLoopback(identity)) {
      throw runtimeFault(
        'runtime_unavailable',
        'the suite has loopback addresses, which a pod cannot reach: say in STUDIO_AGENT_HOST what pods reach this machine by',
      );
    }
    const folder = this.#subPath(spec) === undefined ? undefined : jobFolder;
    return tellInside(identity, { host: hostInside, folder });
  }

  /** Without a volume of workspaces the agent has its files over the API alone. */
  #subPath({ folder }: RuntimeSpec): string | undefined {
    const { volumeClaim, workspacesRoot } = this.#settings;
    if (folder === undefined || volumeClaim === undefined) return undefined;
    const path = relative(workspacesRoot, folder);
    return path === '' || path.startsWith('..') ? undefined : path;
  }

  async #findMissing(): Promise<string | undefined> {
    let address = '';
    try {
      const cluster = await this.#open();
      address = cluster.address;
      const limit = { signal: AbortSignal.timeout(answerMs) };
      await Promise.race([cluster.version.getCode(), rejectAfter(limit.signal)]);
      return undefined;
    } catch (error) {
      if (address === '') return error instanceof Error ? error.message : 'no cluster is known';
      return `no Kubernetes cluster answers at ${address}: ${sayingOf(error)}`;
    }
  }

  #open(): Promise<Cluster> {
    this.#cluster ??= openCluster(this.#settings.kubeconfig).catch((error: unknown) => {
      this.#cluster = undefined;
      throw error;
    });
    return this.#cluster;
  }
}

const propagationPolicy = 'Background';
const goneRounds = 60;

function rejectAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer in ${answerMs} ms`)));
  });
}

async function untilGone(read: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < goneRounds; round += 1) {
    const isThere = await read().then(
      () => true,
      (error: unknown) => statusOf(error) !== 404,
    );
    if (!isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
