import type { V1Pod } from '@kubernetes/client-node';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentUse } from '../../agents/agent.ts';
import { runtimeFault } from '../faults.ts';
import { LineCutter } from '../line-cutter.ts';
import type { RunningProgram, RuntimeEnd } from '../runtime.ts';
import { StampedLines } from '../stamped-lines.ts';
import { statusOf, type Cluster } from './cluster.ts';
import { agentLabel, containerName } from './job-manifest.ts';
import { endOfPod } from './pod-end.ts';
import { readQuantity } from '../../quantities.ts';

type Listener = Parameters<RunningProgram['onLine']>[0];

export interface JobProgramOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly name: string;
  readonly agentId: string;
  /** Lines of before are not told. */
  readonly linesAfterMs: number;
}

const retryMs = 500;
const lastLinesMs = 2_000;

/** An agent as a job of a cluster. */
export class JobProgram implements RunningProgram {
  readonly reference: string;
  readonly ended: Promise<RuntimeEnd>;
  readonly #options: JobProgramOptions;
  readonly #released = new AbortController();
  readonly #listeners: Listener[] = [];
  readonly #lines: StampedLines;
  #pod: V1Pod | undefined;
  #reading: Promise<void> | undefined;
  #isStopping = false;
  #hasEnded = false;

  constructor(options: JobProgramOptions) {
    this.#options = options;
    this.reference = `${options.namespace}/${options.name}`;
    this.#lines = new StampedLines(options.linesAfterMs);
    this.ended = this.#waitForEnd();
  }

  /** A job is told by its secret when it is made. */
  tell(): Promise<void> {
    return Promise.reject(
      runtimeFault('start_failed', 'an agent in a cluster is told who it is when it is made'),
    );
  }

  /** Undefined too where the cluster measures nothing (it has no metrics server). */
  async use(): Promise<AgentUse | undefined> {
    const { cluster, namespace } = this.#options;
    const name = this.#pod?.metadata?.name;
    if (this.#hasEnded || name === undefined) return undefined;
    const { items } = await cluster.metrics.getPodMetrics(namespace).catch(() => ({ items: [] }));
    const usage = items.find(({ metadata }) => metadata.name === name)?.containers[0]?.usage;
    return usage && { cpu: readQuantity(usage.cpu) ?? 0, memory: readQuantity(usage.memory) ?? 0 };
  }

  onLine(listener: Listener): void {
    this.#listeners.push(listener);
    this.#reading ??= this.#readLines();
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    if (!this.#hasEnded) await this.#remove(Math.ceil(graceMs / 1_000));
    await this.ended;
  }

  /** Lets go of the job, which runs on. */
  release(): void {
    this.#released.abort();
  }

  async #waitForEnd(): Promise<RuntimeEnd> {
    for (;;) {
      const end = await this.#look().catch(() => undefined);
      if (this.#released.signal.aborted) return new Promise(() => undefined);
      if (end) return this.#finish(end);
      // The cluster ends each watch after some time.
      await sleep(retryMs);
    }
  }

  /** How it ended, as far as one list and one watch tell. */
  async #look(): Promise<RuntimeEnd | undefined> {
    const { agentId, cluster, name, namespace } = this.#options;
    const labelSelector = `${agentLabel}=${agentId}`;
    const { items, metadata } = await cluster.core.listNamespacedPod({ namespace, labelSelector });
    const [pod] = items;
    const end = pod && this.#see(pod);
    if (end) return end;
    if (!pod && (this.#pod || !(await hasJob(cluster, namespace, name)))) return this.#vanished();
    return this.#watch(labelSelector, metadata?.resourceVersion);
  }

  #watch(labelSelector: string, resourceVersion = ''): Promise<RuntimeEnd | undefined> {
    const { cluster, namespace } = this.#options;
    return new Promise((resolve) => {
      const { signal } = this.#released;
      const see = (phase: string, pod: V1Pod) => {
        const end = phase === 'ERROR' ? undefined : this.#see(pod);
        if (end ?? phase === 'DELETED') settle(end ?? this.#vanished());
      };
      const query = { labelSelector, resourceVersion, timeoutSeconds: 300 };
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
      const opened = cluster.watch.watch(path, query, see, () => settle(undefined));
      const stop = () => settle(undefined);
      const settle = (end: RuntimeEnd | undefined) => {
        signal.removeEventListener('abort', stop);
        void opened.then((request) => request.abort()).catch(() => undefined);
        resolve(end);
      };
      signal.addEventListener('abort', stop, { once: true });
      opened.catch(stop);
    });
  }

  #see(pod: V1Pod): RuntimeEnd | undefined {
    this.#pod = pod;
    return endOfPod(pod);
  }

  #vanished(): RuntimeEnd {
    return { exitCode: null, signal: null, ...(this.#isStopping ? {} : { reason: 'lost' }) };
  }

  async #finish(end: RuntimeEnd): Promise<RuntimeEnd> {
    this.#hasEnded = true;
    // A log that does not end must not hold up what waits for the end.
    await Promise.race([this.#reading, sleep(lastLinesMs, undefined, { ref: false })]);
    this.#released.abort();
    await this.#remove(0).catch(() => undefined);
    return end;
  }

  /** The job first, so that it makes no other pod; its secret goes with it. */
  async #remove(gracePeriodSeconds: number): Promise<void> {
    const { cluster, name, namespace } = this.#options;
    const propagationPolicy = 'Background';
    const pod = this.#pod?.metadata?.name;
    try {
      await cluster.batch
        .deleteNamespacedJob({ name, namespace, propagationPolicy })
        .catch(ignoreGone);
      if (pod === undefined) return;
      await cluster.core
        .deleteNamespacedPod({ name: pod, namespace, gracePeriodSeconds })
        .catch(ignoreGone);
    } catch (error) {
      throw runtimeFault('runtime_unavailable', 'the cluster could not stop the agent', error);
    }
  }

  async #readLines(): Promise<void> {
    while (!this.#released.signal.aborted) {
      const isLast = this.#hasEnded;
      const pod = this.#pod?.metadata?.name;
      if (pod !== undefined) await this.#readLog(pod).catch(() => undefined);
      if (isLast) return;
      await sleep(retryMs);
    }
  }

  async #readLog(pod: string): Promise<void> {
    const { cluster, namespace } = this.#options;
    const cutter = new LineCutter();
    const sink = new PassThrough();
    sink.on('data', (bytes: Buffer) => this.#tellLines(cutter.push(bytes)));
    sink.on('end', () => this.#tellLines(cutter.end()));
    const sinceTime = new Date(this.#lines.begin() * 1_000).toISOString();
    const options = { follow: true, timestamps: true, sinceTime };
    const request = await cluster.log.log(namespace, pod, containerName, sink, options);
    const stop = () => {
      request.abort();
      sink.end();
    };
    this.#released.signal.addEventListener('abort', stop, { once: true });
    await finished(sink).catch(() => undefined);
    this.#released.signal.removeEventListener('abort', stop);
  }

  #tellLines(lines: readonly string[]): void {
    for (const line of lines) {
      const text = this.#lines.take(line);
      if (text === undefined) continue;
      // A cluster keeps both streams as one.
      for (const listener of this.#listeners) listener({ stream: 'stdout', text });
    }
  }
}

async function hasJob(cluster: Cluster, namespace: string, name: string): Promise<boolean> {
  return cluster.batch.readNamespacedJob({ name, namespace }).then(
    () => true,
    (error: unknown) => statusOf(error) !== 404,
  );
}

function ignoreGone(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}
