import type { SocketRoute } from '../contract.ts';

/** The parameters that a path names with `:name`. */
export type PathParameters<U extends string> = string extends U
  ? Readonly<Record<string, string>>
  : { readonly [K in ParameterName<U>]: string };

type ParameterName<U extends string> = U extends `${infer Part}/${infer Rest}`
  ? ParameterName<Part> | ParameterName<Rest>
  : U extends `:${infer Name}`
    ? Name
    : never;

/** A route that a path matched. */
export interface SocketMatch {
  readonly name: string;
  readonly route: SocketRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** The route whose `url` the path matches, part by part; none when a part cannot be decoded. */
export function findSocketRoute(
  routes: Readonly<Record<string, SocketRoute>>,
  path: string,
): SocketMatch | undefined {
  for (const [name, route] of Object.entries(routes)) {
    const params = matchPath(route.url, path);
    if (params) return { name, route, params };
  }
  return undefined;
}

function matchPath(url: string, path: string): Record<string, string> | undefined {
  const patterns = url.split('/');
  const parts = path.split('/');
  if (patterns.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, pattern] of patterns.entries()) {
    const part = decodePart(parts[at] ?? '');
    if (pattern.startsWith(':') && part) params[pattern.slice(1)] = part;
    else if (pattern !== part) return undefined;
  }
  return params;
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
