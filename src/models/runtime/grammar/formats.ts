/** A form of texts that JSON Schema has a name for. */
export interface Format {
  /** The rule of its texts, in their quotation marks. */
  readonly rule: string;
  /** Of the shortest and the longest, in characters. */
  readonly shortest: number;
  readonly longest: number;
}

const uriStartLengthMax = 217;
/** Of a `maxLength` beside the format `uri`: a slash and one character fit then. */
export const uriLengthMin = uriStartLengthMax + 4;

const formats: Readonly<Record<string, Format>> = {
  date: { rule: 'date', shortest: 10, longest: 10 },
  time: { rule: 'time', shortest: 9, longest: 18 },
  'date-time': { rule: 'date-time', shortest: 20, longest: 29 },
  uuid: { rule: 'uuid', shortest: 36, longest: 36 },
  duration: { rule: 'format-duration', shortest: 3, longest: 34 },
  email: { rule: 'format-email', shortest: 6, longest: 246 },
  hostname: { rule: 'format-hostname', shortest: 1, longest: 199 },
  ipv4: { rule: 'format-ipv4', shortest: 7, longest: 15 },
  ipv6: { rule: 'format-ipv6', shortest: 2, longest: 39 },
  uri: { rule: 'format-uri', shortest: 5, longest: Infinity },
};

/** Of the forms that grammars hold. */
export const formatNames: readonly string[] = Object.keys(formats);

/** They say what a text is for, and nothing of its form (OpenAPI, Pydantic). */
const formless: ReadonlySet<unknown> = new Set(['password', 'binary', 'path']);

/** The format that grammars hold; each writes texts of it, though not all that there are. */
export function findFormat(name: unknown): Format | undefined {
  return typeof name === 'string' && Object.hasOwn(formats, name) ? formats[name] : undefined;
}

/** Whether the format is one that any text has. */
export function isFormless(name: unknown): boolean {
  return formless.has(name);
}

/** How many of `uri-char` fit behind the start of a URI of at most so many characters. */
export function uriCharsWithin(most: number): number {
  // One may be an escape of three characters, and before them stands a slash.
  return Math.min(1_000, Math.floor((most - uriStartLengthMax - 1) / 3));
}

/**
 * Patterns of which the format beside them writes only what matches, in fewer characters or where no grammar
 * holds them as they stand: Zod's of 4.x.
 */
const patternsOf: Readonly<Record<string, readonly string[]>> = {
  duration: [
    String.raw`^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$`,
  ],
  email: [
    String.raw`^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
    String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
  ],
  hostname: [
    String.raw`^(?=.{1,253}\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\.?$`,
  ],
  ipv6: [
    String.raw`^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))$`,
  ],
};

/** Whether the format's rule writes nothing that the pattern beside it refuses, for certain. */
export function isPatternOf(name: unknown, pattern: string): boolean {
  if (typeof name !== 'string' || !Object.hasOwn(patternsOf, name)) return false;
  return patternsOf[name]?.includes(pattern) ?? false;
}

/**
 * The rules of the formats that are not primitive. Hosts of a URI never end in a number, which would be an
 * address of its own; labels have no two hyphens in a row, as `xn--` means something.
 */
export const formatRules = String.raw`
format-alnum ::= [0-9A-Za-z]
format-label ::= format-alnum ( "-"? format-alnum ){0,19}
format-hostname ::= "\"" format-label ( "." format-label ){0,4} "\""
format-atext ::= [0-9A-Za-z_+-]
format-local ::= format-atext ( "."? format-atext ){0,31} | format-atext{1,64}
format-email ::= "\"" format-local "@" ( format-label "." ){1,4} [A-Za-z]{2,20} "\""
format-octet ::= [0-9] | [1-9] [0-9] | "1" [0-9]{2} | "2" [0-4] [0-9] | "25" [0-5]
format-address ::= format-octet ( "." format-octet ){3}
format-ipv4 ::= "\"" format-address "\""
format-group ::= hex{1,4}
format-ipv6 ::= "\"" ( ( format-group ":" ){7} format-group | ( format-group ":" ){1,3} ( ":" format-group ){1,4} | "::" ( ( format-group ":" ){0,5} format-group )? ) "\""
format-amount ::= "0" | [1-9] [0-9]{0,3}
format-days ::= format-amount "D"
format-months ::= format-amount "M" format-days?
format-years ::= format-amount "Y" format-months?
format-seconds ::= format-amount "S"
format-minutes ::= format-amount "M" format-seconds?
format-hours ::= format-amount "H" format-minutes?
format-clock ::= "T" ( format-hours | format-minutes | format-seconds )
format-duration ::= "\"P" ( format-amount "W" | ( format-years | format-months | format-days ) format-clock? | format-clock ) "\""
format-host ::= ( format-label "." ){0,4} [A-Za-z] ( "-"? format-alnum ){0,19} | format-address
format-web ::= ( "http" "s"? | "ws" "s"? | "ftp" ) "://" format-host ( ":" [1-9] [0-9]{0,3} )?
format-start ::= format-web | [a-z] [a-z0-9+.-]{0,9} "://" format-host
format-char ::= [0-9A-Za-z._~!$&'()*+,;=:@/?-] | "%" hex hex
format-uri ::= "\"" format-start ( "/" format-char* )? ( "#" format-char* )? "\""
`.trim();
