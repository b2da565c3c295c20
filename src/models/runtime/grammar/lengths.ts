/** More repetitions in one place llama.cpp does not take. */
const blockMax = 1000;

/**
 * An expression of a text's characters, `least` to `most` of them. Whole blocks come first, so that at most
 * two parses are open at any place.
 */
export function charactersBetween(least: number, most: number | undefined): string {
  const must = [...blocks(least), ''].join(' ');
  return most === undefined ? `${must}char*` : `${must}${charactersUpTo(most - least)}`;
}

function charactersUpTo(most: number): string {
  if (most <= blockMax) return `char{0,${most}}`;
  return `( char{${blockMax}} ${charactersUpTo(most - blockMax)} | char{0,${blockMax - 1}} )`;
}

/** So many characters, neither more nor less. */
function blocks(count: number): string[] {
  const full = Math.floor(count / blockMax);
  const rest = count % blockMax;
  const whole = Array.from({ length: full }, () => `char{${blockMax}}`);
  return rest === 0 ? whole : [...whole, `char{${rest}}`];
}
