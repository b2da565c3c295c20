import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DockerOptions } from 'dockerode';

export interface DockerHostSettings {
  /** `unix://PATH`, `tcp://HOST:PORT`, `http://…` or `https://…`. */
  readonly host: string;
  /** A folder with ca.pem, cert.pem and key.pem; `tcp://` then means TLS. */
  readonly certificates?: string | undefined;
}

/** The way to a Docker daemon; rejects when the certificates cannot be read. */
export async function dockerOptions(settings: DockerHostSettings): Promise<DockerOptions> {
  const { certificates, host } = settings;
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) };
  if (host.startsWith('/')) return { socketPath: host };
  const { hostname, port, protocol } = new URL(host);
  if (certificates === undefined) {
    const isSecure = protocol === 'https:';
    return { host: hostname, port: port || 2375, protocol: isSecure ? 'https' : 'http' };
  }
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFile(join(certificates, name), 'utf8')),
  );
  return {
    host: hostname,
    port: port || 2376,
    protocol: 'https',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
