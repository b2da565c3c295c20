import { execFile, spawn } from 'node:child_process';
import { access, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Lifetime } from '../../../kit/lifecycle.ts';
import { silentLog } from '../../../kit/testing.ts';

const run = promisify(execFile);
const busybox = '/bin/busybox';

/** An image with a shell and small programs, in the daemon of `startPodman`. */
export const testImage = 'localhost/ennead/agent-test:1';

/** Why the Docker API cannot be tested on this machine; undefined when it can. */
export async function explainNoPodman(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'podman is tested as root';
  for (const command of ['podman', 'runc']) {
    const path = await run('which', [command]).catch(() => undefined);
    if (!path) return `${command} is not installed`;
  }
  const isThere = await access(busybox).then(
    () => true,
    () => false,
  );
  return isThere ? explainFailure() : 'busybox-static is not installed';
}

/** Where control groups or mounts are not allowed, no container starts. */
async function explainFailure(): Promise<string | undefined> {
  try {
    await using started = await startPodman();
    await started.podman('run', '--rm', '--network', 'none', testImage, 'true');
    return undefined;
  } catch (error) {
    return `no container starts here: ${String(error).slice(0, 200)}`;
  }
}

/** A podman of its own that answers the Docker API, with images and containers in its own folder. */
export async function startPodman() {
  const lifetime = new Lifetime(silentLog);
  const folder = await mkdtemp(join(tmpdir(), 'studio-podman-'));
  lifetime.defer('the folder', () => rm(folder, { recursive: true, force: true }));
  const env = await configure(folder);
  lifetime.defer('the mount', async () => {
    await run('umount', ['-l', join(folder, 'graph', 'overlay')]).catch(() => undefined);
  });
  await importImage(folder, env);
  lifetime.defer('the containers', async () => {
    await run('podman', ['rm', '--all', '--force', '--time', '0'], { env });
  });
  const socket = join(folder, 'podman.sock');
  const service = spawn('podman', ['system', 'service', '--time', '0', `unix://${socket}`], {
    env,
    stdio: 'ignore',
  });
  lifetime.defer('the daemon', async () => {
    const ended = new Promise((resolve) => service.once('exit', resolve));
    if (service.kill('SIGTERM')) await ended;
  });
  await untilThere(socket);
  return {
    host: `unix://${socket}`,
    folder,
    podman: async (...parameters: string[]) => (await run('podman', parameters, { env })).stdout,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** runc and plain control groups, as not every machine has systemd; limits that every root may set. */
async function configure(folder: string): Promise<NodeJS.ProcessEnv> {
  const containers = join(folder, 'containers.conf');
  const storage = join(folder, 'storage.conf');
  await writeFile(
    containers,
    `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
  );
  await writeFile(
    storage,
    `[storage]
driver = "overlay"
graphroot = "${join(folder, 'graph')}"
runroot = "${join(folder, 'run')}"
`,
  );
  const files = { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage };
  return { ...process.env, ...files };
}

async function importImage(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const root = join(folder, 'root');
  for (const name of ['bin', 'tmp', 'workspace']) {
    await mkdir(join(root, name), { recursive: true });
  }
  await copyFile(busybox, join(root, 'bin', 'busybox'));
  const programs = [
    'true',
    'sh',
    'sleep',
    'cat',
    'dd',
    'tail',
    'echo',
    'yes',
    'id',
    'touch',
    'env',
  ];
  for (const name of programs) await symlink('busybox', join(root, 'bin', name));
  const archive = join(folder, 'image.tar');
  await run('tar', ['-C', root, '-cf', archive, '.']);
  await run('podman', ['import', archive, testImage], { env });
}

async function untilThere(path: string): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await sleep(100);
  }
  throw new Error('podman did not begin to answer');
}
