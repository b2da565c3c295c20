/**
 * What decides what a question asks: its signs and operators, then in their order numbers, what is
 * quoted, names, identifiers, single letters, and small words that turn a question round. Two questions that differ in
 * any of them are different questions, however alike an embedding finds them.
 */
export function decisiveWords(text: string): string[] {
  const words: string[] = text.match(signs) ?? [];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const word = decide(token, () => isSentenceStart(text, index));
    if (word !== undefined) words.push(word);
  }
  return [...words, ...personsIn(text)];
}

/** Who does it to whom, where a pronoun says so; but not who asks: `how do I`, `tell me`. */
function personsIn(text: string): string[] {
  const found = text.toLowerCase().replaceAll(askers, ' ').match(lettersOnly) ?? [];
  return found.filter((one) => pronouns.has(one));
}

const askers = new RegExp(
  [
    String.raw`\bhow (?:do|does|can|could|would|should) (?:i|you|we|one)\b`,
    String.raw`\b(?:(?:can|could|would|will) you (?:please )?)?(?:tell|show|give|help|teach|explain)(?: me| us)?\b`,
  ].join('|'),
  'g',
);
const lettersOnly = /[\p{L}\p{M}]+/gu;

const pronouns: ReadonlySet<string> = new Set(
  `i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
  we us our ours ourselves they them their theirs themselves
  ich mich mir mein meine meinen du dich dir dein deine deinen er ihn ihm sein seine seinen
  sie ihr ihre ihren wir uns unser unsere ihnen
  je moi mon tu te toi ton il lui elle nous notre vous votre ils elles leur eux
  yo mi ella él tú su nosotros nosotras ellos ellas io lei lui noi voi loro`.split(/\s+/),
);

/** Whether two questions of the same decisive words may ask the same; in doubt they do not. */
export function mayAskTheSame(one: readonly string[], other: readonly string[]): boolean {
  const inOne = new Set(one);
  const inOther = new Set(other);
  const sharedOfOne = one.filter((token) => inOther.has(token));
  const sharedOfOther = other.filter((token) => inOne.has(token));
  if (!areEqual(sharedOfOne, sharedOfOther) || isOneWordSwapped(one, other)) return false;
  return !isNarrower(one, other) && !isNarrower(other, one);
}

/** All words and signs of a question in their order, but for those that say nothing. */
export function orderedWords(text: string): string[] {
  const found = text.toLowerCase().match(wordsAndSigns) ?? [];
  return found.filter((token) => !emptyWords.has(token));
}

const wordsAndSigns = new RegExp(
  String.raw`[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*|[^\p{L}\p{M}\p{N}\s.,;:?'"’‘“”„«»…—\x60]`,
  'gu',
);

const emptyWords: ReadonlySet<string> = new Set(
  'a an the please kindly hi hello hey der die das bitte le la les'.split(' '),
);

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((token, at) => token === other[at]);
}

/** Whether they say the same of something else: one slot differs, by more than the plural. */
function isOneWordSwapped(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  const differing = one.flatMap((token, at) => (token === other[at] ? [] : [at]));
  const [at] = differing;
  if (at === undefined || differing.length > 1) return false;
  const [token = '', there = ''] = [one[at], other[at]];
  if (isPluralOf(token, there) || isPluralOf(there, token)) return false;
  // `How do I` and `how can I` ask the same.
  return !(one[at - 1] === 'how' && askingWords.has(token) && askingWords.has(there));
}

/** Whether the first says all that the second does, and more closely of what: `raw chicken`. */
function isNarrower(one: readonly string[], other: readonly string[]): boolean {
  const [long, short] = [one, other].map((words) => words.filter((word) => !idleWords.has(word)));
  if (!long || !short || long.length <= short.length) return false;
  let shared = 0;
  for (const word of long) if (word === short[shared]) shared += 1;
  return shared === short.length;
}

/** Words that only make a question longer. */
const idleWords: ReadonlySet<string> = new Set(
  `what which how i me us you we one can could would will do does is are may it that there tell show give help
  explain want need know wonder wondering ask question just really actually simply exactly ok okay
  so well also then thanks thank`.split(/\s+/),
);

const askingWords: ReadonlySet<string> = new Set(['do', 'can', 'could', 'would']);

function isPluralOf(long: string, short: string): boolean {
  return long === `${short}s` || long === `${short}es`;
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

/** Signs that change what is computed or meant, also within what reads as one word: `a-b`. */
const signs = /[=<>≤≥≠≈±×÷*/\\^%$€£¥&|~!+−–\-@#()[\]{}]/gu;

const startsQuoted = /^["“„«`'‘]/u;

function decide(token: string, isStart: () => boolean): string | undefined {
  if (startsQuoted.test(token) || !/[\p{L}\p{N}]/u.test(token)) return token;
  if (/[\p{N}_@#:/]|[\p{L}]\.[\p{L}]|.\p{Lu}/u.test(token)) return token;
  const lower = token.toLowerCase();
  if (isVariable(lower) || turningWords.has(lower) || /n['’]t$/u.test(lower)) return lower;
  if (!/^\p{Lu}/u.test(token) || lower === 'i') return undefined;
  return openingWords.has(lower) && isStart() ? undefined : lower;
}

function isVariable(token: string): boolean {
  return /^\p{Script=Latin}[%+#]*$/u.test(token) && token !== 'a' && token !== 'i';
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
  high low highest lowest higher upper with against by through over across toward towards via
  on off onto upon between among during since until till before after earlier later ago
  much little big small large tiny tall wide narrow deep shallow thick thin heavy light
  lose lost losing gain gained win won winning profit loss success failure fail pass
  love hate like dislike accept reject agree disagree approve refuse grant revoke
  safe unsafe dangerous legal illegal possible impossible healthy unhealthy positive negative
  buyer seller lend borrow lender borrower teach learn give take send receive come go
  enter exit leave arrive departure arrival login logout install uninstall upgrade downgrade
  upload download lock unlock connect disconnect attach detach expand collapse show hide
  create destroy read write save load save spend earn hire fire employer employee
  upstream downstream horizontal vertical internal external front back forward backward
  clockwise counterclockwise public private local remote sync async even odd
  increases decreases increased decreased raise raising lowering reduce reduced reduces
  strengthen weaken gained maximise minimise maximize minimize most least
  asc desc lt gt above beneath plus minus times divided multiply subtract divide
  mehr weniger hoch niedrig tief links rechts mit vor nach von zu bis auf ab kaufen verkaufen
  avant après avec plus moins haut bas gauche droite con antes después más menos alto bajo
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
