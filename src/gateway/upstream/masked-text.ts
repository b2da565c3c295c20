const charsMax = 500;

/** Words that providers quote a key after, and the shapes that keys and account names have. */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/((?:api[ _-]?key|token|key)(?: provided)?\s*[:=]\s*)['"`]?[^\s'"`,;)}\]]{6,}/gi, '$1[hidden]'],
  [/\bBearer\s+[^\s'"`,;)}\]]{6,}/gi, 'Bearer [hidden]'],
  [
    /\b(?:sk|pk|rk|gsk|xai|nvapi|pplx|csk|fw|r8|hf|tgp|key|ak|org|proj|acct)[-_][\w*.-]*[\w*]/gi,
    '[hidden]',
  ],
  [/\bAIza[\w-]{10,}/g, '[hidden]'],
  [/\b(?=\w*\d)(?=\w*[a-zA-Z])\w{28,}\b/g, '[hidden]'],
  [/[\w-]*\*{3,}[\w-]*/g, '[hidden]'],
];

/**
 * A provider's words as a caller may read them: keys, and the names of the operator's account, are
 * hidden; white space is folded, and at most 500 characters are kept.
 */
export function maskText(text: string): string {
  let masked = text.slice(0, 4 * charsMax);
  for (const [pattern, hidden] of secrets) masked = masked.replace(pattern, hidden);
  masked = masked.replaceAll(/\s+/g, ' ').trim();
  return masked.length > charsMax ? `${masked.slice(0, charsMax - 1)}…` : masked;
}
