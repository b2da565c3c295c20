export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment; the only place that reads it. Light, for programs that must start fast. */
export function processEnvironment(): Environment {
  return process.env;
}
