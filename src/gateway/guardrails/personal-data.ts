/** What can be told from its form alone. */
export const personalDataKinds = ['email', 'iban', 'card', 'ipv4', 'phone'] as const;
export type PersonalDataKind = (typeof personalDataKinds)[number];

interface Finder {
  readonly expression: RegExp;
  /** The part of a match that is meant; empty when the form alone misled. */
  readonly confirm: (match: string) => string;
}

/*
 * Every expression takes linear time: what repeats without a bound is followed by a character that it
 * cannot match itself, and begins only where the text before it ends a word.
 */
const finders: Readonly<Record<PersonalDataKind, Finder>> = {
  email: {
    expression:
      /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
    confirm: (match) => match,
  },
  iban: {
    expression: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/giu,
    confirm: confirmIban,
  },
  card: { expression: /(?<!\d)[2-6](?:[ -]?\d){12,18}/g, confirm: confirmCard },
  ipv4: {
    expression:
      /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\.?\d)/g,
    confirm: (match) => match,
  },
  phone: {
    expression:
      /(?<![\p{L}\p{N}+.,-])(?:(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){6,14}|\(?0\d{1,5}\)?(?:[ /-]?\d){5,10}|\(?[2-9]\d{2}\)?[ .-]\d{3}[ .-]\d{4})(?!\d)/gu,
    confirm: confirmPhone,
  },
};

/** The text with everything of this kind replaced by what `replace` answers for it. */
export function replacePersonalData(
  text: string,
  kind: PersonalDataKind,
  replace: (found: string) => string,
): string {
  const { expression, confirm } = finders[kind];
  return text.replaceAll(expression, (match) => {
    const meant = confirm(match);
    return meant === '' ? match : replace(meant) + match.slice(meant.length);
  });
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
function confirmIban(match: string): string {
  const length = ibanLengths.get(match.slice(0, 2).toUpperCase());
  const meant = length === undefined ? '' : startOf(match, length);
  const plain = meant.replaceAll(' ', '').toUpperCase();
  let rest = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? meant : '';
}

/** ISO/IEC 7812: 13 to 19 digits with the check digit of Luhn; the whole, or what a code follows. */
function confirmCard(match: string): string {
  const digits = match.replaceAll(/\D/g, '').length;
  for (const length of [digits, 16, 15]) {
    const meant = length <= digits ? startOf(match, length) : '';
    if (meant !== '' && isLuhn(meant.replaceAll(/\D/g, ''))) return meant;
  }
  return '';
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
function confirmPhone(match: string): string {
  const digits = match.replaceAll(/\D/g, '').length;
  const isDate = /^\d{1,2}([ ./-])\d{1,2}\1\d{4}(?!\d)/.test(match);
  const hasForm = /^(?:\+|00)|[ ()/-]/.test(match);
  return digits >= 7 && digits <= 15 && hasForm && !isDate ? match : '';
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
