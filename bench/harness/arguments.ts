/** What `--name=` of the command line says; undefined without it. */
export function valueOf(name: string): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
}
