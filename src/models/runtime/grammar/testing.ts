/** The same language as a regular expression: what is not quoted has no letters but names of rules. */
export function expressionOf(grammar: string): RegExp {
  const named = grammar
    .replaceAll(/\bwhole\b/g, '(?:0|[1-9][0-9]{0,14})')
    .replaceAll(/\binteger\b/g, '(?:-?(?:0|[1-9][0-9]{0,14}))')
    .replaceAll(/\bchar\b/g, '[x]');
  const quoted = named.replaceAll(/"([^"]*)"/g, (_all, text: string) =>
    text.replaceAll('.', String.raw`\.`).replaceAll(/.*/g, '(?:$&)'),
  );
  return new RegExp(`^(?:${quoted.replaceAll(' ', '')})$`);
}
