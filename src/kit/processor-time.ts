/** What this process, with all its threads, has had of the processor since its start, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
