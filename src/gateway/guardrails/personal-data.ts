/** What can be told from its form alone. */
export const personalDataKinds = ['email', 'iban', 'card', 'ipv4', 'phone'] as const;
export type PersonalDataKind = (typeof personalDataKinds)[number];

interface Finder {
  readonly expression: RegExp;
  /** How much of a match is meant. */
  readonly confirm: (match: string, rest: string) => Verdict;
}

/** So many characters of a match are personal data, or are none that another could begin within. */
interface Verdict {
  readonly isMeant: boolean;
  readonly length: number;
}

/*
 * Every expression takes linear time: what repeats without a bound is followed by a character that it
 * cannot match itself, and begins only where the text before it ends a word.
 */
const phoneForm =
  /(?:(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){6,14}|\(?0\d{1,5}\)?(?:[ /-]?\d){5,10}|\(?[2-9]\d{2}\)?[ .-]\d{3}[ .-]\d{4})(?!\d)/u;
const phoneStart = new RegExp(`^${phoneForm.source}`, 'u');

const finders: Readonly<Record<PersonalDataKind, Finder>> = {
  email: {
    expression:
      /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
    confirm: meantWhole,
  },
  iban: {
    expression: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/giu,
    confirm: confirmIban,
  },
  card: { expression: /(?<!\d)[2-6](?:[ -]?\d){12,18}/g, confirm: confirmCard },
  ipv4: {
    expression:
      /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\.?\d)/g,
    confirm: meantWhole,
  },
  phone: {
    expression: new RegExp(`(?<![\\p{L}\\p{N}+.,-])${phoneForm.source}`, 'gu'),
    confirm: confirmPhone,
  },
};

/** From its first character to behind its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where everything of this kind stands in a text, in order. An expression takes as much as it can, so
 * that one match may hold the start of the next: what is behind the meant part is searched again.
 */
export function findPersonalData(text: string, kind: PersonalDataKind): readonly Span[] {
  const { expression, confirm } = finders[kind];
  const spans: Span[] = [];
  expression.lastIndex = 0;
  for (let found = expression.exec(text); found; found = expression.exec(text)) {
    const [match] = found;
    const { isMeant, length } = confirm(match, text.slice(found.index, found.index + restChars));
    const end = found.index + Math.max(1, length);
    if (isMeant) spans.push({ start: found.index, end });
    expression.lastIndex = end;
  }
  return spans;
}

/** Of a text that is looked at with a match: longer than any two of them. */
const restChars = 256;

function meantWhole({ length }: string): Verdict {
  return { isMeant: true, length };
}

/** Another may begin at the next character. */
const notMeant: Verdict = { isMeant: false, length: 1 };

function verdictOn(meant: string): Verdict {
  return meant === '' ? notMeant : meantWhole(meant);
}

/** Lengths by country, ISO 13616's registry of 2025. */
const ibanLengths = new Map(
  [
    [15, 'NO'],
    [16, 'BE'],
    [18, 'DK FI FK FO GL NL SD'],
    [19, 'MK SI'],
    [20, 'AT BA EE KZ LT LU MN XK'],
    [21, 'CH HR LI LV'],
    [22, 'BG BH CR DE GB GE IE ME RS VA'],
    [23, 'AE GI IL IQ OM SO TL'],
    [24, 'AD CZ ES MD PK RO SA SE SK TN VG'],
    [25, 'LY PT ST'],
    [26, 'IS TR'],
    [27, 'BI DJ FR GR IT MC MR SM'],
    [28, 'AL AZ BY CY DO GT HU LB NI PL SV'],
    [29, 'BR EG PS QA UA'],
    [30, 'JO KW MU YE'],
    [31, 'MT SC'],
    [32, 'LC'],
    [33, 'RU'],
  ].flatMap(([length, countries]) =>
    String(countries)
      .split(' ')
      .map((country) => [country, Number(length)] as const),
  ),
);

/** ISO 13616: as long as its country's are, and 1 modulo 97. */
function confirmIban(match: string): Verdict {
  const length = ibanLengths.get(match.slice(0, 2).toUpperCase());
  const meant = length === undefined ? '' : startOf(match, length);
  const plain = meant.replaceAll(' ', '').toUpperCase();
  let rest = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return verdictOn(rest === 1 ? meant : '');
}

/**
 * ISO/IEC 7812: 13 to 19 digits with the check digit of Luhn. What ends where a group of digits does
 * stands before what a code follows without a gap.
 */
function confirmCard(match: string, rest: string): Verdict {
  const digits = match.replaceAll(/\D/g, '').length;
  const lengths = Array.from({ length: digits - 12 }, (_, less) => digits - less);
  const starts = lengths.map((length) => startOf(match, length));
  const ended = starts.filter((start) => !/\d/.test(rest[start.length] ?? ''));
  const grouped = [...ended.filter(hasOneGap), ...ended.filter((start) => start === match)];
  const glued = /\D/.test(match) ? [] : [16, 15].map((length) => startOf(match, length));
  return verdictOn([...grouped, ...glued].find(isCard) ?? '');
}

/** Whether the groups of digits all stand apart in the same way. */
function hasOneGap(text: string): boolean {
  return new Set(text.match(/\D/g)).size <= 1;
}

function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** As long as telephone numbers are (ITU-T E.164), and no date. */
function confirmPhone(match: string, rest: string): Verdict {
  const date = /^\d{1,2}([ ./-])\d{1,2}\1\d{4}(?!\d)/.exec(match);
  if (date) return { isMeant: false, length: date[0].length };
  for (const { index } of match.matchAll(/\s/g)) {
    if (isPhone(match.slice(0, index)) && reachesBeyond(match, rest, index + 1)) {
      return meantWhole(match.slice(0, index));
    }
  }
  return verdictOn(isPhone(match) ? match : '');
}

function isPhone(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '').length;
  return digits >= 7 && digits <= 15 && /^(?:\+|00)|[ ()/-]/.test(text);
}

/** Whether the next number begins at this place within a match, so that the match cut it in two. */
function reachesBeyond(match: string, rest: string, at: number): boolean {
  const [next] = rest.slice(at).match(phoneStart) ?? [''];
  return isPhone(next) && at + next.length > match.length;
}

/** The start of a text that has so many letters and digits; empty when it has fewer. */
function startOf(text: string, count: number): string {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (/[A-Za-z0-9]/.test(text[at] ?? '')) seen += 1;
    if (seen === count) return text.slice(0, at + 1);
  }
  return '';
}

function isCard(start: string): boolean {
  return start !== '' && isLuhn(start.replaceAll(/\D/g, ''));
}
