import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import type { RuntimeSpec } from '../runtime.ts';

/** Where the workspace's folder is inside of every container. */
export const folderInside = '/workspace';

/** By which containers are found again. */
export const agentLabel = 'ennead.agent';

export interface ContainerSettings {
  readonly image: string;
  readonly network: string;
  readonly processesMax: number;
  /** Undefined leaves it to the daemon. */
  readonly filesMax?: number | undefined;
  /** By number, of who owns the folders of workspaces; undefined leaves it to the image. */
  readonly user?: string | undefined;
  /** In place of the image's own program. */
  readonly command?: readonly string[] | undefined;
}

/**
 * The container of an agent: no privilege to gain, nothing to write to but its workspace and a small
 * `/tmp`, and no setting of the suite in its environment.
 */
export function containerSpec(
  spec: RuntimeSpec,
  settings: ContainerSettings,
): ContainerCreateOptions {
  const { agentId, folder, resources } = spec;
  const { command, filesMax, image, network, processesMax, user } = settings;
  return {
    name: `ennead-${agentId}`,
    Image: image,
    Labels: { [agentLabel]: agentId },
    Env: [`ENNEAD_AGENT_ID=${agentId}`, 'HOME=/tmp'],
    ...(user === undefined ? {} : { User: user }),
    ...(command === undefined ? {} : { Entrypoint: [...command] }),
    ...(folder === undefined ? {} : { WorkingDir: folderInside }),
    // The one line on standard input ends with who wrote it; output is read from the log.
    AttachStdin: true,
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    HostConfig: {
      Memory: resources.memory,
      // Memory and swap together: none.
      MemorySwap: resources.memory,
      NanoCpus: Math.round(resources.cpu * 1e9),
      PidsLimit: processesMax,
      ...(filesMax === undefined ? {} : { Ulimits: [openFiles(filesMax)] }),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,nosuid,nodev,size=256m,mode=1777' },
      NetworkMode: network,
      ...(network === 'none' ? {} : { ExtraHosts: ['host.docker.internal:host-gateway'] }),
      RestartPolicy: { Name: 'no' },
      ...(folder === undefined ? {} : { Mounts: mountOf(folder) }),
    },
  };
}

function openFiles(max: number) {
  return { Name: 'nofile', Soft: max, Hard: max };
}

/** Unlike a bind it is refused, not made, when the folder is not there. */
function mountOf(folder: string) {
  const mounts = [{ Type: 'bind', Source: folder, Target: folderInside, ReadOnly: false }];
  // The types of the package know one mount only.
  return mounts as unknown as NonNullable<HostConfig['Mounts']>;
}
