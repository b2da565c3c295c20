/**
 * The words of a question that decide what it asks, in their order: numbers, what is quoted, names,
 * identifiers, operators, and small words that turn a question round. Two questions that differ in
 * any of them are different questions, however alike an embedding finds them.
 */
export function decisiveWords(text: string): string[] {
  const words: string[] = [];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const word = decide(token, () => isSentenceStart(text, index));
    if (word !== undefined) words.push(word);
  }
  return words;
}

const quoted = [
  '"[^"]*"',
  '“[^”]*”',
  '„[^“”]*[“”]',
  '«[^»]*»',
  '`[^`]*`',
  String.raw`(?<![\p{L}\p{N}])['‘][^'’]+['’](?![\p{L}\p{N}])`,
].join('|');
const number = String.raw`(?<![\p{L}\p{N}])[-+−]\p{N}[\p{L}\p{N}.,:/%]*`;
const word = String.raw`[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_.,:/@#'’-]*[\p{L}\p{M}\p{N}_])?[%+#]*`;
const operator = String.raw`[=<>≤≥≠≈±×÷*/^%$€£¥&|~!+−-]`;
const tokens = new RegExp(`${quoted}|${number}|${word}|${operator}`, 'gu');

const startsQuoted = /^["“„«`'‘]/u;

function decide(token: string, isStart: () => boolean): string | undefined {
  if (startsQuoted.test(token) || !/[\p{L}\p{N}]/u.test(token)) return token;
  if (/[\p{N}_@#:/]|[\p{L}]\.[\p{L}]|.\p{Lu}/u.test(token)) return token;
  const lower = token.toLowerCase();
  if (turningWords.has(lower) || /n['’]t$/u.test(lower)) return lower;
  if (!/^\p{Lu}/u.test(token)) return undefined;
  return openingWords.has(lower) && isStart() ? undefined : lower;
}

function isSentenceStart(text: string, index: number): boolean {
  const before = text.slice(0, index).trimEnd();
  return before === '' || /[.!?:;\n]$/u.test(before);
}

/** Words that a sentence begins with whatever it asks. */
const openingWords: ReadonlySet<string> = new Set(
  `a an and are can could describe did do does explain for give has have hello help hey hi how i in is
  it kindly let list me my of on please show so tell the then there these this to us was we were what
  when where which who whose why will with would you your`.split(/\s+/),
);

/** Words that make another question of the same words: negations, opposites, numbers, units. */
const turningWords: ReadonlySet<string> = new Set(
  `no not none never neither nor nobody nothing nowhere without cannot except excluding unless unlike
  instead but only all any every some few many most least both either
  nicht kein keine keinen keiner keines nie niemals ohne außer weder
  ne pas non sans jamais aucun aucune sauf nunca sin ningún ninguna não nem sem mai senza nessuno
  не нет без никогда 不 没 没有 无 非 ない 않 없
  one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
  thousand million billion first second third fourth fifth last next previous half double twice once
  more less fewer greater smaller bigger larger lower higher above below over under before after
  up down left right north south east west in out on off into from to inside outside
  increase decrease increasing decreasing ascending descending rise fall add remove insert delete
  enable disable enabled disabled allow deny open close start stop begin end push pull
  min max minimum maximum best worst good bad better worse new old newest oldest young
  today yesterday tomorrow now past future male female man woman mother father
  true false yes include includes including encode decode encrypt decrypt compress decompress
  hot cold long short fast slow buy sell import export advantages disadvantages pros cons
  celsius fahrenheit kelvin miles kilometers kilometres km meters metres feet pounds kilograms kg
  dollars euros day week month year hour minute monthly yearly daily weekly`.split(/\s+/),
);
