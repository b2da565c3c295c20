/** The status with which a Docker daemon refused; undefined when it did not answer. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : undefined;
}

/** Whether there is no such container, image or network. */
export function isGone(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** Whether the container is in another state than the call needs. */
export function isStopped(error: unknown): boolean {
  return statusOf(error) === 409;
}

const sentenceLength = 300;

/** What the daemon says itself, for the operator. */
export function sayingOf(error: unknown): string {
  const { json } = (error ?? {}) as { json?: { message?: unknown } | null };
  const own = error instanceof Error ? error.message : '';
  const said = typeof json?.message === 'string' ? json.message : own;
  return said.replaceAll(/\s+/g, ' ').slice(0, sentenceLength);
}
