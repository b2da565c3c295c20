/** A command as one would type it: words with blanks or signs of the shell stand in quotes. */
export function commandLine({
  command = '',
  args = [],
}: {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
}): string {
  return [command, ...args].map(quote).join(' ');
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
