import { join } from 'node:path';
import type { ConfigOf, Environment } from '../../kit/config.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { RuntimeName } from '../agents/agent.ts';
import { DockerRuntime } from './docker/docker-runtime.ts';
import { KubernetesRuntime } from './kubernetes/kubernetes-runtime.ts';
import { openLocalRuntime, type LocalOptions } from './local/local-runtime.ts';
import type { Runtime } from './runtime.ts';
import type { runtimeSettings } from './settings.ts';

export interface RuntimesOptions {
  readonly config: ConfigOf<typeof runtimeSettings>;
  /** What runs the agent's program on this machine, with options for Node.js before it. */
  readonly command: LocalOptions['command'];
  readonly dataFolder: string;
  readonly workspacesRoot: string;
  /** Of the studio, for the name of the image. */
  readonly version: string;
  readonly environment: Environment;
  readonly log: Log;
}

/** Where agents can run; disposing them lets go of what runs, and ends none of it. */
export interface Runtimes extends AsyncDisposable {
  readonly all: readonly Runtime[];
  get(name: RuntimeName): Runtime;
}

/** Opens all runtimes; the clients of Docker and Kubernetes are loaded when they are first asked. */
export async function openRuntimes(options: RuntimesOptions): Promise<Runtimes> {
  const lifetime = new Lifetime(options.log);
  const local = lifetime.own('the local runtime', await openLocal(options));
  const docker = lifetime.own('the docker runtime', openDocker(options));
  const kubernetes = lifetime.own('the kubernetes runtime', openKubernetes(options));
  const byName = { local, docker, kubernetes };
  return {
    all: Object.values(byName),
    get: (name) => byName[name],
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

function openLocal({ command, config, dataFolder, environment, log }: RuntimesOptions) {
  return openLocalRuntime({
    command,
    folder: join(dataFolder, 'studio', 'agents'),
    log,
    environment,
    processesMax: config.agentProcessesMax,
    filesMax: config.agentFilesMax,
    cgroup: config.agentCgroup,
  });
}

function openDocker({ config, version }: RuntimesOptions): DockerRuntime {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  return new DockerRuntime({
    host: config.dockerHost,
    certificates: config.dockerCertificates,
    image: imageOf(config.agentImage, version),
    network: config.dockerNetwork,
    hostInside: config.agentHost ?? 'host.docker.internal',
    processesMax: config.agentProcessesMax,
    filesMax: config.agentFilesMax,
    // What an agent writes belongs to whom the folder of the workspace belongs.
    user: user === undefined || group === undefined ? undefined : `${user}:${group}`,
  });
}

function openKubernetes({ config, version, workspacesRoot }: RuntimesOptions): KubernetesRuntime {
  return new KubernetesRuntime({
    kubeconfig: config.kubeconfig,
    namespace: config.kubernetesNamespace,
    image: imageOf(config.agentImage, version),
    serviceAccount: config.kubernetesServiceAccount,
    volumeClaim: config.kubernetesVolumeClaim,
    hostInside: config.agentHost,
    workspacesRoot,
  });
}

function imageOf(given: string | undefined, version: string): string {
  return given ?? `ennead/agent:${version}`;
}
