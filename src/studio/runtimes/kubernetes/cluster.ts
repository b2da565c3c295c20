import type * as Client from '@kubernetes/client-node';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runtimeFault } from '../faults.ts';

/** The parts of the client that agents need. */
export interface Cluster {
  readonly address: string;
  readonly core: Client.CoreV1Api;
  readonly batch: Client.BatchV1Api;
  readonly version: Client.VersionApi;
  readonly watch: Client.Watch;
  readonly log: Client.Log;
  readonly metrics: Client.Metrics;
}

const ownToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The cluster that a kubeconfig names, else that in which this process runs. The client is loaded by
 * this call. Throws Fault `runtime_unavailable` when there is none.
 */
export async function openCluster(kubeconfig: string | undefined): Promise<Cluster> {
  const file = kubeconfig ?? join(homedir(), '.kube', 'config');
  const hasFile = await isThere(file);
  const isInside = !hasFile && kubeconfig === undefined && (await isThere(ownToken));
  if (!hasFile && !isInside) {
    throw runtimeFault(
      'runtime_unavailable',
      `no kubeconfig ${file}: say in KUBECONFIG where it is, or run the studio in the cluster`,
    );
  }
  const client = await import('@kubernetes/client-node');
  const config = new client.KubeConfig();
  try {
    if (isInside) config.loadFromCluster();
    else config.loadFromFile(file);
  } catch (error) {
    throw runtimeFault('runtime_unavailable', `the kubeconfig ${file} cannot be read`, error);
  }
  const address = config.getCurrentCluster()?.server;
  if (address === undefined) {
    throw runtimeFault('runtime_unavailable', `the kubeconfig ${file} names no current cluster`);
  }
  return {
    address,
    core: config.makeApiClient(client.CoreV1Api),
    batch: config.makeApiClient(client.BatchV1Api),
    version: config.makeApiClient(client.VersionApi),
    watch: new client.Watch(config),
    log: new client.Log(config),
    metrics: new client.Metrics(config),
  };
}

/** The status with which the cluster refused; undefined when it did not answer. */
export function statusOf(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

/** What the cluster says itself, for the operator. */
export function sayingOf(error: unknown): string {
  const { body, message = '' } = (error ?? {}) as { body?: unknown; message?: string };
  const said = messageIn(body) ?? message;
  return said.replaceAll(/\s+/g, ' ').slice(0, 300);
}

function messageIn(body: unknown): string | undefined {
  try {
    const status: unknown = typeof body === 'string' ? JSON.parse(body) : body;
    const { message } = (status ?? {}) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
