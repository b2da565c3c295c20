import type { ProgramIdentity } from './runtime.ts';

/** Where a program in a container finds what lies on this machine. */
export interface ContainerView {
  /** A name that stands for this machine inside; undefined leaves addresses as they are. */
  readonly host: string | undefined;
  /** Where the workspace's folder is inside; undefined when it is not there. */
  readonly folder: string | undefined;
}

/** The identity with addresses and folder as they are inside a container. */
export function tellInside(identity: ProgramIdentity, view: ContainerView): ProgramIdentity {
  const { folder: _outside, urls, ...rest } = identity;
  const seen = (url: string) => insideUrl(url, view.host);
  return {
    ...rest,
    urls: {
      mesh: seen(urls.mesh),
      auth: seen(urls.auth),
      gateway: seen(urls.gateway),
      registry: seen(urls.registry),
      studio: seen(urls.studio),
      tracer: seen(urls.tracer),
    },
    ...(view.folder === undefined ? {} : { folder: view.folder }),
  };
}

/** Whether some address of the suite means the machine that it is asked on. */
export function hasLoopback({ urls }: ProgramIdentity): boolean {
  return Object.values(urls).some((url) => isLoopback(new URL(url).hostname));
}

function insideUrl(url: string, host: string | undefined): string {
  const parsed = new URL(url);
  if (host === undefined || !isLoopback(parsed.hostname)) return url;
  parsed.hostname = host;
  // URL adds a slash that the suite's addresses do not have.
  return url.endsWith('/') ? parsed.href : parsed.href.replace(/\/$/, '');
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0|\[::\])$/.test(hostname);
}
