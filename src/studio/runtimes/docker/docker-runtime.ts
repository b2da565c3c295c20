import type Dockerode from 'dockerode';
import type { Container } from 'dockerode';
import { Availability } from '../availability.ts';
import { runtimeFault } from '../faults.ts';
import type { Runtime, RuntimeLimit, RuntimeSpec } from '../runtime.ts';
import { agentLabel, containerSpec, type ContainerSettings } from './container-spec.ts';
import { isGone, sayingOf } from './docker-errors.ts';
import { dockerOptions, type DockerHostSettings } from './docker-host.ts';
import { DockerProgram } from './docker-program.ts';
import { attachInput } from './standard-input.ts';

export interface DockerSettings extends DockerHostSettings, ContainerSettings {
  readonly filesMax: number;
  /** A name or address that stands for this machine inside of containers. */
  readonly hostInside: string;
}

interface DaemonFacts {
  readonly MemoryLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
}

const answerMs = 10_000;
const actMs = 30_000;

/** Agents as containers of a Docker daemon, or of podman's. */
export class DockerRuntime implements Runtime {
  readonly name = 'docker';
  readonly #settings: DockerSettings;
  readonly #availability = new Availability(() => this.#findMissing());
  readonly #programs = new Set<DockerProgram>();
  #docker: Promise<Dockerode> | undefined;
  #facts: DaemonFacts | undefined;
  #isDocker = true;

  constructor(settings: DockerSettings) {
    this.#settings = settings;
  }

  missing(): Promise<string | undefined> {
    return this.#availability.missing();
  }

  limits(): readonly RuntimeLimit[] {
    const { filesMax, processesMax } = this.#settings;
    const facts = this.#facts;
    const limit = (name: RuntimeLimit['name'], isKept: boolean | undefined, means: string) => {
      if (isKept === true) return { name, isEnforced: true, means };
      const why = facts ? 'the daemon keeps no such limit' : 'the daemon was not reached yet';
      return { name, isEnforced: false, means: why };
    };
    return [
      limit('cpu', facts?.CpuCfsQuota, 'the container'),
      limit('memory', facts?.MemoryLimit, 'the container, without swap'),
      limit('processes', facts?.PidsLimit, `the container: ${processesMax} with threads`),
      limit('files', facts && this.#isDocker, `ulimit -n ${filesMax} of each process`),
    ];
  }

  async start(spec: RuntimeSpec): Promise<DockerProgram> {
    const missing = await this.missing();
    if (missing !== undefined) throw runtimeFault('runtime_unavailable', missing);
    const container = await this.#create(spec);
    try {
      const input = await attachInput(await dockerOptions(this.#settings), container.id);
      await within(container.start());
      const program = this.#keep(container, spec, { input, linesAfterMs: 0 });
      // One that ends at once says so by `ended`.
      if (spec.identity) await program.tell(spec.identity).catch(() => undefined);
      return program;
    } catch (error) {
      await container.remove({ force: true, v: true }).catch(() => undefined);
      this.#availability.forget();
      throw runtimeFault(
        'start_failed',
        `the agent's container did not start: ${sayingOf(error)}`,
        error,
      );
    }
  }

  async adopt(reference: string, spec: RuntimeSpec): Promise<DockerProgram | undefined> {
    const missing = await this.missing();
    if (missing !== undefined) throw runtimeFault('runtime_unavailable', missing);
    const container = await this.#find(reference, spec.agentId);
    if (!container) return undefined;
    const { State: state } = await within(container.inspect());
    if (state.Running) {
      return this.#keep(container, spec, { linesAfterMs: spec.linesAfterMs ?? Date.now() });
    }
    await container.remove({ force: true, v: true }).catch(() => undefined);
    return undefined;
  }

  /** Lets go of the containers, which run on. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) program.release();
    this.#programs.clear();
  }

  #keep(
    container: Container,
    spec: RuntimeSpec,
    from: { readonly input?: NodeJS.ReadWriteStream; readonly linesAfterMs: number },
  ): DockerProgram {
    const program = new DockerProgram({
      container,
      ...from,
      hasFolder: spec.folder !== undefined,
      host: this.#settings.hostInside,
      tellsOutOfMemory: this.#isDocker,
    });
    this.#programs.add(program);
    void program.ended.then(() => this.#programs.delete(program));
    return program;
  }

  async #create(spec: RuntimeSpec): Promise<Container> {
    const docker = await this.#open();
    // With one limit given podman raises the others, which it may not be allowed to.
    const filesMax = this.#isDocker ? this.#settings.filesMax : undefined;
    const options = containerSpec(spec, { ...this.#settings, filesMax });
    try {
      return await within(docker.createContainer(options)).catch(async (error: unknown) => {
        // Of a start that the studio did not live to note. Podman says it with another status.
        const old = isGone(error) ? undefined : await this.#find('', spec.agentId);
        if (!old) throw error;
        await within(old.remove({ force: true, v: true }));
        return within(docker.createContainer(options));
      });
    } catch (error) {
      if (isGone(error)) throw this.#imageMissing(error);
      throw runtimeFault(
        'start_failed',
        `the agent's container could not be made: ${sayingOf(error)}`,
        error,
      );
    }
  }

  async #find(reference: string, agentId: string): Promise<Container | undefined> {
    const docker = await this.#open();
    const filters = { label: [`${agentLabel}=${agentId}`] };
    const listed = await within(docker.listContainers({ all: true, filters }));
    const found = listed.find(({ Id }) => Id === reference) ?? listed[0];
    return found && docker.getContainer(found.Id);
  }

  #imageMissing(cause: unknown) {
    const { image } = this.#settings;
    return runtimeFault(
      'image_missing',
      `the Docker host has no image ${image}: build it with "npm run build && docker build ` +
        `--file docker/agent.Dockerfile --tag ${image} .", or name another in STUDIO_AGENT_IMAGE`,
      cause,
    );
  }

  async #findMissing(): Promise<string | undefined> {
    const { host } = this.#settings;
    try {
      const docker = await this.#open();
      const [facts, version] = await Promise.all([
        within<DaemonFacts>(docker.info(), answerMs),
        within(docker.version(), answerMs),
      ]);
      this.#facts = facts;
      const components = (version as { Components?: { Name: string }[] }).Components ?? [];
      this.#isDocker = !components.some(({ Name }) => Name.toLowerCase().includes('podman'));
      return undefined;
    } catch (error) {
      this.#facts = undefined;
      return `no Docker daemon answers at ${host} (${sayingOf(error)}): start one, or say in DOCKER_HOST where it is`;
    }
  }

  /** The client is loaded when it is first needed. */
  #open(): Promise<Dockerode> {
    this.#docker ??= connect(this.#settings).catch((error: unknown) => {
      this.#docker = undefined;
      throw error;
    });
    return this.#docker;
  }
}

async function connect(settings: DockerHostSettings): Promise<Dockerode> {
  const { default: Client } = await import('dockerode');
  return new Client(await dockerOptions(settings));
}

/** A daemon that hangs must not hang the studio. */
async function within<T>(answer: Promise<T>, limitMs = actMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${limitMs} ms`)), limitMs);
  });
  return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
}
